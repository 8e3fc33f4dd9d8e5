//! Whether a job is late.

use std::time::{Duration, SystemTime};

/// A job that has not ended is late once so much of its completion window is over, in percent.
pub const LATE_PERCENT: u32 = 80;

/// How long after its time is over a job waits for what vendors may still say of its items: they take some minutes to stop
/// a batch. Then its items end all the same, and what they cost is not known.
pub const GRACE: Duration = Duration::from_mins(30);

/// Whether a job that has not ended is late.
pub fn is_late(create_time: SystemTime, complete_by: SystemTime, now: SystemTime) -> bool {
    let window = complete_by.duration_since(create_time).unwrap_or_default();
    let passed = now.duration_since(create_time).unwrap_or_default();
    passed.as_nanos() * 100 >= window.as_nanos() * u128::from(LATE_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn a_job_is_late_when_four_fifths_of_its_time_are_over() {
        let after = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(!is_late(after(10), after(110), after(89)));
        assert!(is_late(after(10), after(110), after(90)));
        assert!(!is_late(after(10), after(110), after(0)));
    }
}
