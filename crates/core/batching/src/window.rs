//! How much goes into a window, and when it is handed over.

use crate::{Lane, WindowKey};
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// An item waits in an open window for at most this share of the time it has: one in so many.
const SHARE_OF_TIME: u32 = 20;

/// Items travel together whose times are over within so many seconds of each other: a vendor's batch that holds one job's
/// items for another's would end it late, and could not be stopped for it.
const DEADLINES: u64 = 600;

/// The deadlines of the items that one of this deadline travels with: from, and until before.
pub fn alike(complete_by: SystemTime) -> (SystemTime, SystemTime) {
    let seconds = complete_by.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let from = UNIX_EPOCH + Duration::from_secs(seconds - seconds % DEADLINES);
    (from, from + Duration::from_secs(DEADLINES))
}

/// The most that a window holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Items.
    pub items: u64,
    /// Bytes of their requests.
    pub bytes: u64,
}

/// What a window holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Level {
    /// Items.
    pub items: u64,
    /// Bytes of their requests.
    pub bytes: u64,
}

/// What is configured for windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// How long a window for a vendor's batch endpoint waits for more items.
    pub window_wait: Duration,
    /// What a vendor's batch may hold, where `vendors` says nothing else.
    pub batch: Room,
    /// What the batches of these vendor entries may hold.
    pub vendors: BTreeMap<String, Room>,
    /// What a window of usual calls holds: little, so that several processes can share a job.
    pub usual: Room,
    /// How long results are kept once a job has ended.
    pub results_kept: Duration,
}

impl Room {
    /// Whether one more item goes into a window. An item that is larger than any window travels alone.
    pub const fn takes(&self, level: Level, bytes: u64) -> bool {
        level.items == 0 || (level.items < self.items && level.bytes.saturating_add(bytes) <= self.bytes)
    }

    /// Whether nothing goes into a window any more.
    pub const fn is_full(&self, level: Level) -> bool {
        level.items > 0 && (level.items >= self.items || level.bytes >= self.bytes)
    }
}

impl Level {
    /// With one more item.
    #[must_use]
    pub const fn with(self, bytes: u64) -> Self {
        Self { items: self.items.saturating_add(1), bytes: self.bytes.saturating_add(bytes) }
    }
}

impl Rules {
    /// The most that such a window holds.
    pub fn room(&self, key: &WindowKey) -> Room {
        match key.target.lane {
            Lane::Usual => self.usual,
            Lane::Batch => self.vendors.get(&key.target.vendor).copied().unwrap_or(self.batch),
        }
    }

    /// When a window is handed over at the latest that an item joins now: after the wait, sooner where the item has
    /// little time, and at once where there is nothing to be gained by waiting.
    pub fn close_by(&self, lane: Lane, now: SystemTime, complete_by: SystemTime) -> SystemTime {
        let left = complete_by.duration_since(now).unwrap_or_default();
        match lane {
            Lane::Usual => now,
            Lane::Batch => now + self.window_wait.min(left / SHARE_OF_TIME),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Target};
    use proptest::prelude::*;

    fn rules() -> Rules {
        Rules {
            window_wait: Duration::from_secs(60),
            batch: Room { items: 100, bytes: 1000 },
            vendors: BTreeMap::from([("small".to_owned(), Room { items: 2, bytes: 10 })]),
            usual: Room { items: 5, bytes: 50 },
            results_kept: Duration::from_hours(1),
        }
    }

    fn key(vendor: &str, lane: Lane) -> WindowKey {
        WindowKey {
            target: Target { vendor: vendor.to_owned(), model: "m".to_owned(), lane },
            kind: Kind::Embed,
        }
    }

    #[test]
    fn a_vendors_own_room_counts_for_its_batches_only() {
        assert_eq!(rules().room(&key("small", Lane::Batch)).items, 2);
        assert_eq!(rules().room(&key("other", Lane::Batch)).items, 100);
        assert_eq!(rules().room(&key("small", Lane::Usual)).items, 5);
    }

    #[test]
    fn an_item_in_a_hurry_closes_its_window_sooner_and_usual_calls_wait_for_nobody() {
        let in_time = |lane, seconds| {
            let close_by = rules().close_by(lane, UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(seconds));
            close_by.duration_since(UNIX_EPOCH).unwrap().as_secs()
        };
        assert_eq!(in_time(Lane::Batch, 24 * 3600), 60);
        assert_eq!(in_time(Lane::Batch, 600), 30);
        assert_eq!(in_time(Lane::Batch, 0), 0);
        assert_eq!(in_time(Lane::Usual, 24 * 3600), 0);
    }

    proptest! {
        #[test]
        fn items_travel_with_those_whose_time_is_over_within_minutes(one in 0u64..1 << 40, more in 0u64..2000) {
            let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
            let (from, until) = alike(at(one));
            prop_assert!(from <= at(one) && at(one) < until);
            prop_assert!(until.duration_since(from).unwrap() == Duration::from_secs(DEADLINES));
            prop_assert_eq!(at(one + more) < until, alike(at(one + more)) == alike(at(one)));
        }

        #[test]
        fn a_window_never_holds_more_than_its_room_but_one_item_that_is_larger(
            room in (1u64..6, 1u64..60), sizes in prop::collection::vec(0u64..80, 1..40),
        ) {
            let room = Room { items: room.0, bytes: room.1 };
            let mut level = Level::default();
            for bytes in sizes {
                if !room.takes(level, bytes) {
                    prop_assert!(level.items > 0);
                    level = Level::default();
                }
                prop_assert!(room.takes(level, bytes));
                level = level.with(bytes);
                prop_assert!(level.items <= room.items);
                prop_assert!(level.bytes <= room.bytes || level.items == 1);
                prop_assert!(!room.is_full(level) || !room.takes(level, 1));
            }
        }
    }
}
