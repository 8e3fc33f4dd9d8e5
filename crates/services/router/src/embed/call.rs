//! The calls of a request for vectors: one candidate, so that there is only the same again.

use crate::{metrics, route::RouteLog, service::Dependencies, trace};
use signalbox_api::{
    convert,
    status::from_status,
    v1::{self, attempt::Cause, provider_service_client::ProviderServiceClient},
};
use signalbox_kit::{Hop, content::ErrorTexts, hop, telemetry::trace::Span};
use signalbox_resilience::{Attempts, Next, Reconnect};
use signalbox_types::{ErrorReason, Failure, ModelRef, Money};
use std::time::Duration;
use tokio::time::Instant;
use tonic::{Request, Status};

/// A request for vectors under way.
pub(super) struct Embedding<'a> {
    pub(super) dependencies: &'a Dependencies,
    pub(super) wire: v1::EmbedRequest,
    pub(super) model: ModelRef,
    /// What a call costs at most, where that is counted.
    pub(super) ceiling: Money,
    pub(super) deadline: Option<Instant>,
    pub(super) span: &'a Span,
    pub(super) log: RouteLog,
    pub(super) error_texts: Option<ErrorTexts>,
    pub(super) attempts: Attempts,
    pub(super) reconnect: Reconnect,
}

impl Embedding<'_> {
    /// Calls until there is an answer, or no more to be had.
    pub(super) async fn run(
        mut self,
        mut adapter: ProviderServiceClient<Hop>,
    ) -> Result<v1::EmbedResponse, Status> {
        let mut cause = Cause::FirstChoice;
        loop {
            if let Err(failure) = self.log.begin(&self.model, cause, None) {
                return Err(self.log.failure(&failure));
            }
            let status = match adapter.invoke_embedding(self.request()).await {
                Ok(answer) => return Ok(self.answered(answer.into_inner())),
                Err(status) => status,
            };
            let mut failure = from_status(&status);
            if let Some(texts) = &self.error_texts {
                self.log.found(texts.look(&mut failure));
            }
            self.dependencies.holds.on_failure(&self.model, &failure);
            self.log.failed(&self.model, &failure, &status);
            metrics::attempt_failed(&self.model.vendor, failure.reason.name());
            let Some(wait) = self.wait_before_retry(&failure, &status) else {
                trace::failed(self.span, &self.log);
                return Err(self.log.failure(&failure));
            };
            if self.log.afford(self.ceiling).await.is_err() {
                trace::failed(self.span, &self.log);
                return Err(self.log.failure(&failure));
            }
            tokio::time::sleep(wait).await;
            cause = Cause::Retry;
        }
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn wait_before_retry(&mut self, failure: &Failure, status: &Status) -> Option<Duration> {
        let left = self.time_left();
        if failure.reason == ErrorReason::Unavailable {
            let now = Instant::now().into_std();
            return self.reconnect.after_loss(hop::was_under_way(status), now, left);
        }
        match self.attempts.after(failure, false, left, || self.dependencies.health.may_retry()) {
            Next::Retry { after } => Some(after),
            // There is one candidate, so there is none to switch to.
            Next::Switch { .. } | Next::Stop => None,
        }
    }

    fn request(&self) -> Request<v1::InvokeEmbeddingRequest> {
        let Self { model, wire, .. } = self;
        let target = v1::Target { vendor: model.vendor.to_string(), model: model.model.to_string() };
        let left = self.time_left();
        let timeout = left.map(convert::duration_to_proto);
        let message =
            v1::InvokeEmbeddingRequest { target: Some(target), request: Some(wire.clone()), timeout };
        let mut request = Request::new(message);
        if let Some(left) = left {
            request.set_timeout(left);
        }
        self.span.inject(request.metadata_mut().as_mut());
        request
    }

    fn answered(self, answer: v1::InvokeEmbeddingResponse) -> v1::EmbedResponse {
        let facts = answer.facts.unwrap_or_default();
        self.dependencies.holds.on_success(&self.model, facts.quota_left);
        let served = self.log.served(&self.model, facts, v1::FinishReason::Unspecified.into());
        trace::served(self.span, &served.route);
        v1::EmbedResponse {
            request_id: self.wire.request_id,
            embeddings: answer.embeddings,
            usage: Some(served.usage),
            cost: Some(served.cost),
            route: Some(served.route),
        }
    }
}
