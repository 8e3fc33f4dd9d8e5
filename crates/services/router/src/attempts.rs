//! One request's attempts: call, judge, retry or switch.

mod afford;
mod begin;
mod hedge;
mod verdict;

pub(crate) use begin::failover_rules;
pub(crate) use hedge::{Hedges, first_content};

use crate::{
    account::Seen,
    cache::Keep,
    drills::Exposure,
    health::{Passage, Took},
    metrics,
    plan::Choice,
    route::{RouteLog, Served},
    service::Dependencies,
    trace,
};
use hedge::Hedging;
use signalbox_api::{convert, status, v1};
use signalbox_kit::{
    content::{Content, ErrorTexts},
    gate::Gate,
    hop,
    telemetry::trace::Span,
};
use signalbox_resilience::{Attempts, Next, Outcome, Reconnect};
use signalbox_types::{DrillFault, ErrorReason, Failure};
use std::time::Duration;
use tokio::time::Instant;
use tonic::{Request, Status};
use v1::attempt::Cause;

/// The attempts of one request, up to the end of its answer.
pub(crate) struct Run {
    dependencies: Dependencies,
    /// Never empty.
    candidates: Vec<Choice>,
    attempts: Attempts,
    reconnect: Reconnect,
    /// The request for the next hop.
    wire: v1::GenerateRequest,
    deadline: Option<Instant>,
    attempt_timeout: Option<Duration>,
    pub(crate) first_content_timeout: Option<Duration>,
    span: Span,
    attempt: Attempt,
    /// The last failure, until another attempt is under way.
    failure: Option<Box<Failure>>,
    hedging: Option<Hedging>,
    past_breakers: bool,
    gate: Option<Gate>,
    /// Where the tenant has a policy that looks at answers.
    content: Option<Box<Content>>,
    /// Looks at what vendors say of failures.
    error_texts: Option<ErrorTexts>,
    /// Other models that may be asked after an answer that failed the gate.
    invalid_retries: u32,
    /// What drills do to it.
    exposure: Exposure,
    /// What there is to keep its answer by. Dropped with it, it lets those who wait for the answer go on.
    keep: Option<Box<Keep>>,
    pub(crate) log: RouteLog,
}

/// A vendor call, ready to be made.
pub(crate) struct Call {
    pub(crate) request: Request<v1::InvokeModelRequest>,
    /// Where what is seen of it goes.
    pub(crate) seen: Seen,
}

/// An attempt that is due or under way.
struct Attempt {
    /// Index into the candidates.
    candidate: usize,
    cause: Cause,
    /// While it is under way. Dropped with it, it says nothing of the model.
    passage: Option<Passage>,
}

impl Attempt {
    fn first() -> Self {
        Self { candidate: 0, cause: Cause::FirstChoice, passage: None }
    }

    /// The attempt as it ends; what stays is no longer under way.
    fn end(&mut self) -> Self {
        Self { passage: self.passage.take(), ..*self }
    }
}

impl Run {
    /// Starts the attempt that is due: its call. Fails when the caller's time is over before it, when nobody pays for it,
    /// or when it could not be accounted for.
    pub(crate) async fn start(mut self) -> Result<(Self, Call), Status> {
        if self.time_left().is_some_and(|left| left.is_zero()) {
            return Err(self.give_up(&too_late()));
        }
        if let Err(unpaid) = self.enter_paid().await {
            return Err(self.give_up(&unpaid));
        }
        match self.call(self.attempt.candidate, self.attempt.cause) {
            Ok(call) => Ok((self, call)),
            Err(failure) => Err(self.give_up(&failure)),
        }
    }

    fn call(&mut self, candidate: usize, cause: Cause) -> Result<Call, Failure> {
        let Some(choice) = self.candidates.get(candidate) else {
            return Err(Failure::new(ErrorReason::Internal, "there is no such candidate"));
        };
        let fault = self.exposure.fault(&self.wire, &choice.model);
        let seen = self.log.begin(&choice.model, cause, fault)?;
        Ok(Call { request: self.request(choice, fault), seen })
    }

    /// What a candidate is asked.
    fn request(&self, choice: &Choice, fault: Option<DrillFault>) -> Request<v1::InvokeModelRequest> {
        let Choice { model, bound, .. } = choice;
        let target = v1::Target { vendor: model.vendor.to_string(), model: model.model.to_string() };
        let left = self.time_left();
        let timeout = [self.attempt_timeout, left].into_iter().flatten().min();
        let mut asked = self.wire.clone();
        if let Some(cap) = bound.and_then(|bound| bound.cap) {
            asked.max_output_tokens = Some(i32::try_from(cap).unwrap_or(i32::MAX));
        }
        let message = v1::InvokeModelRequest {
            target: Some(target),
            request: Some(asked),
            timeout: timeout.map(convert::duration_to_proto),
            fault: fault.map(convert::drill_fault_to_proto),
            first_content_timeout: self.first_content_timeout.map(convert::duration_to_proto),
        };
        let mut request = Request::new(message);
        if let Some(left) = left {
            request.set_timeout(left);
        }
        self.span.inject(request.metadata_mut().as_mut());
        request
    }

    /// Goes to the next candidate whose breaker lets a call through; the last one is called in any case.
    fn enter(&mut self) {
        let health = self.dependencies.health.clone();
        while let Some(Choice { listed_as, .. }) = self.choice(self.attempt.candidate) {
            let anyway = || self.past_breakers.then(|| health.enter_anyway(listed_as));
            if let Some(passage) = health.enter(listed_as).or_else(anyway) {
                self.attempt.passage = Some(passage);
                return;
            }
            let shut_out = listed_as.clone();
            metrics::left_out(&shut_out.vendor, "breaker_open");
            let Some(next) = self.attempts.skip() else {
                self.attempt.passage = Some(health.enter_anyway(&shut_out));
                return;
            };
            self.attempt.candidate = next;
            self.attempt.cause = Cause::Fallback;
        }
    }

    fn choice(&self, candidate: usize) -> Option<&Choice> {
        self.candidates.get(candidate)
    }

    /// An attempt failed: waits and goes on to the next one, or gives what to tell the caller.
    pub(crate) async fn after(mut self, status: Status) -> Result<Self, Status> {
        let mut failure = self.judge(&status);
        let ended = self.attempt.end();
        self.record_failure(ended, &mut failure, &status);
        if self.exposure.refused(&failure) {
            self.attempt.cause = Cause::Retry;
            return Ok(self);
        }
        if failure.reason == ErrorReason::Unavailable {
            return self.after_loss(failure, hop::was_under_way(&status)).await;
        }
        self.go_on(failure, Cause::Fallback).await
    }

    /// The adapter went away, not a vendor: the same candidate is asked again at another adapter or once one is back.
    async fn after_loss(mut self, failure: Failure, under_way: bool) -> Result<Self, Status> {
        let now = Instant::now().into_std();
        let Some(wait) = self.reconnect.after_loss(under_way, now, self.time_left()) else {
            return Err(self.give_up(&failure));
        };
        self.attempt.cause = Cause::Retry;
        self.failure = Some(Box::new(failure));
        tokio::time::sleep(wait).await;
        Ok(self)
    }

    async fn go_on(mut self, failure: Failure, cause: Cause) -> Result<Self, Status> {
        let health = self.dependencies.health.clone();
        let next = self.attempts.after(&failure, false, self.time_left(), || health.may_retry());
        if next == Next::Stop {
            return Err(self.give_up(&failure));
        }
        self.failure = Some(Box::new(failure));
        match next {
            Next::Stop => Ok(self),
            Next::Switch { to } => {
                self.attempt.candidate = to;
                self.attempt.cause = cause;
                Ok(self)
            }
            Next::Retry { after } => {
                self.attempt.cause = Cause::Retry;
                tokio::time::sleep(after).await;
                Ok(self)
            }
        }
    }

    /// Records an attempt that failed, and takes out of the failure's words what the caller must not see.
    fn record_failure(&mut self, ended: Attempt, failure: &mut Failure, status: &Status) {
        if let Some(texts) = &self.error_texts {
            self.log.found(texts.look(failure));
        }
        if let Some(passage) = ended.passage {
            passage.failed(Outcome::of(failure.reason));
        }
        let Some(choice) = self.candidates.get(ended.candidate) else { return };
        self.log.failed(&choice.model, failure, status);
        metrics::attempt_failed(&choice.model.vendor, failure.reason.name());
        self.dependencies.holds.on_failure(&choice.model, failure);
    }

    /// The failure behind a status. When the caller's own time is over, that is what happened, whatever it looks
    /// like from below.
    fn judge(&self, status: &Status) -> Failure {
        let failure = status::from_status(status);
        let cut = matches!(failure.reason, ErrorReason::VendorTimeout | ErrorReason::DeadlineExceeded);
        if cut && self.time_left().is_some_and(|left| left.is_zero()) {
            return too_late();
        }
        failure
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The attempt served: the request's id, and the record of the way here.
    pub(crate) fn served(mut self, facts: v1::CallFacts, finish_reason: i32) -> (String, Served) {
        self.tell_health(&facts);
        if self.gate.is_some() {
            self.record_verdict(true);
        }
        let model = self.candidates.swap_remove(self.attempt.candidate).model;
        let mut served = self.log.served(&model, facts, finish_reason);
        trace::served(&self.span, &served.route);
        self.exposure.answered(&self.wire.tenant_id, &model, &served.route);
        let request_id = self.wire.request_id.clone();
        served.keep = self.keep.map(|keep| (keep, self.wire));
        (request_id, served)
    }

    fn tell_health(&mut self, facts: &v1::CallFacts) {
        if let Some(choice) = self.choice(self.attempt.candidate) {
            self.dependencies.holds.on_success(&choice.model, facts.quota_left);
        }
        let Some(passage) = self.attempt.passage.take() else { return };
        let duration = |wire: Option<_>| wire.and_then(convert::duration_from_proto);
        let usage = facts.usage.as_ref().map(convert::usage_from_proto).unwrap_or_default();
        passage.answered(Took {
            whole: duration(facts.latency).unwrap_or_default(),
            answer_tokens: usage.answer_tokens(),
            slow: facts.slow,
        });
    }

    /// A committed answer broke off: what to tell the caller. Nothing follows.
    pub(crate) fn broken(mut self, status: &Status) -> Status {
        let mut failure = self.judge(status);
        let ended = self.attempt.end();
        self.record_failure(ended, &mut failure, status);
        self.give_up(&failure)
    }

    fn give_up(self, failure: &Failure) -> Status {
        trace::failed(&self.span, &self.log);
        self.exposure.failed(failure.reason);
        self.log.failure(failure)
    }
}

fn too_late() -> Failure {
    Failure::new(ErrorReason::DeadlineExceeded, "the request's time was over before an answer came")
}
