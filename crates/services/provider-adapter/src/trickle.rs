//! Notices a stream that trickles, by the time that the vendor is waited for and not by the clock: whoever reads slowly
//! is not held against the vendor.

use futures_util::task::{ArcWake, AtomicWaker, waker};
use signalbox_kit::config::SlowStreamConfig;
use std::{
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Waker},
    time::Duration,
};
use tokio::time::Instant;

/// Measures how long a vendor is waited for and what it gives in that time.
#[derive(Debug)]
pub(crate) struct Trickle {
    /// Tokens a second.
    floor: f64,
    window: Duration,
    bell: Arc<Bell>,
    waker: Waker,
    /// The vendor has been waited for since then.
    since: Option<Instant>,
    /// From the first text or tool call on, which a reasoning model may ponder over as long as it likes.
    begun: bool,
    /// In this window.
    waited: Duration,
    tokens: u64,
    /// Content came since the vendor was last waited for. Without it a pause is only a pause.
    fresh: bool,
}

impl Trickle {
    /// `None` where the floor is switched off.
    pub(crate) fn watch(config: &SlowStreamConfig) -> Option<Self> {
        let floor = config.min_tokens_per_second;
        let bell = Arc::new(Bell::default());
        (floor > 0.0).then(|| Self {
            floor,
            window: config.window.0,
            waker: waker(Arc::clone(&bell)),
            bell,
            since: None,
            begun: false,
            waited: Duration::ZERO,
            tokens: 0,
            fresh: false,
        })
    }

    /// Asks the vendor's stream, which is `asked` with a context that tells when it has more.
    pub(crate) fn ask<T>(&mut self, cx: &mut Context<'_>, asked: impl FnOnce(&mut Context<'_>) -> T) -> T {
        self.bell.reader.register(cx.waker());
        let rung = self.bell.rung();
        if let Some(since) = self.since.take() {
            let until = rung.unwrap_or_else(Instant::now);
            self.waited += until.saturating_duration_since(since);
        }
        asked(&mut Context::from_waker(&self.waker))
    }

    /// Content came.
    pub(crate) fn content(&mut self, tokens: u64, is_reasoning: bool) {
        if self.begun {
            self.tokens += tokens;
            self.fresh = true;
        } else {
            self.begun = !is_reasoning;
            self.waited = Duration::ZERO;
        }
    }

    /// The vendor has no more for now. `true` where it was waited for a whole window and gave less than the floor.
    pub(crate) fn nothing_yet(&mut self) -> bool {
        self.since = Some(Instant::now());
        let over = std::mem::take(&mut self.fresh) && self.waited >= self.window;
        if !over {
            return false;
        }
        let (waited, tokens) = (std::mem::take(&mut self.waited), std::mem::take(&mut self.tokens));
        to_f64(tokens) < self.floor * waited.as_secs_f64()
    }
}

#[expect(clippy::cast_precision_loss, reason = "tokens of a window are far below 2^52")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

/// Wakes the reader of a stream, and remembers when the vendor first had more for it.
#[derive(Debug, Default)]
struct Bell {
    reader: AtomicWaker,
    rung: Mutex<Option<Instant>>,
}

impl Bell {
    fn rung(&self) -> Option<Instant> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ArcWake for Bell {
    fn wake_by_ref(bell: &Arc<Self>) {
        bell.rung.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        bell.reader.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_kit::config::HumanDuration;
    use tokio::time::advance;

    const SECOND: Duration = Duration::from_secs(1);

    /// One token a second, over ten seconds.
    fn trickle() -> Trickle {
        let config = SlowStreamConfig { min_tokens_per_second: 1.0, window: HumanDuration::secs(10) };
        let mut trickle = Trickle::watch(&config).unwrap();
        trickle.content(1, false);
        assert!(!trickle.nothing_yet());
        trickle
    }

    /// The vendor takes so long for its next piece, and the reader so long to come for it. Whether it trickles by then.
    async fn piece(trickle: &mut Trickle, vendor: Duration, reader: Duration, tokens: u64) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        let waker = trickle.ask(cx, |cx| cx.waker().clone());
        trickle.nothing_yet();
        advance(vendor).await;
        waker.wake();
        advance(reader).await;
        for _ in 0..tokens {
            trickle.ask(cx, |_| ());
            trickle.content(1, false);
        }
        trickle.ask(cx, |_| ());
        trickle.nothing_yet()
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_below_the_floor_for_a_whole_window_trickles() {
        let mut trickle = trickle();
        for _ in 0..4 {
            assert!(!piece(&mut trickle, 2 * SECOND, Duration::ZERO, 1).await);
        }
        assert!(piece(&mut trickle, 2 * SECOND, Duration::ZERO, 1).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_at_the_floor_and_one_that_pauses_and_makes_up_for_it_do_not() {
        let mut trickle = trickle();
        for _ in 0..50 {
            assert!(!piece(&mut trickle, SECOND, Duration::ZERO, 1).await);
        }
        assert!(!piece(&mut trickle, 30 * SECOND, Duration::ZERO, 40).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_without_content_is_only_a_pause() {
        let mut trickle = trickle();
        let cx = &mut Context::from_waker(Waker::noop());
        // Pings wake the reader for nothing.
        for _ in 0..30 {
            trickle.ask(cx, |_| ());
            assert!(!trickle.nothing_yet());
            advance(SECOND).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_not_held_against_the_vendor() {
        let mut trickle = trickle();
        for _ in 0..100 {
            assert!(!piece(&mut trickle, SECOND / 2, 20 * SECOND, 1).await);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_window_begins_with_the_first_words_not_with_thoughts() {
        let config = SlowStreamConfig { min_tokens_per_second: 1.0, window: HumanDuration::secs(10) };
        let mut trickle = Trickle::watch(&config).unwrap();
        let cx = &mut Context::from_waker(Waker::noop());
        for _ in 0..10 {
            trickle.ask(cx, |_| ());
            trickle.nothing_yet();
            advance(9 * SECOND).await;
            trickle.ask(cx, |_| ());
            trickle.content(0, true);
            assert!(!trickle.nothing_yet());
        }
        trickle.ask(cx, |_| ());
        trickle.content(1, false);
        assert!(!trickle.nothing_yet());
        assert!(!piece(&mut trickle, 9 * SECOND, Duration::ZERO, 1).await);
    }

    #[test]
    fn without_a_floor_nothing_is_measured() {
        let config = SlowStreamConfig { min_tokens_per_second: 0.0, ..SlowStreamConfig::default() };
        assert!(Trickle::watch(&config).is_none());
    }
}
