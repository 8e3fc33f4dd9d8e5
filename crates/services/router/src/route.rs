//! The record of a request's way: every attempt, and what it all cost.

use crate::plan::Planned;
use signalbox_api::{convert, status, v1};
use signalbox_types::{ErrorReason, Failure, ModelRef};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

/// Builds the `route` of an answer, or the `RouteFailure` of a failed request, as attempts come in.
#[derive(Debug)]
pub(crate) struct RouteLog {
    request_id: String,
    started: Instant,
    pub(crate) decision: v1::Decision,
    pub(crate) attempts: Vec<v1::Attempt>,
    content_findings: Vec<v1::ContentFinding>,
}

/// What the vendor that served told of its call.
pub(crate) struct Served {
    pub(crate) usage: v1::TokenUsage,
    pub(crate) cost: v1::Cost,
    pub(crate) route: v1::Route,
}

impl RouteLog {
    pub(crate) fn new(request_id: String, started: Instant, planned: &mut Planned) -> Self {
        let decision = std::mem::take(&mut planned.decision);
        Self::started(request_id, started, decision)
    }

    fn started(request_id: String, started: Instant, decision: v1::Decision) -> Self {
        let attempts = Vec::with_capacity(1);
        Self { request_id, started, decision, attempts, content_findings: Vec::new() }
    }

    /// The log of an embedding request, which has one candidate.
    pub(crate) fn for_embedding(
        request_id: String,
        started: Instant,
        model: &ModelRef,
        catalog: &str,
    ) -> Self {
        let candidate = v1::Candidate {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
            ..Default::default()
        };
        let decision = v1::Decision {
            requested: format!("model:{model}"),
            candidates: vec![candidate],
            catalog_version: catalog.to_owned(),
            ..Default::default()
        };
        Self::started(request_id, started, decision)
    }

    /// A content policy found something.
    pub(crate) fn found(&mut self, mut findings: Vec<v1::ContentFinding>) {
        self.content_findings.append(&mut findings);
    }

    /// An attempt failed. The adapter's account of it is in the status, where it got that far. An adapter that stays away
    /// is told once, however often it was asked.
    pub(crate) fn failed(
        &mut self,
        model: &ModelRef,
        cause: v1::attempt::Cause,
        failure: &Failure,
        status: &Status,
    ) {
        let told = self.attempts.last().is_some_and(|last| is_same_loss(last, model, failure));
        if told {
            return;
        }
        let call = status::detail::<v1::CallFailure>(status).unwrap_or_default();
        self.attempts.push(v1::Attempt {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
            error_reason: failure.reason.name().to_owned(),
            error_message: failure.message.clone(),
            vendor_status: call.vendor_status,
            cause: cause as i32,
            latency: call.latency,
            usage: call.usage,
            cost: call.cost,
            vendor_request_id: call.vendor_request_id,
        });
    }

    /// An attempt was given up for another that ran beside it.
    pub(crate) fn cancelled(
        &mut self,
        model: &ModelRef,
        cause: v1::attempt::Cause,
        latency: Duration,
        usage: v1::TokenUsage,
        cost: v1::Cost,
    ) {
        self.attempts.push(v1::Attempt {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
            error_reason: ErrorReason::Cancelled.name().to_owned(),
            error_message: "another attempt had content first".to_owned(),
            cause: cause as i32,
            latency: Some(convert::duration_to_proto(latency)),
            usage: Some(usage),
            cost: Some(cost),
            ..Default::default()
        });
    }

    /// An answer came, and was not what was asked for.
    pub(crate) fn rejected(
        &mut self,
        model: &ModelRef,
        cause: v1::attempt::Cause,
        failure: &Failure,
        facts: v1::CallFacts,
    ) {
        self.attempts.push(v1::Attempt {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
            error_reason: failure.reason.name().to_owned(),
            error_message: failure.message.clone(),
            cause: cause as i32,
            latency: facts.latency,
            usage: facts.usage,
            cost: facts.cost,
            vendor_request_id: facts.vendor_request_id,
            ..Default::default()
        });
    }

    /// An attempt served; closes the log.
    pub(crate) fn served(
        mut self,
        model: &ModelRef,
        cause: v1::attempt::Cause,
        facts: v1::CallFacts,
    ) -> Served {
        let usage = facts.usage.unwrap_or_default();
        let cost = facts.cost.unwrap_or_default();
        let before_this = facts.latency.and_then(convert::duration_from_proto).unwrap_or_default();
        let first_token = facts.time_to_first_token.and_then(convert::duration_from_proto);
        self.attempts.push(v1::Attempt {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
            cause: cause as i32,
            latency: facts.latency,
            usage: Some(usage),
            cost: Some(cost.clone()),
            vendor_request_id: facts.vendor_request_id,
            ..Default::default()
        });
        let latency = self.started.elapsed();
        let time_to_first_token = first_token.map(|first| latency.saturating_sub(before_this) + first);
        let route = v1::Route {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
            served_model: facts.served_model,
            total_cost: Some(self.total_cost()),
            attempts: self.attempts,
            decision: Some(self.decision),
            content_findings: self.content_findings,
            simulated: facts.simulated,
            adjustments: facts.adjustments,
            latency: Some(convert::duration_to_proto(latency)),
            time_to_first_token: time_to_first_token.map(convert::duration_to_proto),
            ..Default::default()
        };
        Served { usage, cost, route }
    }

    /// The request failed: what the caller is told.
    pub(crate) fn failure(self, failure: &Failure) -> Status {
        let mut failure = failure.clone();
        if self.attempts.len() > 1 {
            failure.message = format!("{} (after {} attempts)", failure.message, self.attempts.len());
        }
        let total_cost = self.total_cost();
        let Self { request_id, decision, attempts, content_findings, .. } = self;
        let detail =
            v1::RouteFailure { request_id, attempts, decision: Some(decision), total_cost: Some(total_cost) };
        let findings = content_findings.iter().map(status::any);
        status::to_status_with(&failure, std::iter::once(status::any(&detail)).chain(findings).collect())
    }

    fn total_cost(&self) -> v1::Cost {
        let mut total = v1::Cost::default();
        for cost in self.attempts.iter().filter_map(|attempt| attempt.cost.as_ref()) {
            total.nano_eur = total.nano_eur.saturating_add(cost.nano_eur);
            total.unknown |= cost.unknown;
            total.price_version.clone_from(&cost.price_version);
        }
        total
    }
}

fn is_same_loss(last: &v1::Attempt, model: &ModelRef, failure: &Failure) -> bool {
    failure.reason == ErrorReason::Unavailable
        && last.error_reason == ErrorReason::Unavailable.name()
        && (&*last.vendor, &*last.model) == (&*model.vendor, &*model.model)
}
