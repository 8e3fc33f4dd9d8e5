//! The account of one vendor call, kept whatever its end.

mod span;

use crate::{
    call::Call,
    fault::Injected,
    health::{self, CallEnd, CallUnderWay},
    heartbeat::{ProbeAccount, ProbeEnd},
    service::Dependencies,
    trickle::Trickle,
};
use signalbox_api::{convert, status, v1};
use signalbox_kit::telemetry::trace::Span;
use signalbox_ports::{CallOutcome, CallRecord};
use signalbox_pricing::{Day, SoFar};
use signalbox_types::{
    Adjustment, ErrorReason, Failure, FinishReason, Lane, ModelRef, Money, StreamEvent, TokenUsage,
    UsageSource,
};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

/// Measures a call from its start. Dropped without an end, it records that the caller went away, with an estimate of
/// what was used until then.
pub(crate) struct Meter {
    dependencies: Dependencies,
    health: CallUnderWay,
    span: Span,
    started: Instant,
    first_token: Option<Duration>,
    request_id: String,
    tenant_id: String,
    model: ModelRef,
    /// The model as accounts, health and metrics name it.
    listed_as: ModelRef,
    lane: Lane,
    simulated: bool,
    injected: Option<Injected>,
    probe: bool,
    so_far: SoFar,
    /// The vendor asked to wait.
    hold: Option<Duration>,
    quota_left: Option<f64>,
    slow: bool,
    /// Of a heartbeat. The account of a request is its router's.
    account: Option<ProbeAccount>,
    ended: bool,
}

impl Meter {
    pub(crate) fn start(dependencies: &Dependencies, call: &Call, parent: &Span) -> Self {
        let span = span::start(&dependencies.config.catalog(), call, parent);
        let listed_as = call.listed_as();
        Self {
            dependencies: dependencies.clone(),
            health: dependencies.health.begin(&listed_as),
            span,
            started: Instant::now(),
            first_token: None,
            request_id: call.request.request_id.clone(),
            tenant_id: call.request.tenant_id.clone(),
            model: call.model.clone(),
            listed_as,
            lane: call.request.lane,
            simulated: call.vendor.simulated(),
            injected: call.injected.clone(),
            probe: call.probe,
            so_far: SoFar::new(call.prompt_tokens),
            hold: None,
            quota_left: None,
            slow: false,
            account: None,
            ended: false,
        }
    }

    /// The same for a heartbeat with this account.
    pub(crate) fn accounted(mut self, account: ProbeAccount) -> Self {
        self.account = Some(account);
        self
    }

    /// Content has arrived. By how many tokens the answer grew.
    pub(crate) fn content(&mut self, event: &StreamEvent) -> u64 {
        if self.first_token.is_none() {
            self.first_token = Some(self.started.elapsed());
        }
        self.so_far.event(event)
    }

    /// The vendor has told what is left of its quota.
    pub(crate) fn quota_left(&mut self, share: Option<f64>) {
        self.quota_left = share.or(self.quota_left);
    }

    /// A watch over the pace of the stream, where the configuration wants one.
    pub(crate) fn watch_trickle(&self) -> Option<Trickle> {
        Trickle::watch(&self.dependencies.config.loaded().config.slow_stream)
    }

    /// The stream trickles.
    pub(crate) fn slow(&mut self) {
        self.slow = true;
    }

    /// The vendor has reported usage.
    pub(crate) fn reported(&mut self, usage: Option<TokenUsage>) {
        if let Some(usage) = usage {
            self.so_far.reported(usage);
        }
    }

    /// Usage by our own estimate.
    pub(crate) fn estimate(&self, answer_tokens: u64) -> TokenUsage {
        self.so_far.estimate(answer_tokens)
    }

    /// Tokens of the answer so far, by our own estimate.
    pub(crate) fn answer_tokens_so_far(&self) -> u64 {
        self.so_far.answer_tokens()
    }

    /// The call ended with an answer.
    pub(crate) fn answered(
        mut self,
        usage: TokenUsage,
        served_model: String,
        vendor_request_id: String,
        adjustments: Vec<Adjustment>,
        finish_reason: FinishReason,
    ) -> v1::CallFacts {
        span::finished(&self.span, finish_reason);
        if let Some(account) = &mut self.account {
            account.finished(finish_reason);
        }
        self.embedded(usage, served_model, vendor_request_id, adjustments)
    }

    /// The call ended with vectors.
    pub(crate) fn embedded(
        mut self,
        usage: TokenUsage,
        served_model: String,
        vendor_request_id: String,
        adjustments: Vec<Adjustment>,
    ) -> v1::CallFacts {
        if self.span.is_recording() {
            self.span.set("gen_ai.response.model", served_model.clone());
        }
        if let Some(account) = &mut self.account {
            account.answered(&served_model, &vendor_request_id);
        }
        let (cost, latency) = self.end(CallOutcome::Answered, usage);
        v1::CallFacts {
            usage: Some(convert::usage_to_proto(&usage)),
            cost: Some(self.cost_to_proto(cost)),
            latency: Some(convert::duration_to_proto(latency)),
            time_to_first_token: self.first_token.map(convert::duration_to_proto),
            served_model,
            vendor_request_id,
            adjustments: convert::adjustments_to_proto(adjustments),
            simulated: self.simulated,
            quota_left: self.quota_left,
            slow: self.slow,
        }
    }

    /// The call failed. `usage`: what the vendor had reported until then.
    pub(crate) fn fail(mut self, failure: &Failure, usage: Option<TokenUsage>) -> Status {
        self.reported(usage);
        if let Some(arrived) = &failure.arrived {
            self.reported(arrived.usage);
            self.so_far.arrived(arrived.answer_tokens);
        }
        self.quota_left(failure.quota_left_percent.map(|percent| f64::from(percent) / 100.0));
        self.hold = health::hold(failure);
        let usage = self.used_until_failure(failure.reason);
        let (cost, latency) = self.end(CallOutcome::Failed(failure.reason), usage);
        let detail = v1::CallFailure {
            vendor_status: failure.vendor_status.map_or(0, u32::from),
            vendor_code: failure.vendor_code.clone(),
            vendor_request_id: failure.vendor_request_id.clone(),
            usage: Some(convert::usage_to_proto(&usage)),
            cost: Some(self.cost_to_proto(cost)),
            latency: Some(convert::duration_to_proto(latency)),
            simulated: self.simulated,
            quota_left: self.quota_left,
        };
        status::to_status_with(failure, vec![status::any(&detail)])
    }

    /// A call that the vendor refused used nothing. One that broke off was worked on: the vendor's own figures where
    /// they came, but never below our estimate of what had arrived.
    fn used_until_failure(&self, reason: ErrorReason) -> TokenUsage {
        let worked_on = self.first_token.is_some()
            || self.so_far.is_reported()
            || self.so_far.answer_tokens() > 0
            || matches!(
                reason,
                ErrorReason::VendorTimeout
                    | ErrorReason::StreamTruncated
                    | ErrorReason::VendorBadResponse
                    | ErrorReason::Cancelled
            );
        if worked_on { self.used_so_far() } else { nothing_used() }
    }

    fn used_so_far(&self) -> TokenUsage {
        if self.injected.as_ref().is_some_and(|injected| !injected.reached()) {
            return nothing_used();
        }
        self.so_far.used()
    }

    fn end(&mut self, outcome: CallOutcome, usage: TokenUsage) -> (Option<Money>, Duration) {
        self.ended = true;
        let latency = self.started.elapsed();
        let day = Day::of(self.dependencies.clock.now());
        let cost = self.dependencies.config.catalog().prices().cost(&self.model, &usage, self.lane, day);
        span::end(&self.span, outcome, &usage);
        self.tell_health(outcome, &usage, latency);
        if let Some(account) = self.account.take() {
            let (first_token, cost) = (self.first_token, self.cost_to_proto(cost));
            account.close(&ProbeEnd { outcome, usage, cost, latency, first_token });
        }
        self.dependencies.calls.record(CallRecord {
            request_id: std::mem::take(&mut self.request_id),
            tenant_id: std::mem::take(&mut self.tenant_id),
            target: self.listed_as.clone(),
            outcome,
            usage,
            cost,
            latency: Some(latency),
            time_to_first_token: self.first_token,
            simulated: self.simulated,
            probe: self.probe,
        });
        (cost, latency)
    }

    fn tell_health(&self, outcome: CallOutcome, usage: &TokenUsage, whole: Duration) {
        self.health.end(&CallEnd {
            outcome,
            whole,
            first_token: self.first_token,
            // The single token of a probe takes as long as a whole answer's start.
            answer_tokens: if self.probe { 0 } else { usage.answer_tokens() },
            slow: self.slow,
            hold: self.hold,
            quota_left: self.quota_left,
        });
    }

    fn cost_to_proto(&self, cost: Option<Money>) -> v1::Cost {
        convert::cost_to_proto(cost, self.dependencies.config.catalog().prices().price_version())
    }
}

/// Zero tokens, and that is known.
fn nothing_used() -> TokenUsage {
    TokenUsage { source: UsageSource::Vendor, ..TokenUsage::default() }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if !self.ended {
            let usage = self.used_so_far();
            self.end(CallOutcome::Cancelled, usage);
        }
    }
}
