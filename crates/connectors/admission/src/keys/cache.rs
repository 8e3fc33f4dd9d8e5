//! What is known of keys. Bounded: whoever invents keys fills nothing up.

use super::presented::Digest;
use signalbox_ports::Identity;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::Instant;

/// Most keys that are remembered.
const MOST: usize = 65_536;
/// Most wrong keys that are remembered.
const MOST_WRONG: usize = 16_384;
/// How long a wrong key is known to be wrong.
const WRONG_FOR: Duration = Duration::from_secs(2);

/// Keys and whose they are.
#[derive(Debug, Default)]
pub(super) struct Cache {
    known: HashMap<String, Known>,
    wrong: HashMap<Digest, Instant>,
    /// Counts what was heard of changes: an answer that was asked for before one is not kept.
    heard: u64,
}

/// A key that was looked up.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) digest: Digest,
    pub(super) identity: Arc<Identity>,
    /// When it ends by itself.
    pub(super) expires_at: Option<SystemTime>,
    /// Until when it need not be looked up again.
    pub(super) fresh_until: Instant,
    /// Nothing is heard of changes any more since then.
    pub(super) unheard_since: Option<Instant>,
}

/// What is known of a presented key.
#[derive(Debug)]
pub(super) enum Found {
    /// It is in order.
    Known(Arc<Identity>),
    /// It was in order: good where nobody can be asked.
    Stale(Arc<Identity>),
    /// It is not in order.
    Wrong,
    /// Nothing.
    Unknown,
}

impl Cache {
    pub(super) fn find(
        &self,
        key_id: &str,
        digest: &Digest,
        now: (Instant, SystemTime),
        grace: Duration,
    ) -> Found {
        let (instant, wall) = now;
        match self.known.get(key_id) {
            Some(known) if known.digest.is(digest) => {
                if known.expires_at.is_some_and(|end| end <= wall) {
                    Found::Wrong
                } else if known.unheard_since.is_none() && instant < known.fresh_until {
                    Found::Known(known.identity.clone())
                } else if known.stale_for(instant) < grace {
                    Found::Stale(known.identity.clone())
                } else {
                    Found::Unknown
                }
            }
            _ if self.wrong.get(digest).is_some_and(|until| instant < *until) => Found::Wrong,
            _ => Found::Unknown,
        }
    }

    /// What to hand to [`Cache::keep`] with an answer that is asked for now.
    pub(super) fn heard(&self) -> u64 {
        self.heard
    }

    /// A key is in order, says an answer that was asked for at `heard`.
    pub(super) fn keep(&mut self, key_id: &str, known: Known, heard: u64, now: Instant) {
        if heard != self.heard {
            return;
        }
        if self.known.len() >= MOST {
            self.known.retain(|_, known| now < known.fresh_until);
            if self.known.len() >= MOST {
                self.known.clear();
            }
        }
        self.known.insert(key_id.to_owned(), known);
    }

    /// A key is not in order.
    pub(super) fn keep_wrong(&mut self, key_id: &str, digest: Digest, now: Instant) {
        // Another secret with the same id says nothing of the right one.
        if self.known.get(key_id).is_some_and(|known| known.digest.is(&digest)) {
            self.known.remove(key_id);
        }
        if self.wrong.len() >= MOST_WRONG {
            self.wrong.retain(|_, until| now < *until);
            if self.wrong.len() >= MOST_WRONG {
                self.wrong.clear();
            }
        }
        self.wrong.insert(digest, now + WRONG_FOR);
    }

    /// A key has changed.
    pub(super) fn forget(&mut self, key_id: &str) {
        self.heard += 1;
        self.known.remove(key_id);
    }

    /// Changes are not heard of any more: nothing here is used while somebody can be asked.
    pub(super) fn unheard(&mut self, now: Instant) {
        self.heard += 1;
        self.wrong.clear();
        for known in self.known.values_mut() {
            known.unheard_since.get_or_insert(now);
        }
    }
}

impl Known {
    /// How long nothing vouches for it.
    fn stale_for(&self, now: Instant) -> Duration {
        let since = self.unheard_since.map_or(self.fresh_until, |since| since.min(self.fresh_until));
        now.saturating_duration_since(since)
    }
}
