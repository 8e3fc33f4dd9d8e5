//! Windows of time in requests.

use prost_types::Timestamp;
use signalbox_api::convert::Violations;
use signalbox_ports::usage_store::Window;
use std::time::{Duration, SystemTime};

/// The years 2000 to 2200: what every store can tell.
pub(super) const TELLABLE: std::ops::Range<i64> = 946_684_800..7_258_118_400;

/// From the beginning until a day from now, for those whose clock is ahead.
pub(crate) fn ever(now: SystemTime) -> Window {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(TELLABLE.start.unsigned_abs());
    Window { start, end: now + Duration::from_secs(24 * 60 * 60) }
}

/// The window of a request. `start` and `end`: those that stand where it says none.
pub(super) fn window(
    told: (Option<Timestamp>, Option<Timestamp>),
    start: Option<SystemTime>,
    end: SystemTime,
    violations: &mut Violations,
) -> Window {
    let nowhere = Window { start: end, end };
    let start = match told.0 {
        Some(told) => instant(told, "start_time", violations),
        None => {
            violations.check(start.is_some(), || "start_time", || "is required");
            start
        }
    };
    let end = told.1.map_or(Some(end), |told| instant(told, "end_time", violations));
    let (Some(start), Some(end)) = (start, end) else { return nowhere };
    violations.check(
        start < end,
        || "start_time",
        || "must be before end_time, which is now where it is left out",
    );
    Window { start, end }
}

fn instant(told: Timestamp, field: &str, violations: &mut Violations) -> Option<SystemTime> {
    let good = TELLABLE.contains(&told.seconds) && (0..1_000_000_000).contains(&told.nanos);
    violations.check(good, || field, || "must be a time between the years 2000 and 2200");
    good.then(|| SystemTime::try_from(told).ok()).flatten()
}
