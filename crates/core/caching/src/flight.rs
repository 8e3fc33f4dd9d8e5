//! When those who wait for another process's answer to the same request look for it.

use std::time::Duration;

const SOONEST_LOOK: Duration = Duration::from_millis(25);
const LATEST_LOOK: Duration = Duration::from_millis(100);

/// When to look again, 25 to 100 ms, by a random number from 0 to 1: those who wait must not all look at once.
pub fn next_look(chance: f64) -> Duration {
    let share = if chance.is_nan() { 0.5 } else { chance.clamp(0.0, 1.0) };
    SOONEST_LOOK + (LATEST_LOOK - SOONEST_LOOK).mul_f64(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_spread() {
        let millis = |chance| next_look(chance).as_millis();
        assert_eq!((millis(0.0), millis(0.5), millis(1.0)), (25, 62, 100));
        assert_eq!((millis(-7.0), millis(9.0), millis(f64::NAN)), (25, 100, 62));
    }
}
