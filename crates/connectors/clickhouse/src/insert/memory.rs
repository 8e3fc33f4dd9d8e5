//! What a process knows of the batches it has inserted.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Tokens that are kept of each sort. Those in doubt are few: a service retries the batch in hand. Of the whole ones it
/// only costs time to forget some.
const MOST: usize = 10_000;

/// What is known of tokens.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Of batches of which nobody knows whether they are stored: all their events are suspects next time.
    doubtful: Mutex<HashSet<String>>,
    /// Of batches that are stored, in the sums as well.
    whole: Mutex<HashSet<String>>,
}

impl Memory {
    /// A try begins. Whether there was one before that may have stored the batch.
    pub(super) fn begin(&self, token: &str) -> bool {
        !add(&self.doubtful, token)
    }

    /// It is stored, in the sums as well.
    pub(super) fn stored(&self, token: &str) {
        lock(&self.doubtful).remove(token);
        add(&self.whole, token);
    }

    pub(super) fn is_whole(&self, token: &str) -> bool {
        lock(&self.whole).contains(token)
    }
}

/// Whether it was not there.
fn add(tokens: &Mutex<HashSet<String>>, token: &str) -> bool {
    let mut tokens = lock(tokens);
    if tokens.len() >= MOST {
        tokens.clear();
    }
    tokens.insert(token.to_owned())
}

fn lock(tokens: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    tokens.lock().unwrap_or_else(PoisonError::into_inner)
}
