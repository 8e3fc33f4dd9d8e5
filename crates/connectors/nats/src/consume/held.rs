//! What was received and not acknowledged.

use async_nats::Subject;
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Where to acknowledge each message.
#[derive(Debug, Default)]
pub(super) struct Held(HashMap<u64, Message>);

#[derive(Debug)]
struct Message {
    reply: Subject,
    /// Number of the epoch it was received in.
    epoch: u64,
    since: Instant,
}

impl Held {
    pub(super) fn insert(&mut self, sequence: u64, reply: Subject, epoch: u64) {
        self.0.insert(sequence, Message { reply, epoch, since: Instant::now() });
    }

    pub(super) fn replies(&self, sequences: &[u64]) -> Vec<Subject> {
        let held = sequences.iter().filter_map(|sequence| self.0.get(sequence));
        held.map(|message| message.reply.clone()).collect()
    }

    /// Those of them that are here and of this epoch.
    pub(super) fn of(&self, sequences: &[u64], epoch: u64) -> Vec<u64> {
        let is_of = |sequence: &u64| self.0.get(sequence).is_some_and(|message| message.epoch == epoch);
        sequences.iter().copied().filter(is_of).collect()
    }

    pub(super) fn touch(&mut self, sequences: &[u64]) {
        let now = Instant::now();
        for sequence in sequences {
            if let Some(message) = self.0.get_mut(sequence) {
                message.since = now;
            }
        }
    }

    pub(super) fn remove(&mut self, sequences: &[u64]) {
        for sequence in sequences {
            self.0.remove(sequence);
        }
    }

    /// Those are another ingester's by now.
    pub(super) fn forget_older_than(&mut self, age: Duration) {
        self.0.retain(|_, message| message.since.elapsed() < age);
    }
}
