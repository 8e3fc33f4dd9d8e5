//! Requests under way at once.

use super::{Asker, slices::Held};

/// Parts of a limit that a slice gets beside what it needs, and of which one is kept for each step of priority.
const SLICES: u32 = 20;
const SHARES: u32 = 10;
/// A permit may come back at any time: the longest that somebody is told to wait for one.
const LONGEST_WAIT: u64 = 1_000;

/// What a slice gets at most beside what it needs.
pub(super) fn spare(limit: u32) -> u32 {
    limit / SLICES
}

/// The permits of a limit, as somebody who asks finds them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Permits {
    pub(super) limit: u32,
    pub(super) need: u32,
    pub(super) others: Held,
    /// In how many milliseconds the first slice of another ends.
    pub(super) next_end: Option<u64>,
}

impl Permits {
    /// At least what is needed, or how many milliseconds to wait.
    pub(super) fn offer(&self, asker: Asker, claimed: bool) -> Result<u32, u64> {
        if self.limit == 0 {
            return Ok(0);
        }
        let free = self.limit.saturating_sub(self.others.all);
        let reserve = self.reserve(asker, claimed).min(self.limit.saturating_sub(self.need));
        let own = asker.steps > 0 && self.others.low.saturating_add(self.need) <= self.share();
        if self.need > free || (u64::from(self.need) + u64::from(reserve) > u64::from(free) && !own) {
            return Err(self.next_end.map_or(LONGEST_WAIT, |end| end.clamp(1, LONGEST_WAIT)));
        }
        let rest = u64::from(free.saturating_sub(reserve).saturating_sub(self.need)) / (2 * asker.replicas);
        Ok(self.need + spare(self.limit).min(u32::try_from(rest).unwrap_or(u32::MAX)))
    }

    fn share(&self) -> u32 {
        self.limit.div_ceil(SHARES)
    }

    fn reserve(&self, asker: Asker, claimed: bool) -> u32 {
        if asker.steps > 0 {
            self.limit / SHARES * asker.steps
        } else {
            u32::from(asker.claims && claimed && self.others.low < self.share())
        }
    }
}
