//! A committed answer on its way to the client.

use crate::{attempts::Run, gate::StreamGate, metrics::RequestTimer};
use futures_util::Stream;
use signalbox_api::{
    status::{self, from_status},
    v1::{self, stream_generate_response::Event, stream_invoke_model_response::Event as CallEvent},
};
use signalbox_kit::telemetry::trace::Span;
use signalbox_types::{ErrorReason, Failure};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};
use tonic::{Status, Streaming};

/// The rest of an answer after its first event. Whatever fails from here on ends it with a status: what has reached
/// the client is never repeated, and another vendor's words are never glued to it.
pub struct AnswerStream {
    first: Option<CallEvent>,
    events: Streaming<v1::StreamInvokeModelResponse>,
    /// Gone once the end has been told.
    open: Option<Open>,
}

struct Open {
    run: Run,
    /// Only where the form of the answer matters.
    gate: Option<StreamGate>,
    timer: RequestTimer,
    span: Span,
}

impl std::fmt::Debug for AnswerStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnswerStream").finish_non_exhaustive()
    }
}

impl AnswerStream {
    pub(crate) fn new(
        first: CallEvent,
        events: Streaming<v1::StreamInvokeModelResponse>,
        run: Run,
        timer: RequestTimer,
        span: Span,
    ) -> Self {
        let gate = run.gate().cloned().map(StreamGate::new);
        Self { first: Some(first), events, open: Some(Open { run, gate, timer, span }) }
    }

    /// The event to pass on, or how the answer fails at its end.
    fn translate(&mut self, event: CallEvent) -> Option<Result<Event, Status>> {
        let gate = self.open.as_mut().and_then(|open| open.gate.as_mut());
        Some(match event {
            CallEvent::TextDelta(delta) => {
                gate.into_iter().for_each(|gate| gate.text(&delta));
                Ok(Event::TextDelta(delta))
            }
            CallEvent::ToolCallDelta(delta) => {
                gate.into_iter().for_each(|gate| gate.call(&delta));
                Ok(Event::ToolCallDelta(delta))
            }
            CallEvent::ReasoningDelta(delta) => Ok(Event::ReasoningDelta(delta)),
            CallEvent::UsageSoFar(_) => return None,
            CallEvent::Done(done) => return self.open.take().map(|open| open.end(done).map(Event::Done)),
        })
    }

    fn broken(&mut self, status: Status) -> Poll<Option<Result<v1::StreamGenerateResponse, Status>>> {
        Poll::Ready(self.open.take().map(|open| Err(open.broken(&status))))
    }
}

impl Open {
    /// The vendor has said why the answer ended; it counts if it has the form that was asked for.
    fn end(mut self, done: v1::InvokeDone) -> Result<v1::StreamDone, Status> {
        let finish = done.finish_reason();
        match self.gate.take().map_or(Ok(()), |gate| gate.check(finish)) {
            Ok(()) => Ok(self.done(done)),
            Err(failure) => {
                self.span.fail(failure.reason.name());
                let told = self.run.invalid(failure, finish, done.facts.unwrap_or_default());
                self.span.end();
                self.timer.failed(&told);
                Err(told)
            }
        }
    }

    fn done(self, done: v1::InvokeDone) -> v1::StreamDone {
        let (request_id, served) = self.run.served(done.facts.unwrap_or_default());
        self.timer.answered();
        self.span.end();
        v1::StreamDone {
            request_id,
            finish_reason: done.finish_reason,
            vendor_finish_reason: done.vendor_finish_reason,
            usage: Some(served.usage),
            cost: Some(served.cost),
            route: Some(served.route),
        }
    }

    fn broken(self, status: &Status) -> Status {
        let told = self.run.broken(status);
        self.span.fail(from_status(&told).reason.name());
        self.span.end();
        self.timer.failed(&told);
        told
    }
}

impl Stream for AnswerStream {
    type Item = Result<v1::StreamGenerateResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.open.is_none() {
            return Poll::Ready(None);
        }
        loop {
            let event = match this.first.take() {
                Some(event) => Some(event),
                None => match ready!(Pin::new(&mut this.events).poll_next(cx)) {
                    Some(Ok(message)) => message.event,
                    Some(Err(status)) => return this.broken(status),
                    None => return this.broken(status::to_status(&truncated())),
                },
            };
            if let Some(event) = event.and_then(|event| this.translate(event)) {
                return Poll::Ready(Some(
                    event.map(|event| v1::StreamGenerateResponse { event: Some(event) }),
                ));
            }
        }
    }
}

fn truncated() -> Failure {
    Failure::new(ErrorReason::StreamTruncated, "the adapter's stream ended before the answer did")
}
