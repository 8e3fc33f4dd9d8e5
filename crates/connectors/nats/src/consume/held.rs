//! What was received and not acknowledged.

use async_nats::Subject;
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Where to acknowledge each message.
#[derive(Debug, Default)]
pub(super) struct Held(HashMap<u64, (Subject, Instant)>);

impl Held {
    pub(super) fn insert(&mut self, sequence: u64, reply: Subject) {
        self.0.insert(sequence, (reply, Instant::now()));
    }

    pub(super) fn reply(&self, sequence: u64) -> Option<Subject> {
        self.0.get(&sequence).map(|(reply, _)| reply.clone())
    }

    pub(super) fn touch(&mut self, sequences: &[u64]) {
        let now = Instant::now();
        for sequence in sequences {
            if let Some((_, since)) = self.0.get_mut(sequence) {
                *since = now;
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
        self.0.retain(|_, (_, since)| since.elapsed() < age);
    }
}
