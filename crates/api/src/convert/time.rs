//! Durations.

use prost_types::Duration as ProtoDuration;
use std::time::Duration;

/// A duration on the wire; saturates at the wire's limits.
pub fn duration_to_proto(duration: Duration) -> ProtoDuration {
    ProtoDuration {
        seconds: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(duration.subsec_nanos()).unwrap_or(0),
    }
}

/// A duration from the wire; `None` when it is negative or malformed.
pub fn duration_from_proto(duration: ProtoDuration) -> Option<Duration> {
    let nanos = u32::try_from(duration.nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(duration.seconds).ok()?, nanos))
}
