//! What the adapter has seen of a vendor, as it reports it to routers.

use crate::world::Reply;
use signalbox_api::{convert::duration_to_proto, v1};
use signalbox_resilience::{Outcome, SlidingSketch, Window};
use signalbox_types::Failure;
use std::time::{Duration, Instant};

/// Counts and latencies of a vendor's calls, by all routers.
#[derive(Debug)]
pub(crate) struct Monitor {
    calls: Window,
    per_token: SlidingSketch,
    served_at: Option<Instant>,
    held_until: Option<Instant>,
}

impl Monitor {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            calls: Window::new(now),
            per_token: SlidingSketch::new(now),
            served_at: None,
            held_until: None,
        }
    }

    pub(crate) fn served(&mut self, reply: &Reply, now: Instant) {
        self.calls.record(Outcome::Success, now);
        self.per_token.record(reply.took.div_f64(reply.tokens as f64), now);
        self.served_at = Some(now);
    }

    pub(crate) fn failed(&mut self, failure: &Failure, now: Instant) {
        self.calls.record(Outcome::of(failure.reason), now);
        let until = failure.retry_after.map(|wait| now + wait);
        self.held_until = self.held_until.max(until);
    }

    pub(crate) fn report(&self, target: v1::Target, in_flight: u32, now: Instant) -> v1::WatchHealthResponse {
        let counts = self.calls.counts(Window::FIVE_MINUTES, now);
        let held_for = self.held_until.map(|until| until.saturating_duration_since(now));
        let served_ago = self.served_at.map(|at| now.saturating_duration_since(at));
        v1::WatchHealthResponse {
            target: Some(target),
            adapter_id: "simulation".to_owned(),
            window: Some(duration_to_proto(Window::FIVE_MINUTES)),
            calls: counts.calls,
            failures: counts.failures,
            timeouts: counts.timeouts,
            latency_sketch: self.per_token.sketch(now).encode().into(),
            in_flight,
            retry_after: held_for.filter(|left| *left > Duration::ZERO).map(duration_to_proto),
            served_ago: served_ago.map(duration_to_proto),
            ..Default::default()
        }
    }
}
