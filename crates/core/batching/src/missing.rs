//! When a batch is gone that its vendor does not know any more.

use std::time::{Duration, SystemTime};

/// So often in a row a vendor must say that it does not know a batch,
const LEAST_TIMES: u32 = 5;
/// over at least so long: what it lists or serves may lag behind what it took.
const LEAST_TIME: Duration = Duration::from_mins(10);

/// A vendor says that it does not know a batch that it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    since: SystemTime,
    times: u32,
}

impl Missing {
    /// It says so now, for the first time or `before` too.
    #[must_use]
    pub fn again(before: Option<Self>, now: SystemTime) -> Self {
        before.map_or(Self { since: now, times: 1 }, |Self { since, times }| Self {
            since,
            times: times.saturating_add(1),
        })
    }

    /// Whether it will hardly turn up again.
    pub fn is_gone(self, now: SystemTime) -> bool {
        self.times >= LEAST_TIMES && now.duration_since(self.since).is_ok_and(|time| time >= LEAST_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    fn said(times: u32, over: Duration) -> bool {
        let first = Missing::again(None, UNIX_EPOCH);
        let last = (1..times).fold(first, |before, _| Missing::again(Some(before), UNIX_EPOCH + over));
        last.is_gone(UNIX_EPOCH + over)
    }

    #[test]
    fn a_batch_is_gone_that_its_vendor_has_not_known_several_times_over_some_minutes() {
        assert!(said(LEAST_TIMES, LEAST_TIME));
        assert!(!said(1, LEAST_TIME * 100));
        assert!(!said(LEAST_TIMES - 1, LEAST_TIME));
        assert!(!said(LEAST_TIMES * 100, LEAST_TIME / 2));
    }
}
