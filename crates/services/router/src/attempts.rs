//! One request's attempts: call, judge, retry or switch.

use crate::{
    admission::Admitted,
    gate::Gate,
    health::{Passage, Took},
    metrics,
    plan::{Choice, Planned},
    route::{RouteLog, Served},
    service::Dependencies,
};
use signalbox_api::{convert, status, v1};
use signalbox_kit::{catalog::Catalog, telemetry::trace::Span};
use signalbox_resilience::{Attempts, FailoverRules, Next, Outcome};
use signalbox_types::{ErrorReason, Failure, FallbackPolicy};
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
    /// The request for the next hop.
    wire: v1::GenerateRequest,
    deadline: Option<Instant>,
    attempt_timeout: Option<Duration>,
    first_content_timeout: Option<Duration>,
    span: Span,
    current: usize,
    cause: Cause,
    past_breakers: bool,
    passage: Option<Passage>,
    gate: Option<Gate>,
    /// An answer has failed the gate already.
    gated_once: bool,
    log: RouteLog,
}

impl Run {
    pub(crate) fn new(
        dependencies: &Dependencies,
        catalog: &Catalog,
        admitted: Admitted,
        mut planned: Planned,
        started: Instant,
        span: Span,
    ) -> Self {
        let Admitted { request, deadline, attempt_timeout, first_content_timeout } = admitted;
        let failover = catalog.failover();
        let max_same_vendor_retries = match request.fallback {
            FallbackPolicy::Disabled => 0,
            FallbackPolicy::Default => failover.max_same_vendor_retries,
        };
        let rules =
            FailoverRules { quick_retry_delay: failover.quick_retry_delay.0, max_same_vendor_retries };
        let vendors = planned.candidates.iter().map(|choice| choice.model.vendor.clone()).collect();
        let log = RouteLog::new(request.request_id.clone(), started, &mut planned);
        dependencies.health.on_request();
        Self {
            dependencies: dependencies.clone(),
            candidates: planned.candidates,
            attempts: Attempts::new(rules, vendors),
            gate: Gate::of(&request.prompt),
            wire: convert::generate_request_to_proto(request),
            deadline,
            attempt_timeout,
            first_content_timeout,
            span,
            current: 0,
            cause: Cause::FirstChoice,
            past_breakers: planned.past_breakers,
            passage: None,
            gated_once: false,
            log,
        }
    }

    /// What the answer is held to.
    pub(crate) fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    /// Waits for the first content of a streamed attempt, for as long as the task type allows.
    pub(crate) async fn within_first_content<T>(
        &self,
        content: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, Status> {
        let Some(limit) = self.first_content_timeout else { return content.await };
        tokio::time::timeout(limit, content).await.unwrap_or_else(|_| {
            let message = format!(
                "no content came within {} ms (first_byte_timeout of the task type)",
                limit.as_millis()
            );
            Err(status::to_status(&Failure::new(ErrorReason::VendorTimeout, message)))
        })
    }

    /// Starts the attempt that is due: its request. Fails when the caller's time is over before it.
    pub(crate) fn start(mut self) -> Result<(Self, Request<v1::InvokeModelRequest>), Status> {
        if self.time_left().is_some_and(|left| left.is_zero()) {
            return Err(self.log.failure(&too_late()));
        }
        self.enter();
        let request = self.request();
        Ok((self, request))
    }

    fn request(&self) -> Request<v1::InvokeModelRequest> {
        let target = self.choice().map(|Choice { model, .. }| v1::Target {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
        });
        let left = self.time_left();
        let timeout = [self.attempt_timeout, left].into_iter().flatten().min();
        let message = v1::InvokeModelRequest {
            target,
            request: Some(self.wire.clone()),
            timeout: timeout.map(convert::duration_to_proto),
            fault: None,
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
        while let Some(Choice { listed_as, .. }) = self.choice() {
            let anyway = || self.past_breakers.then(|| health.enter_anyway(listed_as));
            if let Some(passage) = health.enter(listed_as).or_else(anyway) {
                self.passage = Some(passage);
                return;
            }
            let shut_out = listed_as.clone();
            let Some(next) = self.attempts.skip() else {
                self.passage = Some(health.enter_anyway(&shut_out));
                return;
            };
            self.current = next;
            self.cause = Cause::Fallback;
        }
    }

    fn choice(&self) -> Option<&Choice> {
        self.candidates.get(self.current)
    }

    /// An attempt failed: waits and goes on to the next one, or gives what to tell the caller.
    pub(crate) async fn after(mut self, status: Status) -> Result<Self, Status> {
        let failure = self.judge(&status);
        self.record_failure(&failure, &status);
        self.go_on(failure, Cause::Fallback).await
    }

    /// An answer failed the gate: another model gets one chance, then the caller is told.
    pub(crate) async fn after_invalid(
        mut self,
        failure: Failure,
        facts: v1::CallFacts,
    ) -> Result<Self, Status> {
        self.tell_health(&facts);
        self.record_verdict(false);
        if let Some(choice) = self.candidates.get(self.current) {
            self.log.rejected(&choice.model, self.cause, &failure, facts);
            metrics::attempt_failed(&choice.model.vendor, failure.reason.name());
        }
        if std::mem::replace(&mut self.gated_once, true) {
            return Err(self.log.failure(&failure));
        }
        self.go_on(failure, Cause::Quality).await
    }

    async fn go_on(mut self, failure: Failure, cause: Cause) -> Result<Self, Status> {
        let health = self.dependencies.health.clone();
        match self.attempts.after(&failure, false, self.time_left(), || health.may_retry()) {
            Next::Stop => Err(self.log.failure(&failure)),
            Next::Switch { to } => {
                self.current = to;
                self.cause = cause;
                Ok(self)
            }
            Next::Retry { after } => {
                self.cause = Cause::Retry;
                tokio::time::sleep(after).await;
                Ok(self)
            }
        }
    }

    fn record_failure(&mut self, failure: &Failure, status: &Status) {
        if let Some(passage) = self.passage.take() {
            passage.failed(Outcome::of(failure.reason));
        }
        let Some(choice) = self.candidates.get(self.current) else { return };
        self.log.failed(&choice.model, self.cause, failure, status);
        metrics::attempt_failed(&choice.model.vendor, failure.reason.name());
        self.hold(choice, failure);
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

    /// Remembers that a vendor asked to wait.
    fn hold(&self, choice: &Choice, failure: &Failure) {
        let asked = matches!(
            failure.reason,
            ErrorReason::VendorRateLimited
                | ErrorReason::VendorOverloaded
                | ErrorReason::VendorQuotaExhausted
        );
        if let (true, Some(wait)) = (asked, failure.retry_after) {
            self.dependencies.holds.hold(choice.model.clone(), wait);
        }
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The attempt served: the request's id, and the record of the way here.
    pub(crate) fn served(mut self, facts: v1::CallFacts) -> (String, Served) {
        self.tell_health(&facts);
        if self.gate.is_some() {
            self.record_verdict(true);
        }
        let model = self.candidates.swap_remove(self.current).model;
        (self.wire.request_id, self.log.served(&model, self.cause, facts))
    }

    fn tell_health(&mut self, facts: &v1::CallFacts) {
        let Some(passage) = self.passage.take() else { return };
        let duration = |wire: Option<_>| wire.and_then(convert::duration_from_proto);
        let usage = facts.usage.as_ref().map(convert::usage_from_proto).unwrap_or_default();
        passage.answered(Took {
            whole: duration(facts.latency).unwrap_or_default(),
            first_token: duration(facts.time_to_first_token),
            answer_tokens: usage.answer_tokens(),
        });
    }

    fn record_verdict(&self, passed: bool) {
        if let Some(choice) = self.choice() {
            self.dependencies.health.judged(&choice.listed_as, &self.wire.task_type, passed);
        }
    }

    /// A committed answer broke off: what to tell the caller. Nothing follows.
    pub(crate) fn broken(mut self, status: &Status) -> Status {
        let failure = self.judge(status);
        self.record_failure(&failure, status);
        self.log.failure(&failure)
    }

    /// A committed answer failed the gate at its end: what to tell the caller.
    pub(crate) fn invalid(mut self, failure: &Failure, facts: v1::CallFacts) -> Status {
        self.tell_health(&facts);
        self.record_verdict(false);
        if let Some(choice) = self.candidates.get(self.current) {
            self.log.rejected(&choice.model, self.cause, failure, facts);
        }
        self.log.failure(failure)
    }
}

fn too_late() -> Failure {
    Failure::new(ErrorReason::DeadlineExceeded, "the request's time was over before an answer came")
}
