//! When a vendor is asked again.

use std::time::Duration;

/// A pause is this part of the time that has passed: so what takes minutes is seen within seconds, and what takes a day
/// is asked about some dozens of times.
const PART: u32 = 8;

/// The pause before a window is looked at again that has been at its vendor, or could not be handed over, for so long.
pub fn pause(waiting: Duration, least: Duration, most: Duration) -> Duration {
    (waiting / PART).min(most).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LEAST: Duration = Duration::from_secs(30);
    const MOST: Duration = Duration::from_secs(600);

    #[test]
    fn a_day_takes_some_dozens_of_looks() {
        let (mut waiting, mut looks) = (Duration::ZERO, 0);
        while waiting < Duration::from_hours(24) {
            waiting += pause(waiting, LEAST, MOST);
            looks += 1;
        }
        assert!((100..200).contains(&looks), "{looks}");
    }

    proptest! {
        #[test]
        fn pauses_keep_their_bounds_and_only_grow(waiting in 0u64..1_000_000, more in 0u64..1_000_000) {
            let of = |seconds| pause(Duration::from_secs(seconds), LEAST, MOST);
            prop_assert!((LEAST..=MOST).contains(&of(waiting)));
            prop_assert!(of(waiting) <= of(waiting + more));
        }
    }
}
