//! Messages that were received and must wait before they can be stored.
//!
//! One that was sent again may stand in the stream twice: the servers drop it only within the duplicate window. After
//! that, two ingesters could store both side by side, each finding that the store has no such event. So one that was sent again
//! waits until nothing is left to be stored that is older by as much as the window: the first has then been stored, or never
//! was there. As long as ingesters keep up, that is at once. An event of a request that ended before the window may have
//! been sent before, too, whether or not its sender says so. What waits for an [`Epoch`] is told there.

use super::epoch::Epoch;
use signalbox_ports::Delivery;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Kept {
    window: Duration,
    hold: Duration,
    kept: Vec<Waiting>,
    extended: Instant,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) delivery: Delivery,
    /// By its sender.
    pub(super) resent: bool,
}

impl Kept {
    /// A little less than the window, since clocks and clean-up are not exact.
    pub(super) fn new(window: Duration, hold: Duration) -> Self {
        Self { window: window.mul_f64(0.9), hold, kept: Vec::new(), extended: Instant::now() }
    }

    /// Whether the servers surely knew an event again when they took it: all of its copies then came within the window. It
    /// was sent first when its request had ended, by a clock that may be a little ahead.
    pub(super) fn is_known(&self, ended: Option<SystemTime>, taken_at: SystemTime) -> bool {
        let Some(ended) = ended else { return true };
        match taken_at.duration_since(ended) {
            Ok(ago) => ago < self.window,
            Err(ahead) => ahead.duration() < self.window / 20,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(super) fn sequences(&self) -> Vec<u64> {
        self.kept.iter().map(|waiting| waiting.delivery.sequence).collect()
    }

    pub(super) fn has_resent(&self) -> bool {
        self.kept.iter().any(|waiting| waiting.resent)
    }

    /// Others have got them, or will.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }

    /// One that comes again takes its own place.
    pub(super) fn keep(&mut self, waiting: Vec<Waiting>) {
        let comes_again = |kept: &Waiting| {
            let sequence = kept.delivery.sequence;
            waiting.binary_search_by_key(&sequence, |waiting| waiting.delivery.sequence).is_ok()
        };
        self.kept.retain(|kept| !comes_again(kept));
        self.kept.extend(waiting);
    }

    /// Those that the servers must be told of now, lest they give them to another ingester. When that was not done in
    /// time, they may have: then nothing is kept.
    pub(super) fn due(&mut self) -> Vec<u64> {
        let ago = self.extended.elapsed();
        if ago > self.hold * 2 / 3 && !self.kept.is_empty() {
            self.kept.clear();
        }
        if self.kept.is_empty() {
            self.extended = Instant::now();
        }
        if ago < self.hold / 3 {
            return Vec::new();
        }
        self.sequences()
    }

    /// The servers have been told.
    pub(super) fn extended(&mut self) {
        self.extended = Instant::now();
    }

    /// Those that need not wait any more, in their order. `oldest` is when the stream took the oldest message that nobody
    /// has stored yet, where it is known.
    pub(super) fn release(
        &mut self,
        epoch: &Epoch,
        now: SystemTime,
        oldest: Option<SystemTime>,
    ) -> Vec<Delivery> {
        let (window, hold) = (self.window, self.hold);
        let free = |waiting: &mut Waiting| {
            let Waiting { delivery, resent } = waiting;
            let first_may_wait =
                *resent && oldest.is_none_or(|oldest| is_older(oldest, delivery.taken_at, window));
            !first_may_wait && !epoch.must_wait(delivery.sequence, *resent, now, hold)
        };
        let mut released: Vec<_> = self.kept.extract_if(.., free).map(|waiting| waiting.delivery).collect();
        released.sort_by_key(|delivery| delivery.sequence);
        released
    }
}

fn is_older(one: SystemTime, than: SystemTime, by: Duration) -> bool {
    than.duration_since(one).is_ok_and(|apart| apart >= by)
}

#[cfg(test)]
mod tests {
    use super::super::epoch::Memory;
    use super::*;

    const WINDOW: Duration = Duration::from_secs(600);
    const HOLD: Duration = Duration::from_secs(30);

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn waiting(sequence: u64, resent: bool) -> Waiting {
        let delivery = Delivery { sequence, payload: Vec::new(), again: resent, taken_at: at(10_000) };
        Waiting { delivery, resent }
    }

    fn released(kept: &mut Kept, now: u64, oldest: Option<u64>) -> Vec<u64> {
        let epoch = Epoch::begun(Memory { id: String::new(), sure: true }, at(9_990), 5);
        let released = kept.release(&epoch, at(now), oldest.map(at));
        released.iter().map(|delivery| delivery.sequence).collect()
    }

    #[test]
    fn one_that_was_sent_again_waits_for_those_older_than_the_servers_remember() {
        let mut kept = Kept::new(WINDOW, HOLD);
        kept.keep(vec![waiting(8, false), waiting(9, true)]);
        assert_eq!(released(&mut kept, 10_100, None), [8]);
        assert_eq!(released(&mut kept, 10_100, Some(9_000)), [] as [u64; 0]);
        assert_eq!(released(&mut kept, 10_100, Some(9_500)), [9]);
        assert_eq!(kept.len(), 0);
    }

    #[test]
    fn an_event_is_known_again_when_its_request_ended_within_the_window() {
        let kept = Kept::new(WINDOW, HOLD);
        let known = |ended: u64| kept.is_known(Some(at(ended)), at(10_000));
        assert!(known(10_000) && known(9_500) && known(10_020) && kept.is_known(None, at(0)));
        assert!(!known(9_400), "a copy may have come before the servers' memory begins");
        assert!(!known(20_000), "nobody knows when it was sent first");
    }

    #[test]
    fn one_of_before_the_epoch_waits_until_nobody_can_still_be_storing_it() {
        let mut kept = Kept::new(WINDOW, HOLD);
        kept.keep(vec![waiting(5, false), waiting(6, false)]);
        assert_eq!(released(&mut kept, 10_000, None), [6]);
        kept.keep(vec![waiting(5, false)]);
        assert_eq!(kept.len(), 1);
        assert_eq!(released(&mut kept, 10_021, None), [5]);
    }
}
