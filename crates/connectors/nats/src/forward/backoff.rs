//! Pauses between tries: longer and longer, and not the same in all processes.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Backoff {
    pause: Duration,
    random: StdRng,
}

impl Backoff {
    pub(super) fn new(seed: u64) -> Self {
        Self { pause: SHORTEST, random: StdRng::seed_from_u64(seed) }
    }

    /// From half of a pause that doubles, to the whole.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.pause.mul_f64(self.random.random_range(0.5..=1.0));
        self.pause = (self.pause * 2).min(LONGEST);
        pause
    }

    pub(super) fn reset(&mut self) {
        self.pause = SHORTEST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_second_and_begin_anew_after_a_success() {
        let mut backoff = Backoff::new(7);
        let pauses: Vec<_> = (0..40).map(|_| backoff.next()).collect();
        assert!(pauses[0] <= SHORTEST && pauses[0] >= SHORTEST / 2);
        assert!(pauses[39] > LONGEST / 3 && pauses[39] <= LONGEST);
        backoff.reset();
        assert!(backoff.next() <= SHORTEST);
    }
}
