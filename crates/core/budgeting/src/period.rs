//! Which day or month it is for a tenant, from its midnight to its next.

mod change;
mod zone;

use jiff::{Timestamp, ToSpan, civil::Date};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use change::ZoneChange;
pub use zone::{UnknownZone, Zone};

/// The id of the one period of a prepaid budget.
pub const PREPAID: &str = "prepaid";

/// When a budget starts anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Period {
    /// At the tenant's midnight.
    Daily,
    /// At the tenant's midnight before the first of a month.
    Monthly,
    /// Never.
    Prepaid,
}

/// One period of a budget. Those of one zone follow each other without gap or overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// `2026-11-30`, `2026-11` or `prepaid`. Later ones compare greater.
    pub id: String,
    /// When it begins; for a prepaid budget, the beginning of time.
    pub start: SystemTime,
    /// When the next one begins; `None` for a prepaid budget.
    pub end: Option<SystemTime>,
}

impl Running {
    /// Whether an instant is within it.
    pub fn contains(&self, instant: SystemTime) -> bool {
        self.start <= instant && self.end.is_none_or(|end| instant < end)
    }

    /// How much of it has passed, from 0 to 1; `None` for a prepaid budget.
    pub fn elapsed_share(&self, now: SystemTime) -> Option<f64> {
        let whole = self.end?.duration_since(self.start).unwrap_or_default();
        let passed = now.duration_since(self.start).unwrap_or_default();
        Some(if whole.is_zero() { 1.0 } else { (passed.as_secs_f64() / whole.as_secs_f64()).min(1.0) })
    }

    /// How long it lasts from now on; `None` for a prepaid budget.
    pub fn left(&self, now: SystemTime) -> Option<Duration> {
        self.end.map(|end| end.duration_since(now).unwrap_or_default())
    }
}

impl Period {
    /// The period that an instant is in. It begins at the first midnight of its first day, or, where the clocks skip
    /// midnight, at the first instant after.
    pub fn at(self, instant: SystemTime, zone: &Zone) -> Running {
        if self == Self::Prepaid {
            return Running { id: PREPAID.to_owned(), start: UNIX_EPOCH, end: None };
        }
        let instant = timestamp(instant);
        let mut first = self.first_day(zone.date(instant));
        // Clocks that are put back over midnight show a day again that has already ended here.
        if instant >= zone.midnight(self.next(first)) {
            first = self.next(first);
        }
        self.beginning(first, zone)
    }

    fn beginning(self, first: Date, zone: &Zone) -> Running {
        Running {
            id: self.id(first),
            start: system_time(zone.midnight(first)),
            end: Some(system_time(zone.midnight(self.next(first)))),
        }
    }

    fn first_day(self, day: Date) -> Date {
        if self == Self::Monthly { day.first_of_month() } else { day }
    }

    /// The first day of the period after.
    fn next(self, first: Date) -> Date {
        let length = if self == Self::Monthly { 1.month() } else { 1.day() };
        first.saturating_add(length)
    }

    fn id(self, first: Date) -> String {
        match self {
            Self::Daily => format!("{:04}-{:02}-{:02}", first.year(), first.month(), first.day()),
            Self::Monthly => format!("{:04}-{:02}", first.year(), first.month()),
            Self::Prepaid => PREPAID.to_owned(),
        }
    }
}

/// Clamped to the calendar, which ends with the year 9999.
fn timestamp(instant: SystemTime) -> Timestamp {
    let limit = if instant < UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(instant).unwrap_or(limit)
}

fn system_time(instant: Timestamp) -> SystemTime {
    SystemTime::from(instant)
}

#[cfg(test)]
mod tests;
