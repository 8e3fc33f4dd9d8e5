//! A committed answer on its way to the client.

use crate::{
    account::Seen,
    attempts::Run,
    cache::{Answered, Gathered},
    metrics::RequestTimer,
};
use futures_util::Stream;
use signalbox_api::{
    status::{self, from_status},
    v1::{self, stream_generate_response::Event, stream_invoke_model_response::Event as CallEvent},
};
use signalbox_kit::{content::StreamContent, gate::StreamGate, telemetry::trace::Span};
use signalbox_types::{ErrorReason, Failure};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};
use tonic::{Status, Streaming};

/// A streamed call whose first content has come.
pub(crate) struct Begun {
    pub(crate) first: CallEvent,
    pub(crate) events: Streaming<v1::StreamInvokeModelResponse>,
    pub(crate) seen: Seen,
}

/// Whether an event is for the account only: nothing of an answer has come with it.
pub(crate) fn is_news_of_usage(event: &CallEvent) -> bool {
    matches!(event, CallEvent::UsageSoFar(_) | CallEvent::WithheldTokens(_))
}

/// The rest of an answer after its first event. Whatever fails from here on ends it with a status: what has reached
/// the client is never repeated, and another vendor's words are never glued to it.
pub struct AnswerStream {
    first: Option<CallEvent>,
    seen: Seen,
    /// Gone once the vendor is to be stopped.
    events: Option<Streaming<v1::StreamInvokeModelResponse>>,
    /// Only where the tenant has a policy that looks at answers.
    content: Option<Box<StreamContent>>,
    /// What has passed of an answer that is to be kept.
    gathered: Option<Gathered>,
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
    pub(crate) fn new(begun: Begun, mut run: Run, timer: RequestTimer, span: Span) -> Self {
        let gate = run.gate().cloned().map(StreamGate::new);
        let content = run.take_content();
        let content = content.map(|content| Box::new(StreamContent::new(content, run.gate().cloned())));
        let gathered = run.may_be_kept().then(Gathered::new);
        let open = Some(Open { run, gate, timer, span });
        let Begun { first, events, seen } = begun;
        Self { first: Some(first), seen, events: Some(events), content, gathered, open }
    }

    /// Lets the gate see an event as the vendor sent it.
    fn observe(&mut self, event: &CallEvent) {
        let Some(gate) = self.open.as_mut().and_then(|open| open.gate.as_mut()) else { return };
        match event {
            CallEvent::TextDelta(delta) => gate.text(delta),
            CallEvent::ToolCallDelta(delta) => gate.call(delta),
            _ => {}
        }
    }

    /// The event to pass on, or how the answer fails at its end.
    fn translate(&mut self, event: CallEvent) -> Option<Result<Event, Status>> {
        Some(match event {
            CallEvent::TextDelta(delta) => Ok(Event::TextDelta(delta)),
            CallEvent::ToolCallDelta(delta) => Ok(Event::ToolCallDelta(delta)),
            CallEvent::ReasoningDelta(delta) => Ok(Event::ReasoningDelta(delta)),
            CallEvent::UsageSoFar(_) | CallEvent::WithheldTokens(_) => return None,
            CallEvent::Done(done) => {
                let findings = self.findings();
                let content = self.gathered.take().and_then(Gathered::whole);
                return self.open.take().map(|open| open.end(done, findings, content).map(Event::Done));
            }
        })
    }

    fn findings(&mut self) -> Vec<v1::ContentFinding> {
        self.content.as_mut().map(|content| content.take_findings()).unwrap_or_default()
    }

    /// The vendor's next event.
    fn poll_vendor(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<CallEvent>, Status>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Ok(Some(first)));
        }
        let next = match &mut self.events {
            Some(events) => ready!(Pin::new(events).poll_next(cx)),
            None => None,
        };
        Poll::Ready(match next {
            Some(message) => message.map(|message| message.event.inspect(|event| self.account_for(event))),
            None => Err(status::to_status(&truncated())),
        })
    }

    fn account_for(&mut self, event: &CallEvent) {
        self.seen.event(event);
        if let Some(open) = &mut self.open {
            open.run.log.seen_more(&self.seen);
        }
    }

    /// The next event that may be passed on: the vendor's, or what the content policy leaves of it.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<CallEvent>, Stop>> {
        if let Some(content) = &mut self.content
            && let Some(event) = ready!(content.poll_passed(cx)).map_err(Stop::Refused)?
        {
            return Poll::Ready(Ok(Some(event)));
        }
        let Some(event) = ready!(self.poll_vendor(cx)).map_err(Stop::Broken)? else {
            return Poll::Ready(Ok(None));
        };
        self.observe(&event);
        match &mut self.content {
            None => Poll::Ready(Ok(Some(event))),
            Some(content) => Poll::Ready(content.take(event).map(|()| None).map_err(Stop::Refused)),
        }
    }

    /// Ends the answer with a status.
    fn stop(&mut self, stop: Stop) -> Option<Result<v1::StreamGenerateResponse, Status>> {
        // Dropping its stream stops the vendor call.
        self.events = None;
        let findings = self.findings();
        let open = self.open.take()?;
        Some(Err(match stop {
            Stop::Broken(status) => open.broken(&status, findings),
            Stop::Refused(failure) => open.refused(&failure, findings),
        }))
    }
}

/// Why an answer ends before its time.
enum Stop {
    /// The vendor or the way to it failed.
    Broken(Status),
    /// The content policy refuses it.
    Refused(Failure),
}

impl Open {
    /// The vendor has said why the answer ended; it counts if it has the form that was asked for.
    fn end(
        mut self,
        done: v1::InvokeDone,
        findings: Vec<v1::ContentFinding>,
        content: Option<Vec<v1::Part>>,
    ) -> Result<v1::StreamDone, Status> {
        self.run.log.found(findings);
        let finish = done.finish_reason();
        match self.gate.take().map_or(Ok(()), |gate| gate.check(finish)) {
            Ok(()) => Ok(self.done(done, content)),
            Err(failure) => {
                self.span.fail(failure.reason.name());
                let told = self.run.invalid(failure, finish, done.facts.unwrap_or_default());
                self.span.end();
                self.timer.failed(&told);
                Err(told)
            }
        }
    }

    fn done(self, done: v1::InvokeDone, content: Option<Vec<v1::Part>>) -> v1::StreamDone {
        let finish_reason = done.finish_reason();
        let (request_id, mut served) = self.run.served(done.facts.unwrap_or_default(), done.finish_reason);
        if let Some(content) = content {
            let vendor_finish_reason = done.vendor_finish_reason.clone();
            served.keep(|| Answered { content, finish_reason, vendor_finish_reason });
        }
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

    fn broken(mut self, status: &Status, findings: Vec<v1::ContentFinding>) -> Status {
        self.run.log.found(findings);
        let Self { run, timer, span, .. } = self;
        fail(run.broken(status), timer, &span)
    }

    fn refused(mut self, failure: &Failure, findings: Vec<v1::ContentFinding>) -> Status {
        self.run.log.found(findings);
        let Self { run, timer, span, .. } = self;
        fail(run.refused(failure, None), timer, &span)
    }
}

fn fail(told: Status, timer: RequestTimer, span: &Span) -> Status {
    span.fail(from_status(&told).reason.name());
    span.end();
    timer.failed(&told);
    told
}

impl Stream for AnswerStream {
    type Item = Result<v1::StreamGenerateResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.open.is_none() {
            return Poll::Ready(None);
        }
        loop {
            let event = match ready!(this.poll_event(cx)) {
                Ok(event) => event,
                Err(stop) => return Poll::Ready(this.stop(stop)),
            };
            if let Some(event) = event.and_then(|event| this.translate(event)) {
                if let (Some(gathered), Ok(event)) = (&mut this.gathered, &event) {
                    gathered.take(event);
                }
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
