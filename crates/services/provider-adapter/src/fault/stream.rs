//! A vendor's stream that breaks off or trickles.

use super::{Due, FaultyVendor, ON_PURPOSE};
use futures_util::Stream;
use signalbox_ports::{AnswerStream, BoxAnswerStream};
use signalbox_types::{DrillFault, ErrorReason, Failure, StreamEvent, TokenUsage};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};

/// The events of one answer, with a fault.
pub(super) struct FaultyStream {
    vendor: Arc<str>,
    events: BoxAnswerStream,
    /// Events with content until it breaks off.
    left: Option<u32>,
    /// The pause before each event.
    pause: Duration,
    idle: Duration,
    /// When the next event is let through, or that it is too late then.
    wait: Option<Wait>,
    /// When the first event is due, until it has come.
    first: Option<(Due, Pin<Box<Sleep>>)>,
    over: bool,
}

/// A pause under way.
struct Wait {
    until: Pin<Box<Sleep>>,
    /// What the pause exceeds.
    exceeds: Option<Due>,
}

impl FaultyStream {
    pub(super) fn new(events: BoxAnswerStream, vendor: &FaultyVendor, first: Due) -> Self {
        let (left, pause) = match vendor.injected.fault {
            DrillFault::CutAfter(events) => (Some(events), Duration::ZERO),
            DrillFault::Trickle(pause) => (None, pause),
            DrillFault::Status(_) | DrillFault::Delay(_) => (None, Duration::ZERO),
        };
        let mut stream = Self {
            vendor: vendor.name.clone(),
            events,
            left,
            pause,
            idle: vendor.timeouts.idle,
            wait: None,
            first: Some((first, Box::pin(sleep_until(first.at)))),
            over: false,
        };
        stream.pause(first);
        stream
    }

    /// Pauses before the next event, which is due by `due`.
    fn pause(&mut self, due: Due) {
        if self.pause.is_zero() {
            return;
        }
        let end = Instant::now() + self.pause;
        let exceeds = (end > due.at).then_some(due);
        self.wait = Some(Wait { until: Box::pin(sleep_until(end.min(due.at))), exceeds });
    }

    fn end(&mut self, failure: Failure) -> Poll<Option<Result<StreamEvent, Failure>>> {
        self.over = true;
        Poll::Ready(Some(Err(failure)))
    }

    fn arrived(&mut self, event: &StreamEvent) {
        self.first = None;
        if !matches!(event, StreamEvent::Done(_)) {
            self.pause(Due::within([("idle", self.idle)]));
        }
        if event.commits()
            && let Some(left) = &mut self.left
        {
            *left = left.saturating_sub(1);
        }
    }
}

impl Stream for FaultyStream {
    type Item = Result<StreamEvent, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.over {
            return Poll::Ready(None);
        }
        if this.left == Some(0) {
            let message = format!("vendor `{}`: the stream broke off, {ON_PURPOSE}", this.vendor);
            return this.end(Failure::new(ErrorReason::StreamTruncated, message));
        }
        if let Some(wait) = &mut this.wait {
            ready!(wait.until.as_mut().poll(cx));
            if let Some(due) = wait.exceeds {
                let failure = due.missed(&this.vendor);
                return this.end(failure);
            }
            this.wait = None;
        }
        match this.events.as_mut().poll_next(cx) {
            Poll::Ready(next) => {
                if let Some(Ok(event)) = &next {
                    this.arrived(event);
                }
                Poll::Ready(next)
            }
            Poll::Pending => {
                let Some((due, late)) = &mut this.first else { return Poll::Pending };
                ready!(late.as_mut().poll(cx));
                let failure = due.missed(&this.vendor);
                this.end(failure)
            }
        }
    }
}

impl AnswerStream for FaultyStream {
    fn vendor_usage(&self) -> Option<TokenUsage> {
        self.events.vendor_usage()
    }
}
