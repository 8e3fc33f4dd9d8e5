//! The last calls: so many, and none older than so long.
//!
//! By number, so that a busy model's outage is seen within a second or two, whatever went well before; by age, so that
//! a quiet model is not judged by its yesterday.

use std::time::{Duration, Instant};

const SLOTS: usize = 64;

/// A ring of the last calls.
#[derive(Debug, Clone)]
pub(super) struct Recent {
    ended: [Instant; SLOTS],
    /// Bit `i`: the call in slot `i` failed.
    failed: u64,
    /// Slot of the next call.
    next: usize,
    len: usize,
}

impl Recent {
    /// The most calls remembered.
    pub(super) const MOST: u32 = SLOTS as u32;

    pub(super) fn new(now: Instant) -> Self {
        Self { ended: [now; SLOTS], failed: 0, next: 0, len: 0 }
    }

    /// Adds a call that ended now, and forgets those older than `window`.
    pub(super) fn push(&mut self, failed: bool, window: Duration, now: Instant) {
        while self.len > 0 && (self.len == SLOTS || self.age_of_oldest(now) > window) {
            self.failed &= !(1 << self.oldest());
            self.len -= 1;
        }
        self.ended[self.next] = now;
        self.failed |= u64::from(failed) << self.next;
        self.next = (self.next + 1) % SLOTS;
        self.len += 1;
    }

    pub(super) fn clear(&mut self) {
        (self.failed, self.len) = (0, 0);
    }

    pub(super) fn calls(&self) -> u32 {
        self.len as u32
    }

    pub(super) fn failures(&self) -> u32 {
        self.failed.count_ones()
    }

    fn oldest(&self) -> usize {
        (self.next + SLOTS - self.len) % SLOTS
    }

    fn age_of_oldest(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.ended[self.oldest()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_counts_what_a_list_of_the_last_calls_would(
            events in prop::collection::vec((any::<bool>(), 0u64..3000), 0..300),
        ) {
            let (mut now, window) = (Instant::now(), Duration::from_secs(60));
            let (mut recent, mut all) = (Recent::new(now), Vec::new());
            for (failed, gap) in events {
                now += Duration::from_millis(gap);
                recent.push(failed, window, now);
                all.push((now, failed));
                let live = || all.iter().rev().take(SLOTS).filter(|(at, _)| now - *at <= window);
                prop_assert_eq!(recent.calls() as usize, live().count());
                prop_assert_eq!(recent.failures() as usize, live().filter(|(_, failed)| *failed).count());
            }
            recent.clear();
            prop_assert_eq!((recent.calls(), recent.failures()), (0, 0));
        }
    }
}
