//! Time in minutes.

use std::time::{Duration, SystemTime};

const SECONDS: u64 = 60;
const MINUTES_OF_HOUR: u64 = 60;
const HOURS_OF_DAY: u64 = 24;

/// A minute in UTC, counted from 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minute(pub u64);

impl Minute {
    /// The minute that this instant lies in; the first one for any before 1970.
    pub fn of(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(since.as_secs() / SECONDS)
    }

    /// Its beginning.
    pub fn start(self) -> SystemTime {
        let since = Duration::from_secs(self.0.saturating_mul(SECONDS));
        SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// The one after it.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// How many minutes ago `earlier` was; 0 where it was not earlier.
    pub(crate) fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Its hour, counted from 1970.
    pub(crate) fn hour(self) -> u64 {
        self.0 / MINUTES_OF_HOUR
    }

    /// Its hour of the day, from 0 to 23.
    pub(crate) fn hour_of_day(self) -> usize {
        (self.hour() % HOURS_OF_DAY) as usize
    }

    /// Its day, counted from 1970.
    pub(crate) fn day(self) -> u64 {
        self.hour() / HOURS_OF_DAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_lies_in_the_minute_that_began_before_it() {
        let minute = Minute(29_000_000);
        assert_eq!(Minute::of(minute.start()), minute);
        assert_eq!(Minute::of(minute.start() + Duration::from_millis(59_999)), minute);
        assert_eq!(Minute::of(minute.start() + Duration::from_secs(60)), minute.next());
    }

    #[test]
    fn no_time_is_too_strange() {
        assert_eq!(Minute::of(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), Minute(0));
        assert_eq!(Minute(u64::MAX).start(), SystemTime::UNIX_EPOCH);
        assert_eq!(Minute(u64::MAX).next(), Minute(u64::MAX));
    }

    #[test]
    fn hours_are_those_of_the_day_in_utc() {
        let minute = Minute(24 * 60 * 20_000 + 13 * 60 + 59);
        assert_eq!((minute.day(), minute.hour_of_day()), (20_000, 13));
        assert_eq!(minute.next().hour_of_day(), 14);
    }
}
