//! One request's attempts: call, judge, retry or switch.

use crate::{
    admission::Admitted,
    metrics,
    plan::Planned,
    route::{RouteLog, Served},
    service::Dependencies,
};
use signalbox_api::{convert, status, v1};
use signalbox_kit::{catalog::Catalog, telemetry::trace::Span};
use signalbox_resilience::{Attempts, FailoverRules, Next};
use signalbox_types::{ErrorReason, Failure, GenerateRequest, ModelRef};
use std::time::Duration;
use tokio::time::Instant;
use tonic::{Request, Status};

/// The attempts of one request, up to the point where its answer is committed.
pub(crate) struct Run {
    dependencies: Dependencies,
    candidates: Vec<ModelRef>,
    attempts: Attempts,
    /// The request for the next hop.
    wire: v1::GenerateRequest,
    deadline: Option<Instant>,
    attempt_timeout: Option<Duration>,
    first_content_timeout: Option<Duration>,
    span: Span,
    current: usize,
    cause: v1::attempt::Cause,
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
        let rules = FailoverRules {
            quick_retry_delay: failover.quick_retry_delay.0,
            max_same_vendor_retries: retries(failover.max_same_vendor_retries, &request),
        };
        let vendors = planned.candidates.iter().map(|model| model.vendor.clone()).collect();
        let log = RouteLog::new(request.request_id.clone(), started, &mut planned);
        Self {
            dependencies: dependencies.clone(),
            candidates: planned.candidates,
            attempts: Attempts::new(rules, vendors),
            wire: convert::generate_request_to_proto(request),
            deadline,
            attempt_timeout,
            first_content_timeout,
            span,
            current: 0,
            cause: v1::attempt::Cause::FirstChoice,
            log,
        }
    }

    /// The model being tried.
    pub(crate) fn model(&self) -> Option<&ModelRef> {
        self.candidates.get(self.current)
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

    /// The request of the attempt that is due.
    pub(crate) fn request(&self) -> Request<v1::InvokeModelRequest> {
        let target = self
            .model()
            .map(|model| v1::Target { vendor: model.vendor.to_string(), model: model.model.to_string() });
        let left = self.time_left();
        let timeout = [self.attempt_timeout, left].into_iter().flatten().min();
        let message = v1::InvokeModelRequest {
            target,
            request: Some(self.wire.clone()),
            timeout: timeout.map(convert::duration_to_proto),
        };
        let mut request = Request::new(message);
        if let Some(left) = left {
            request.set_timeout(left);
        }
        self.span.inject(request.metadata_mut().as_mut());
        request
    }

    /// An attempt failed: waits and goes on to the next one, or gives what to tell the caller.
    pub(crate) async fn after(mut self, status: Status) -> Result<Self, Status> {
        let failure = self.judge(&status);
        if let Some(model) = self.model().cloned() {
            self.log.failed(&model, self.cause, &failure, &status);
            metrics::attempt_failed(&model.vendor, failure.reason.name());
            self.hold(model, &failure);
        }
        match self.attempts.after(&failure, false, self.time_left()) {
            Next::Stop => Err(self.log.failure(&failure)),
            Next::Switch { to } => {
                self.current = to;
                self.cause = v1::attempt::Cause::Fallback;
                Ok(self)
            }
            Next::Retry { after } => {
                self.cause = v1::attempt::Cause::Retry;
                tokio::time::sleep(after).await;
                Ok(self)
            }
        }
    }

    /// The failure behind a status. When the caller's own time is over, that is what happened, whatever it looks
    /// like from below.
    fn judge(&self, status: &Status) -> Failure {
        let failure = status::from_status(status);
        let cut = matches!(failure.reason, ErrorReason::VendorTimeout | ErrorReason::DeadlineExceeded);
        if cut && self.time_left().is_some_and(|left| left.is_zero()) {
            return Failure::new(
                ErrorReason::DeadlineExceeded,
                "the request's time was over before an answer came",
            );
        }
        failure
    }

    /// Remembers that a vendor asked to wait.
    fn hold(&self, model: ModelRef, failure: &Failure) {
        let asked = matches!(
            failure.reason,
            ErrorReason::VendorRateLimited
                | ErrorReason::VendorOverloaded
                | ErrorReason::VendorQuotaExhausted
        );
        if let (true, Some(wait)) = (asked, failure.retry_after) {
            self.dependencies.holds.hold(model, wait);
        }
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The attempt served: the request's id, and the record of the way here.
    pub(crate) fn served(self, facts: v1::CallFacts) -> (String, Served) {
        let served = match self.candidates.get(self.current) {
            Some(model) => self.log.served(model, self.cause, facts),
            None => self.log.served(&ModelRef::new("", ""), self.cause, facts),
        };
        (self.wire.request_id, served)
    }

    /// A committed answer broke off: what to tell the caller. Nothing follows.
    pub(crate) fn broken(mut self, status: &Status) -> Status {
        let failure = self.judge(status);
        if let Some(model) = self.model().cloned() {
            self.log.failed(&model, self.cause, &failure, status);
        }
        self.log.failure(&failure)
    }
}

fn retries(configured: u32, request: &GenerateRequest) -> u32 {
    match request.fallback {
        signalbox_types::FallbackPolicy::Disabled => 0,
        signalbox_types::FallbackPolicy::Default => configured,
    }
}
