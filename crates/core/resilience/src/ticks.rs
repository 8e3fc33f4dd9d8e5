//! Time in steps of whole seconds: which slot of a ring is the present one.

use std::time::Instant;

/// Counts steps since a beginning. Never goes back, so that calls that end at once on several threads may report
/// in any order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticks {
    origin: Instant,
    seconds: u64,
    current: u64,
}

impl Ticks {
    /// Steps of this many seconds (at least one) from now on.
    pub(crate) fn new(seconds: u64, now: Instant) -> Self {
        Self { origin: now, seconds: seconds.max(1), current: 0 }
    }

    /// How many steps the present lies after the last advance.
    pub(crate) fn behind(&self, now: Instant) -> u64 {
        let tick = now.saturating_duration_since(self.origin).as_secs() / self.seconds;
        tick.saturating_sub(self.current)
    }

    /// Moves on to the present: the slots that a ring of this many must empty because they are of the present now
    /// and hold a past.
    pub(crate) fn advance(&mut self, slots: usize, now: Instant) -> impl Iterator<Item = usize> + use<> {
        let (before, behind) = (self.current, self.behind(now));
        self.current += behind;
        let (ring, stale) = (slots as u64, behind.min(slots as u64));
        (1..=stale).map(move |step| ((before + behind - stale + step) % ring) as usize)
    }

    /// The slots of the last `steps` steps seen from now, in a ring of this many.
    pub(crate) fn latest(
        &self,
        steps: usize,
        slots: usize,
        now: Instant,
    ) -> impl Iterator<Item = usize> + use<> {
        let (current, ring) = (self.current, slots as u64);
        let live = (steps.min(slots) as u64).saturating_sub(self.behind(now));
        (0..live).map(move |back| ((current + ring - back) % ring) as usize)
    }

    /// The slot of the last advance.
    pub(crate) fn slot(&self, slots: usize) -> usize {
        (self.current % slots as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_ring_moves_on_and_empties_what_it_reuses() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut ticks = Ticks::new(5, start);
        assert_eq!(ticks.slot(3), 0);
        assert_eq!(ticks.advance(3, after(4)).count(), 0);
        assert_eq!(ticks.advance(3, after(10)).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(ticks.slot(3), 2);
        // Each slot is emptied once, however long nothing happened.
        let mut emptied: Vec<_> = ticks.advance(3, after(1000)).collect();
        emptied.sort_unstable();
        assert_eq!(emptied, [0, 1, 2]);
        assert_eq!(ticks.slot(3), 200 % 3);
    }

    #[test]
    fn the_latest_slots_shrink_while_nothing_is_recorded() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut ticks = Ticks::new(1, start);
        ticks.advance(4, after(5)).count();
        assert_eq!(ticks.latest(3, 4, after(5)).collect::<Vec<_>>(), [1, 0, 3]);
        assert_eq!(ticks.latest(3, 4, after(7)).collect::<Vec<_>>(), [1]);
        assert_eq!(ticks.latest(3, 4, after(8)).count(), 0);
    }

    #[test]
    fn a_late_report_does_not_turn_time_back() {
        let start = Instant::now();
        let mut ticks = Ticks::new(1, start);
        ticks.advance(4, start + Duration::from_secs(2)).count();
        assert_eq!(ticks.advance(4, start).count(), 0);
        assert_eq!(ticks.slot(4), 2);
    }
}
