//! Hours, days and months in UTC.

use jiff::{Timestamp, civil, tz::TimeZone};
use signalbox_api::v1::query_usage_request::Interval;
use std::time::{Duration, SystemTime};

/// An instant of a day.
pub(crate) fn at(year: i16, month: i8, day: i8, hour: i8, minute: i8) -> SystemTime {
    civil::date(year, month, day).at(hour, minute, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp().into()
}

/// The first instant of the bucket that an instant is in, unless the window is one bucket.
pub(crate) fn bucket(when: SystemTime, interval: Interval) -> Option<SystemTime> {
    match interval {
        Interval::Unspecified => None,
        Interval::Hour => Some(floor(when, 3600)),
        Interval::Day => Some(floor(when, 86_400)),
        Interval::Month => Some(month(when)),
    }
}

/// The first instant of the month that an instant is in.
pub(crate) fn month(when: SystemTime) -> SystemTime {
    let date = Timestamp::try_from(when).unwrap().to_zoned(TimeZone::UTC).date();
    at(date.year(), date.month(), 1, 0, 0)
}

/// The first instant of the minute that an instant is in.
pub(crate) fn minute(when: SystemTime) -> SystemTime {
    floor(when, 60)
}

fn floor(when: SystemTime, seconds: u64) -> SystemTime {
    let since = when.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since - since % seconds)
}
