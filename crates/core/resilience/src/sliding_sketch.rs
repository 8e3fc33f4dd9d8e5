//! How long the calls of the last ten minutes took.

use crate::{Sketch, ticks::Ticks};
use std::time::{Duration, Instant};

const SLOT_SECONDS: u64 = 120;
const SLOTS: usize = 5;

/// A latency sketch of the last ten minutes, in five slots of two: of each call between eight and ten minutes are
/// remembered. Some 9 KB; a record does not allocate.
#[derive(Debug, Clone)]
pub struct SlidingSketch {
    ticks: Ticks,
    slots: [Sketch; SLOTS],
}

impl SlidingSketch {
    /// An empty sketch.
    pub fn new(now: Instant) -> Self {
        Self { ticks: Ticks::new(SLOT_SECONDS, now), slots: Default::default() }
    }

    /// Counts a latency of a call that ended now.
    pub fn record(&mut self, latency: Duration, now: Instant) {
        for stale in self.ticks.advance(SLOTS, now) {
            self.slots[stale].clear();
        }
        self.slots[self.ticks.slot(SLOTS)].record(latency);
    }

    /// The sketch of the last ten minutes.
    pub fn sketch(&self, now: Instant) -> Sketch {
        let mut sum = Sketch::new();
        for slot in self.ticks.latest(SLOTS, SLOTS, now) {
            sum.merge(&self.slots[slot]);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_forgotten_after_ten_minutes() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut sliding = SlidingSketch::new(start);
        sliding.record(Duration::from_secs(9), start);
        sliding.record(Duration::from_secs(1), after(300));
        assert_eq!(sliding.sketch(after(599)).count(), 2);
        assert_eq!(sliding.sketch(after(600)).count(), 1);
        assert!(sliding.sketch(after(600)).quantile(1.0).unwrap() < Duration::from_secs(2));
        assert!(sliding.sketch(after(900)).is_empty());
        sliding.record(Duration::from_secs(1), after(5000));
        assert_eq!(sliding.sketch(after(5000)).count(), 1);
    }
}
