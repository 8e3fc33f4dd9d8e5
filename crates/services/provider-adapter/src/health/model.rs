//! The health of one model, and its report.

use super::CallEnd;
use signalbox_api::{convert::duration_to_proto, v1};
use signalbox_resilience::{Outcome, SlidingSketch, Strike, Window};
use signalbox_types::ModelRef;
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// How long a vendor's word on its quota counts; most quotas are by the minute.
const QUOTA_COUNTS: Duration = Duration::from_secs(60);

/// What was seen of a model.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) name: ModelRef,
    in_flight: AtomicU32,
    /// Calls that have ended: a report is due when it has changed.
    ended: AtomicU64,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    calls: Window,
    /// Time of whole answers, per token of the answer.
    per_token: SlidingSketch,
    first_token: SlidingSketch,
    strike: Strike,
    heard_at: Option<Instant>,
    held_until: Option<Instant>,
    quota_left: Option<(f64, Instant)>,
}

impl Model {
    pub(super) fn new(name: ModelRef, now: Instant) -> Self {
        let seen = Seen {
            calls: Window::new(now),
            per_token: SlidingSketch::new(now),
            first_token: SlidingSketch::new(now),
            strike: Strike::default(),
            heard_at: None,
            held_until: None,
            quota_left: None,
        };
        Self { name, in_flight: AtomicU32::new(0), ended: AtomicU64::new(0), seen: Mutex::new(seen) }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begins(&self, now: Instant) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.seen().strike.asked(now);
    }

    pub(super) fn left(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn ended(&self, end: &CallEnd, now: Instant) {
        self.seen().ended(end, now);
        self.ended.fetch_add(1, Ordering::Release);
    }

    /// Calls that have ended so far.
    pub(super) fn version(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    pub(super) fn heard_at(&self) -> Option<Instant> {
        self.seen().heard_at
    }

    pub(super) fn report(&self, adapter_id: &str, now: Instant) -> v1::WatchHealthResponse {
        let seen = self.seen();
        let counts = seen.calls.counts(Window::FIVE_MINUTES, now);
        let held_for = seen.held_until.map(|until| until.saturating_duration_since(now));
        let ago = |at: Instant| now.saturating_duration_since(at);
        v1::WatchHealthResponse {
            target: Some(v1::Target {
                vendor: self.name.vendor.to_string(),
                model: self.name.model.to_string(),
            }),
            adapter_id: adapter_id.to_owned(),
            window: Some(duration_to_proto(Window::FIVE_MINUTES)),
            calls: counts.calls,
            failures: counts.failures,
            timeouts: counts.timeouts,
            latency_sketch: seen.per_token.sketch(now).encode().into(),
            time_to_first_token_sketch: seen.first_token.sketch(now).encode().into(),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            retry_after: held_for.filter(|left| !left.is_zero()).map(duration_to_proto),
            quota_left: seen.quota_left.filter(|(_, at)| ago(*at) < QUOTA_COUNTS).map(|(left, _)| left),
            unserved_for: seen.strike.unserved_for(now).map(duration_to_proto),
            served_ago: seen.strike.served_at().map(ago).map(duration_to_proto),
        }
    }
}

impl Seen {
    fn ended(&mut self, end: &CallEnd, now: Instant) {
        let verdict = end.verdict();
        self.calls.record(verdict, now);
        if verdict == Outcome::Success && end.answer_tokens > 0 {
            let tokens = u32::try_from(end.answer_tokens).unwrap_or(u32::MAX);
            self.per_token.record(end.whole / tokens, now);
        }
        if let Some(first_token) = end.first_token {
            self.first_token.record(first_token, now);
        }
        if end.served() {
            self.strike.served(now);
        }
        if end.is_news() {
            self.heard_at = self.heard_at.max(Some(now));
        }
        if let Some(hold) = end.hold {
            // A shorter wish never shortens a longer one.
            self.held_until = self.held_until.max(now.checked_add(hold));
        }
        if let Some(left) = end.quota_left {
            self.quota_left = Some((left, now));
        }
    }
}
