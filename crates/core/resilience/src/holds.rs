//! For how long somebody is left alone.

use crate::unit::unit;
use std::time::{Duration, Instant};

/// The longest hold of a rate limit: a vendor that names a longer one is asked again after this.
pub(crate) const LONGEST: Duration = Duration::from_secs(300);
/// What chance adds to a hold at most, so that not everyone comes back at once.
const JITTER: f64 = 0.2;

/// A hold of so long, with jitter by `random`, from 0 to 1, at most `longest`.
pub fn with_jitter(wait: Duration, longest: Duration, random: f64) -> Duration {
    wait.min(longest).mul_f64(1.0 + JITTER * unit(random)).min(longest)
}

/// Until when somebody asked to be left alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hold {
    until: Option<Instant>,
}

impl Hold {
    /// The longest hold of a rate limit.
    pub const LONGEST: Duration = LONGEST;

    /// Holds for so long. A second, longer hold extends the first; a shorter one never shortens it.
    pub fn extend(&mut self, wait: Duration, now: Instant) {
        self.until = self.until.max(now.checked_add(wait));
    }

    /// Holds no longer than so much more.
    pub fn shorten(&mut self, most: Duration, now: Instant) {
        self.until = self.until.min(now.checked_add(most));
    }

    /// How much longer it lasts.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }
}

/// A hold for what only a person can mend (a refused key, an empty account): each refusal after the last hold's end
/// doubles the next, until a call succeeds.
#[derive(Debug, Clone, Copy)]
pub struct DoublingHold {
    hold: Hold,
    next: Duration,
    first: Duration,
    longest: Duration,
}

impl DoublingHold {
    /// None yet; the first lasts for `first`, and none longer than `longest`.
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { hold: Hold::default(), next: first, first, longest }
    }

    /// A call was refused. Gives the length of the hold that begins; none where one lasts already, since the calls under
    /// way when it began are refused alike. `random`, from 0 to 1, is its jitter.
    pub fn refused(&mut self, random: f64, now: Instant) -> Option<Duration> {
        if self.left(now).is_some() {
            return None;
        }
        let wait = with_jitter(self.next, self.longest, random);
        self.hold.extend(wait, now);
        self.next = (self.next * 2).min(self.longest);
        Some(wait)
    }

    /// It may be mended: it is tried again in `grace` at the latest, and a refusal then counts as the first.
    pub fn relent(&mut self, grace: Duration, now: Instant) {
        self.hold.shorten(grace, now);
        self.next = self.first;
    }

    /// Whether there is nothing to forgive.
    pub fn is_clear(&self, now: Instant) -> bool {
        self.next == self.first && self.left(now).is_none()
    }

    /// How much longer it lasts.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        self.hold.left(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_second_hold_extends_the_first_and_never_shortens_it() {
        let (mut hold, now) = (Hold::default(), Instant::now());
        assert_eq!(hold.left(now), None);
        hold.extend(10 * SECOND, now);
        hold.extend(2 * SECOND, now);
        assert_eq!(hold.left(now), Some(10 * SECOND));
        hold.extend(20 * SECOND, now);
        assert_eq!(hold.left(now + 15 * SECOND), Some(5 * SECOND));
        assert_eq!(hold.left(now + 20 * SECOND), None);
    }

    #[test]
    fn jitter_only_lengthens_and_never_beyond_the_longest() {
        assert_eq!(with_jitter(10 * SECOND, LONGEST, 0.0), 10 * SECOND);
        assert_eq!(with_jitter(10 * SECOND, LONGEST, 1.0), 12 * SECOND);
        assert_eq!(with_jitter(Duration::MAX, LONGEST, 1.0), LONGEST);
    }

    #[test]
    fn refusals_double_the_hold_up_to_the_longest_and_a_burst_of_them_counts_once() {
        let (mut hold, mut now) = (DoublingHold::new(60 * SECOND, 600 * SECOND), Instant::now());
        for seconds in [60, 120, 240, 480, 600, 600] {
            let wait = seconds * SECOND;
            assert_eq!(hold.refused(0.0, now), Some(wait));
            assert_eq!(hold.refused(0.0, now + wait / 2), None);
            assert_eq!(hold.left(now + wait / 2), Some(wait / 2));
            now += wait;
        }
    }

    #[test]
    fn what_may_be_mended_is_tried_soon_and_its_next_refusal_is_the_first() {
        let (mut hold, now) = (DoublingHold::new(60 * SECOND, 600 * SECOND), Instant::now());
        hold.refused(0.0, now);
        assert!(!hold.is_clear(now));
        hold.relent(5 * SECOND, now);
        assert_eq!(hold.left(now), Some(5 * SECOND));
        hold.relent(Duration::ZERO, now);
        assert!(hold.is_clear(now));
        assert_eq!(hold.refused(0.0, now), Some(60 * SECOND));
    }

    proptest! {
        #[test]
        fn no_jitter_shortens_a_hold(seconds in 0u64..600, random: f64) {
            let wait = Duration::from_secs(seconds);
            let held = with_jitter(wait, LONGEST, random);
            prop_assert!(held >= wait.min(LONGEST) && held <= LONGEST);
        }
    }
}
