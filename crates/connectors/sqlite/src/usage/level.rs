//! The roll-ups, and which of them answer for a window.

use jiff::{Timestamp, ToSpan, Zoned, tz::TimeZone};
use signalbox_api::v1::query_usage_request::Interval;
use std::time::{Duration, SystemTime};

/// Nanoseconds in a second.
pub(super) const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// A roll-up, finest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Hour,
    Day,
    Month,
}

/// A part of a window, and what answers for it: a roll-up, or the events themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) level: Option<Level>,
    /// In nanoseconds.
    pub(super) start: i64,
    /// Out.
    pub(super) end: i64,
}

impl Level {
    pub(super) const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Month];

    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Hour => "usage_hourly",
            Self::Day => "usage_daily",
            Self::Month => "usage_monthly",
        }
    }

    /// The start of the bucket that an instant is in.
    pub(super) fn floor(self, instant: i64) -> i64 {
        match self {
            Self::Hour => instant - instant.rem_euclid(HOUR),
            Self::Day => instant - instant.rem_euclid(DAY),
            Self::Month => month(instant).map_or(instant, |month| nanos_of(&month)),
        }
    }

    /// The start of the first bucket that begins at an instant or after.
    fn ceil(self, instant: i64) -> i64 {
        let floor = self.floor(instant);
        if floor == instant {
            return instant;
        }
        match self {
            Self::Hour => floor.saturating_add(HOUR),
            Self::Day => floor.saturating_add(DAY),
            Self::Month => month(instant)
                .and_then(|month| month.checked_add(1.month()).ok())
                .map_or(i64::MAX, |month| nanos_of(&month)),
        }
    }
}

/// The levels that can answer for buckets of an interval, finest first.
pub(super) fn levels(interval: Interval) -> &'static [Level] {
    match interval {
        Interval::Hour => &[Level::Hour],
        Interval::Day => &[Level::Hour, Level::Day],
        Interval::Month | Interval::Unspecified => &Level::ALL,
    }
}

/// Cuts a window into parts that roll-ups can answer for, and ragged ends that only events can. Days and months hold
/// what is before `folded`, the start of an hour.
pub(super) fn segments(start: i64, end: i64, levels: &[Level], folded: Option<i64>) -> Vec<Segment> {
    let folded = folded.unwrap_or(i64::MIN).clamp(start, end.max(start));
    let hours = if levels.is_empty() { levels } else { &[Level::Hour] };
    let mut found = Vec::new();
    cut(start, folded, levels, &mut found);
    cut(folded, end, hours, &mut found);
    found
}

fn cut(start: i64, end: i64, levels: &[Level], found: &mut Vec<Segment>) {
    if start >= end {
        return;
    }
    let Some((level, finer)) = levels.split_last() else {
        found.push(Segment { level: None, start, end });
        return;
    };
    let (first, last) = (level.ceil(start), level.floor(end));
    if first >= last {
        return cut(start, end, finer, found);
    }
    cut(start, first, finer, found);
    found.push(Segment { level: Some(*level), start: first, end: last });
    cut(last, end, finer, found);
}

/// An instant in nanoseconds since 1970; the nearest that can be told for one that is centuries away.
pub(super) fn nanos(instant: SystemTime) -> i64 {
    match instant.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

/// The instant of nanoseconds since 1970.
pub(super) fn instant(nanos: i64) -> SystemTime {
    let distance = Duration::from_nanos(nanos.unsigned_abs());
    if nanos < 0 { SystemTime::UNIX_EPOCH - distance } else { SystemTime::UNIX_EPOCH + distance }
}

fn month(instant: i64) -> Option<Zoned> {
    let date = Timestamp::from_nanosecond(instant.into()).ok()?.to_zoned(TimeZone::UTC).date();
    date.first_of_month().to_zoned(TimeZone::UTC).ok()
}

fn nanos_of(month: &Zoned) -> i64 {
    i64::try_from(month.timestamp().as_nanosecond()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> i64 {
        let timestamp: Timestamp = text.parse().unwrap();
        timestamp.as_nanosecond().try_into().unwrap()
    }

    #[test]
    fn a_calendar_month_is_answered_by_the_monthly_sums_alone() {
        let (start, end) = (at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z"));
        let whole = Segment { level: Some(Level::Month), start, end };
        assert_eq!(segments(start, end, levels(Interval::Month), Some(end)), [whole]);
        assert_eq!(segments(start, end, levels(Interval::Unspecified), Some(end)), [whole]);
        let by_day = Segment { level: Some(Level::Day), ..whole };
        assert_eq!(segments(start, end, levels(Interval::Day), Some(end)), [by_day]);
    }

    #[test]
    fn only_the_ragged_ends_are_answered_by_events() {
        let cut =
            segments(at("2026-01-30T22:10:00Z"), at("2026-03-02T01:00:00.5Z"), &Level::ALL, Some(i64::MAX));
        let levels: Vec<Option<Level>> = cut.iter().map(|segment| segment.level).collect();
        use Level::{Day, Hour, Month};
        assert_eq!(levels, [None, Some(Hour), Some(Day), Some(Month), Some(Day), Some(Hour), None]);
    }

    proptest! {
        #[test]
        fn the_parts_of_a_window_join_to_the_whole(
            start in at("2025-11-01T00:00:00Z")..at("2026-06-01T00:00:00Z"),
            length in 1..200 * DAY,
            whole_hours: bool,
            folded in 0..300 * DAY,
        ) {
            let start = if whole_hours { Level::Hour.floor(start) } else { start };
            let end = start + length;
            let folded = Level::Hour.floor(at("2025-10-01T00:00:00Z") + folded);
            let parts = segments(start, end, &Level::ALL, Some(folded));
            prop_assert_eq!(parts[0].start, start);
            prop_assert_eq!(parts[parts.len() - 1].end, end);
            for pair in parts.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
            }
            for part in parts {
                prop_assert!(part.start < part.end);
                let level = part.level;
                prop_assert!(level.is_none_or(|level| level.floor(part.start) == part.start));
                prop_assert!(level.is_none_or(|level| level.floor(part.end) == part.end));
                prop_assert!(level <= Some(Level::Hour) || part.end <= folded);
                prop_assert!(level.is_some() || part.end - part.start < 2 * HOUR);
            }
        }
    }
}
