//! A vendor's stream on its way to the router, measured.

use crate::{meter::Meter, patience::Patience, trickle::Trickle};
use futures_util::Stream;
use signalbox_api::{convert, v1};
use signalbox_ports::{BoxAnswerStream, VendorReply};
use signalbox_types::{Adjustment, Completion, Failure, StreamEvent, TokenUsage, UsageSource};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};
use tonic::Status;
use v1::stream_invoke_model_response::Event;

/// The events of one call. Dropping it stops the vendor call and records what was used.
pub struct MeteredStream {
    events: BoxAnswerStream,
    adjustments: Vec<Adjustment>,
    request_id: String,
    keep_reasoning: bool,
    /// To be passed on before the vendor is asked for more.
    next: Option<Event>,
    /// The vendor's last report that was passed on.
    told: Option<TokenUsage>,
    /// `None` where slowness does not count.
    trickle: Option<Trickle>,
    /// Gone once content has come, or where silence is not limited.
    patience: Option<Patience>,
    /// Gone once the end has been told.
    meter: Option<Meter>,
}

impl std::fmt::Debug for MeteredStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MeteredStream").finish_non_exhaustive()
    }
}

impl MeteredStream {
    pub(crate) fn new(
        reply: VendorReply<BoxAnswerStream>,
        mut meter: Meter,
        patience: Option<Patience>,
        keep_reasoning: bool,
    ) -> Self {
        let VendorReply { value: events, adjustments, request_id, quota_left } = reply;
        meter.quota_left(quota_left);
        let trickle = meter.watch_trickle();
        Self {
            events,
            adjustments,
            request_id,
            keep_reasoning,
            next: None,
            told: None,
            trickle,
            patience,
            meter: Some(meter),
        }
    }

    /// The vendor's next event, or its failure to send content in time.
    fn poll_in_time(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<StreamEvent, Failure>>> {
        let polled = self.poll_vendor(cx);
        match &mut self.patience {
            Some(patience) if polled.is_pending() => patience.poll_over(cx).map(|failure| Some(Err(failure))),
            _ => polled,
        }
    }

    /// The vendor's next event.
    fn poll_vendor(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<StreamEvent, Failure>>> {
        let Some(trickle) = &mut self.trickle else { return self.events.as_mut().poll_next(cx) };
        let polled = trickle.ask(cx, |cx| self.events.as_mut().poll_next(cx));
        if polled.is_pending()
            && trickle.nothing_yet()
            && let Some(meter) = &mut self.meter
        {
            meter.slow();
        }
        polled
    }

    /// The event to pass on; `None` for one that the caller did not ask for.
    fn translate(&mut self, event: StreamEvent) -> Option<Event> {
        let tokens = if event.commits() { self.content(&event) } else { 0 };
        match event {
            StreamEvent::Text(text) => Some(Event::TextDelta(v1::TextDelta { text })),
            StreamEvent::ToolCall(delta) => {
                Some(Event::ToolCallDelta(convert::tool_call_delta_to_proto(delta)))
            }
            StreamEvent::Reasoning(delta) if self.keep_reasoning || delta.signature.is_some() => {
                Some(Event::ReasoningDelta(convert::reasoning_delta_to_proto(delta)))
            }
            StreamEvent::Reasoning(_) => (tokens > 0).then_some(Event::WithheldTokens(tokens)),
            StreamEvent::Done(completion) => {
                self.meter.take().map(|meter| Event::Done(self.done(completion, meter)))
            }
        }
    }

    /// Content has come, and with it perhaps word of what was used so far. By how many tokens the answer grew.
    fn content(&mut self, event: &StreamEvent) -> u64 {
        self.patience = None;
        let Some(meter) = &mut self.meter else { return 0 };
        let tokens = meter.content(event);
        if let Some(trickle) = &mut self.trickle {
            trickle.content(tokens, matches!(event, StreamEvent::Reasoning(_)));
        }
        if let Some(usage) = self.events.vendor_usage()
            && self.told != Some(usage)
        {
            meter.reported(Some(usage));
            self.told = Some(usage);
            self.next = Some(Event::UsageSoFar(convert::usage_to_proto(&usage)));
        }
        tokens
    }

    fn done(&mut self, completion: Completion, meter: Meter) -> v1::InvokeDone {
        let mut usage = completion.usage;
        if usage.source == UsageSource::Unknown {
            usage = meter.estimate(meter.answer_tokens_so_far());
        }
        let facts = meter.answered(
            usage,
            completion.model,
            std::mem::take(&mut self.request_id),
            std::mem::take(&mut self.adjustments),
            completion.finish_reason,
        );
        v1::InvokeDone {
            finish_reason: convert::finish_reason_to_proto(completion.finish_reason) as i32,
            vendor_finish_reason: completion.vendor_finish_reason,
            facts: Some(facts),
        }
    }
}

impl Stream for MeteredStream {
    type Item = Result<v1::StreamInvokeModelResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.next.take() {
                return Poll::Ready(Some(Ok(v1::StreamInvokeModelResponse { event: Some(event) })));
            }
            if this.meter.is_none() {
                return Poll::Ready(None);
            }
            match ready!(this.poll_in_time(cx)) {
                Some(Ok(event)) => {
                    if let Some(event) = this.translate(event) {
                        return Poll::Ready(Some(Ok(v1::StreamInvokeModelResponse { event: Some(event) })));
                    }
                }
                Some(Err(failure)) => {
                    let usage = this.events.vendor_usage();
                    return Poll::Ready(this.meter.take().map(|meter| Err(meter.fail(&failure, usage))));
                }
                None => this.meter = None,
            }
        }
    }
}
