//! How identical requests wait for each other.
//!
//! The first of them leads: it asks a model, and holds its lead while it does. The others wait, in the same process to be
//! told, elsewhere by looking now and then. Whoever has waited long enough asks a model itself.

use std::time::Duration;

/// How long a lead lasts unless it is renewed.
pub const LEAD: Duration = Duration::from_secs(15);
/// Most requests that wait for one other in a process; further ones ask a model themselves.
pub const MOST_WAITING: usize = 256;

const LONGEST_WAIT: Duration = Duration::from_secs(10);
const SOONEST_LOOK: Duration = Duration::from_millis(25);
const LATEST_LOOK: Duration = Duration::from_millis(100);

/// How long to wait: what the caller would wait, but at most 10 s, and half of the time that is left, so that a model can
/// still be asked. `None` left is no deadline.
pub fn patience(wish: Duration, left: Option<Duration>) -> Duration {
    let half = left.map_or(LONGEST_WAIT, |left| left / 2);
    wish.min(half).min(LONGEST_WAIT)
}

/// When to look again, 25 to 100 ms, by a random number from 0 to 1: those who wait must not all look at once.
pub fn next_look(chance: f64) -> Duration {
    let share = if chance.is_nan() { 0.5 } else { chance.clamp(0.0, 1.0) };
    SOONEST_LOOK + (LATEST_LOOK - SOONEST_LOOK).mul_f64(share)
}

/// When to renew a lead of such a length: early enough for two attempts to fail.
pub fn renewal(lead: Duration) -> Duration {
    lead / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_has_half_of_the_time_left_for_a_model() {
        let seconds = Duration::from_secs;
        assert_eq!(patience(seconds(60), Some(seconds(8))), seconds(4));
        assert_eq!(patience(seconds(60), Some(seconds(90))), seconds(10));
        assert_eq!(patience(seconds(60), None), seconds(10));
        assert_eq!(patience(seconds(1), Some(seconds(90))), seconds(1));
        assert_eq!(patience(seconds(1), Some(Duration::ZERO)), Duration::ZERO);
    }

    #[test]
    fn looks_are_spread() {
        let millis = |chance| next_look(chance).as_millis();
        assert_eq!((millis(0.0), millis(0.5), millis(1.0)), (25, 62, 100));
        assert_eq!((millis(-7.0), millis(9.0), millis(f64::NAN)), (25, 100, 62));
    }

    #[test]
    fn a_lead_survives_two_renewals_that_fail() {
        assert!(renewal(LEAD) * 3 <= LEAD);
    }
}
