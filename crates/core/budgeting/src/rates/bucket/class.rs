//! Wishes of one priority.

use super::ACTIVE;
use std::time::Instant;

/// Of so many parts that flow in, lower priorities have one to themselves.
pub(super) const GUARANTEED: u128 = 10;

#[derive(Debug, Clone)]
pub(super) struct Class {
    pub(super) wished_at: Instant,
    /// What is saved up for it.
    pub(super) saved: u128,
}

impl Class {
    pub(super) fn new(now: Instant) -> Self {
        Self { wished_at: now, saved: 0 }
    }

    pub(super) fn is_active(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.wished_at) < ACTIVE
    }

    /// Takes up to so much of what is saved; how much it was.
    pub(super) fn take(&mut self, amount: u128) -> u128 {
        let taken = self.saved.min(amount);
        self.saved -= taken;
        taken
    }
}
