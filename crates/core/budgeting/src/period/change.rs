//! A tenant that moves to another time zone.

use super::{Period, Running, Zone, timestamp};
use std::time::SystemTime;

/// A change of zone. The running period ends as it would have; the next one begins at that instant, and it and all that
/// follow end by the new zone's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneChange {
    /// The zone until then.
    pub from: Zone,
    /// The zone from then on.
    pub to: Zone,
    /// When it was changed.
    pub at: SystemTime,
}

impl Running {
    /// The period after this one, where the tenant has moved to `zone` in between. It begins just when this one ends and
    /// has a later id, so it may be up to a day or so longer or shorter than others. `None` if this one never ends.
    pub fn next_in(&self, period: Period, zone: &Zone) -> Option<Self> {
        let start = self.end?;
        let mut first = period.first_day(zone.date(timestamp(start)));
        // Moved west, it is still the old day there. Moved east, the new one has begun already.
        while period.id(first) <= self.id {
            let next = period.next(first);
            if next == first {
                // The calendar's end.
                return None;
            }
            first = next;
        }
        Some(Self { start, ..period.beginning(first, zone) })
    }
}

impl Period {
    /// As [`Period::at`], of a tenant that moved.
    pub fn at_after(self, instant: SystemTime, change: &ZoneChange) -> Running {
        let old = self.at(change.at, &change.from);
        if old.contains(instant) || instant < old.start {
            return self.at(instant, &change.from);
        }
        match old.next_in(self, &change.to) {
            Some(next) if next.contains(instant) => next,
            _ => self.at(instant, &change.to),
        }
    }
}
