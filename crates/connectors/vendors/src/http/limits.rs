//! When a call has taken too long, and in which stage.

use super::config::Timeouts;
use signalbox_types::{ErrorReason, Failure};
use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};

/// The moment a request went out: the connection took its body.
#[derive(Debug, Default)]
pub(super) struct SentAt(OnceLock<Instant>);

impl SentAt {
    /// Notes that it goes out now.
    pub(super) fn note(&self) {
        self.0.get_or_init(Instant::now);
    }
}

/// A stage of a call that can take too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Connect,
    FirstByte,
    Idle,
    Total,
}

/// The time limits of one call.
#[derive(Debug)]
pub(super) struct Limits {
    timeouts: Timeouts,
    /// Time for the whole call: the vendor entry's, or the caller's where that is shorter.
    total: Duration,
    begun: Instant,
    deadline: Instant,
    sent: Arc<SentAt>,
}

impl Limits {
    /// The limits of a call that begins now.
    pub(super) fn begin(timeouts: Timeouts, callers: Option<Duration>) -> Self {
        let total = callers.map_or(timeouts.total, |callers| callers.min(timeouts.total));
        let begun = Instant::now();
        Self { timeouts, total, begun, deadline: after(begun, total), sent: Arc::default() }
    }

    /// Until when a place is waited for: half of the time. The other half is for the answer, or for another vendor.
    pub(super) fn place_due(&self) -> Instant {
        after(self.begun, self.total / 2).min(self.deadline)
    }

    /// To be told when the request goes out.
    pub(super) fn sent(&self) -> Arc<SentAt> {
        Arc::clone(&self.sent)
    }

    /// Returns when the answer's first byte is overdue, with the stage that took too long. A connection still being
    /// made has its own limit in the connector.
    pub(super) async fn first_byte_overdue(&self) -> Stage {
        loop {
            let now = Instant::now();
            match self.overdue(now, self.first_byte_due(now)) {
                Ok(stage) => return stage,
                Err(due) => sleep_until(due).await,
            }
        }
    }

    /// When the next piece of the answer is due, asked for at `since`.
    pub(super) fn next_piece_due(&self, since: Instant) -> (Instant, Stage) {
        self.within_total(after(since, self.timeouts.idle), Stage::Idle)
    }

    /// When the first byte is due. While the request has not gone out, no earlier than if it went out at `now`.
    fn first_byte_due(&self, now: Instant) -> (Instant, Stage) {
        let sent = self.sent.0.get().copied().unwrap_or(now);
        self.within_total(after(sent, self.timeouts.first_byte), Stage::FirstByte)
    }

    fn within_total(&self, due: Instant, stage: Stage) -> (Instant, Stage) {
        if due < self.deadline { (due, stage) } else { (self.deadline, Stage::Total) }
    }

    fn overdue(&self, now: Instant, (due, stage): (Instant, Stage)) -> Result<Stage, Instant> {
        if due <= now { Ok(stage) } else { Err(due) }
    }

    /// The failure of a stage that took too long.
    pub(super) fn timeout(&self, vendor: &str, stage: Stage) -> Failure {
        let message = match stage {
            Stage::Connect => {
                format!(
                    "vendor `{vendor}`: no connection within {:?} (connect timeout)",
                    self.timeouts.connect
                )
            }
            Stage::FirstByte => {
                format!(
                    "vendor `{vendor}`: no answer within {:?} (first_byte timeout)",
                    self.timeouts.first_byte
                )
            }
            Stage::Idle => {
                format!(
                    "vendor `{vendor}`: the answer stood still for {:?} (idle timeout)",
                    self.timeouts.idle
                )
            }
            Stage::Total => {
                format!("vendor `{vendor}`: the call took longer than {:?} (total timeout)", self.total)
            }
        };
        Failure::new(ErrorReason::VendorTimeout, message)
    }
}

/// Watches over a stream that is being waited for.
///
/// The timer is not moved for each chunk: only once it has rung is it seen whether something arrived since.
#[derive(Debug, Default)]
pub(super) struct Watch {
    flowing: bool,
    waiting_since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Watch {
    /// Something arrived.
    pub(super) fn arrived(&mut self) {
        self.flowing = true;
        self.waiting_since = None;
    }

    /// Nothing is there. Ready when it should have been, with the stage that took too long. Only time that was spent
    /// waiting counts, not time in which nobody asked.
    pub(super) fn poll_overdue(&mut self, limits: &Limits, cx: &mut Context<'_>) -> Poll<Stage> {
        loop {
            let now = Instant::now();
            let since = *self.waiting_since.get_or_insert(now);
            let due = if self.flowing { limits.next_piece_due(since) } else { limits.first_byte_due(now) };
            let due = match limits.overdue(now, due) {
                Ok(stage) => return Poll::Ready(stage),
                Err(due) => due,
            };
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
            if timer.is_elapsed() || timer.deadline() > due {
                timer.as_mut().reset(due);
            }
            ready!(timer.as_mut().poll(cx));
        }
    }
}

/// `from` and `limit` later, or a far day where a clock cannot say that.
fn after(from: Instant, limit: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);
    from.checked_add(limit.min(FAR)).unwrap_or(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::{future::poll_fn, pin::pin};
    use tokio::time::advance;

    const SECOND: Duration = Duration::from_secs(1);

    fn limits() -> Limits {
        let timeouts =
            Timeouts { connect: 9 * SECOND, first_byte: 3 * SECOND, idle: 2 * SECOND, total: 20 * SECOND };
        Limits::begin(timeouts, None)
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_byte_is_waited_for_from_the_moment_the_request_went_out() {
        let (limits, begin) = (limits(), Instant::now());
        let mut overdue = pin!(limits.first_byte_overdue());
        assert!(overdue.as_mut().now_or_never().is_none());
        advance(4 * SECOND).await;
        assert!(overdue.as_mut().now_or_never().is_none(), "still connecting");
        limits.sent().note();
        assert_eq!(overdue.await, Stage::FirstByte);
        assert_eq!(begin.elapsed(), 7 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_never_goes_out_ends_with_its_total_time() {
        let (limits, begin) = (limits(), Instant::now());
        assert_eq!(limits.first_byte_overdue().await, Stage::Total);
        assert_eq!(begin.elapsed(), 20 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn the_callers_time_counts_where_it_is_shorter() {
        let limits = Limits::begin(limits().timeouts, Some(SECOND));
        limits.sent().note();
        assert_eq!(limits.first_byte_overdue().await, Stage::Total);
        assert!(limits.timeout("acme", Stage::Total).message.contains("longer than 1s"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_is_idle_from_when_it_was_asked_in_vain() {
        let (limits, mut watch, begin) = (limits(), Watch::default(), Instant::now());
        watch.arrived();
        assert!(poll_fn(|cx| watch.poll_overdue(&limits, cx)).now_or_never().is_none());
        advance(SECOND).await;
        watch.arrived();
        advance(5 * SECOND).await;
        let stage = poll_fn(|cx| watch.poll_overdue(&limits, cx)).await;
        assert_eq!(
            (stage, begin.elapsed()),
            (Stage::Idle, 8 * SECOND),
            "a slow reader's own time does not count"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_has_not_begun_is_held_to_the_first_byte() {
        let (limits, mut watch, begin) = (limits(), Watch::default(), Instant::now());
        limits.sent().note();
        let stage = poll_fn(|cx| watch.poll_overdue(&limits, cx)).await;
        assert_eq!((stage, begin.elapsed()), (Stage::FirstByte, 3 * SECOND));
    }
}
