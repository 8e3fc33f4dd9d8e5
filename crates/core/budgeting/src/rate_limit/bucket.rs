//! A bucket that holds a minute of its limit. All counts in sixty-thousandths.

use super::{Asker, LARGEST, MINUTE};

/// Parts of a limit in a slice.
const SLICES: u64 = 20;
/// Parts of a limit of which one is kept for each step of priority, and one is the lower priorities' own.
const SHARES: u64 = 10;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bucket {
    used: u64,
    /// What lower priorities used of their own share, which fills by itself.
    low: u64,
    /// What somebody of a lower priority was refused.
    claim: u64,
}

/// The limit, not above what is counted exactly.
fn bounded(limit: u64) -> u64 {
    limit.min(LARGEST)
}

/// The share of lower priorities.
fn share(limit: u64) -> u64 {
    limit.div_ceil(SHARES)
}

impl Bucket {
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    pub(super) fn is_full(&self) -> bool {
        self.used == 0 && self.low == 0
    }

    /// So many milliseconds pass. What was used above a limit that is lower now is forgotten.
    pub(super) fn fill(&mut self, limit: u64, milliseconds: u64) {
        let limit = bounded(limit);
        let whole = limit * MINUTE;
        self.used = self.used.min(whole).saturating_sub(limit.saturating_mul(milliseconds));
        self.low = self.low.min(whole).saturating_sub(share(limit).saturating_mul(milliseconds));
    }

    pub(super) fn remaining(&self, limit: u64) -> u64 {
        (bounded(limit) * MINUTE - self.used) / MINUTE
    }

    /// At least `need`, or how many milliseconds to wait for it. The need is at most the limit.
    pub(super) fn offer(&self, limit: u64, need: u64, asker: Asker) -> Result<u64, u64> {
        if limit == 0 {
            return Ok(0);
        }
        let limit = bounded(limit);
        let (whole, needed) = (limit * MINUTE, need * MINUTE);
        let free = whole - self.used;
        // A need that leaves no room for the reserve passes when the bucket is full.
        let reserve = self.reserve(limit, asker).min(whole - needed);
        let plenty = (free.saturating_sub(reserve) / MINUTE / (2 * asker.replicas)).min(limit / SLICES);
        let own = asker.steps > 0 && free >= needed && self.has_share(limit, needed);
        if need == 0 || free >= needed + reserve || own {
            return Ok(need.max(plenty));
        }
        let wait = |needed: u64| needed.saturating_sub(free).div_ceil(limit);
        let ordinary = wait(needed + reserve);
        if asker.steps == 0 {
            return Err(ordinary);
        }
        Err(ordinary.min(wait(needed).max(self.wait_for_share(limit, needed))))
    }

    /// What others have a better right to.
    fn reserve(&self, limit: u64, asker: Asker) -> u64 {
        if asker.steps > 0 {
            limit / SHARES * u64::from(asker.steps) * MINUTE
        } else if asker.claims && self.has_share(limit, self.claim) {
            self.claim
        } else {
            0
        }
    }

    /// Whether lower priorities may take so much of what is theirs. Once a whole share is there, more than that may be
    /// taken in advance.
    fn has_share(&self, limit: u64, needed: u64) -> bool {
        self.wait_for_share(limit, needed) == 0
    }

    fn wait_for_share(&self, limit: u64, needed: u64) -> u64 {
        let most = needed.max(share(limit) * MINUTE);
        (self.low + needed).saturating_sub(most).div_ceil(share(limit))
    }

    pub(super) fn take(&mut self, limit: u64, need: u64, given: u64, low: bool) {
        if limit == 0 {
            return;
        }
        self.used += given * MINUTE;
        if low {
            let most = (need * MINUTE).max(share(bounded(limit)) * MINUTE);
            self.low = (self.low + given * MINUTE).min(most);
            self.claim = 0;
        }
    }

    /// Remembers what somebody of a lower priority waits for, if it is for this.
    pub(super) fn claim(&mut self, limit: u64, need: u64, asker: Asker) {
        let refused = self.offer(limit, need, asker).is_err();
        self.claim = if refused { need * MINUTE } else { 0 };
    }

    /// Takes back what can come back.
    pub(super) fn give_back(&mut self, returnable: &mut u64, unused: u64, low: bool) {
        let back = unused.saturating_mul(MINUTE).min(*returnable);
        *returnable -= back;
        self.used = self.used.saturating_sub(back);
        if low {
            self.low = self.low.saturating_sub(back);
        }
    }
}
