//! Times as the tables have them: microseconds since 1970, UTC.

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MICROS: i64 = 1_000_000;

/// What `DateTime64(6)` can hold with room to spare: the years 1970 to 2199.
const LATEST: i64 = 7_258_118_400 * MICROS - 1;

pub(crate) fn micros(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(LATEST).min(LATEST)
}

pub(crate) fn system_time(micros: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(micros.max(0).unsigned_abs())
}

pub(crate) fn of_timestamp(time: Option<&prost_types::Timestamp>) -> i64 {
    let Some(time) = time else { return 0 };
    time.seconds.saturating_mul(MICROS).saturating_add(i64::from(time.nanos / 1000)).clamp(0, LATEST)
}

/// At least one, for 0 means that there is none.
pub(crate) fn of_duration(duration: Option<&prost_types::Duration>) -> u64 {
    let Some(duration) = duration else { return 0 };
    let micros = duration.seconds.saturating_mul(MICROS).saturating_add(i64::from(duration.nanos / 1000));
    micros.max(1).unsigned_abs()
}

/// A length of time that starts at multiples of itself, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Hour,
    Day,
    Month,
}

impl Unit {
    /// The last start at or before a time.
    pub(crate) fn floor(self, micros: i64) -> i64 {
        match self {
            Self::Hour => micros - micros.rem_euclid(3600 * MICROS),
            Self::Day => micros - micros.rem_euclid(86_400 * MICROS),
            Self::Month => start_of(month(micros)),
        }
    }

    /// The first start at or after a time.
    pub(crate) fn ceil(self, micros: i64) -> i64 {
        let floor = self.floor(micros);
        if floor == micros { floor } else { self.after(floor) }
    }

    /// The next start after a start.
    fn after(self, start: i64) -> i64 {
        match self {
            Self::Hour => start + 3600 * MICROS,
            Self::Day => start + 86_400 * MICROS,
            Self::Month => month(start).checked_add(1.month()).map_or(i64::MAX, start_of),
        }
    }
}

fn month(micros: i64) -> Date {
    let time = Timestamp::from_microsecond(micros).unwrap_or_default();
    TimeZone::UTC.to_datetime(time).date().first_of_month()
}

fn start_of(day: Date) -> i64 {
    day.to_zoned(TimeZone::UTC).map_or(i64::MAX, |start| start.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_microsecond()
    }

    #[test]
    fn months_start_at_their_first_instant() {
        let time = at("2027-12-31T23:59:59.999999Z");
        assert_eq!(Unit::Month.floor(time), at("2027-12-01T00:00:00Z"));
        assert_eq!(Unit::Month.ceil(time), at("2028-01-01T00:00:00Z"));
        assert_eq!(Unit::Month.ceil(at("2028-02-01T00:00:00Z")), at("2028-02-01T00:00:00Z"));
        assert_eq!(Unit::Day.ceil(time), at("2028-01-01T00:00:00Z"));
        assert_eq!(Unit::Hour.floor(time), at("2027-12-31T23:00:00Z"));
    }

    #[test]
    fn a_time_survives_the_way_there_and_back() {
        let time = at("2026-11-30T12:34:56.789012Z");
        assert_eq!(micros(system_time(time)), time);
    }

    #[test]
    fn no_time_and_the_shortest_one_are_not_the_same() {
        assert_eq!(of_duration(None), 0);
        assert_eq!(of_duration(Some(&prost_types::Duration::default())), 1);
    }
}
