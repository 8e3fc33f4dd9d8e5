//! What a request's caller is told of its way: the `route` of an answer, or the `RouteFailure` of a failed request.

use crate::{
    account::{Account, Seen},
    cache::{Answered, Keep},
};
use signalbox_api::{status, v1};
use signalbox_ports::{RatesLeft, Short};
use signalbox_types::{DrillFault, Failure, ModelRef, Money};
use tonic::Status;
use v1::{attempt::Cause, usage_attempt::Kind};

/// Gathers a request's way as attempts come in. Both the caller and the usage log are told of it at the end.
pub(crate) struct RouteLog {
    account: Account,
    content_findings: Vec<v1::ContentFinding>,
}

/// What is told of an answer.
pub(crate) struct Served {
    pub(crate) usage: v1::TokenUsage,
    pub(crate) cost: v1::Cost,
    pub(crate) route: v1::Route,
    /// What there is to keep it by.
    pub(crate) keep: Option<(Box<Keep>, v1::GenerateRequest)>,
}

impl Served {
    /// Keeps the answer, where that may be of use.
    pub(crate) fn keep(&mut self, answered: impl FnOnce() -> Answered) {
        if let Some((keep, request)) = self.keep.take() {
            keep.store(request, answered(), self);
        }
    }
}

impl RouteLog {
    /// The way of a request that was accepted.
    pub(crate) fn new(account: Account) -> Self {
        Self { account, content_findings: Vec::new() }
    }

    /// How the candidates were chosen, and the attempts that have ended.
    pub(crate) fn way(&self) -> (Option<&v1::Decision>, impl DoubleEndedIterator<Item = &v1::Attempt>) {
        (self.account.decision(), self.account.attempts())
    }

    /// A content policy found something. What a rule finds in several attempts is told as one.
    pub(crate) fn found(&mut self, findings: Vec<v1::ContentFinding>) {
        for found in findings {
            let key = |it: &v1::ContentFinding| (it.rule.clone(), it.action, it.place);
            match self.content_findings.iter_mut().find(|before| key(before) == key(&found)) {
                Some(before) => before.count = before.count.saturating_add(found.count),
                None => self.content_findings.push(found),
            }
        }
    }

    /// A vendor call is about to be made; fails where it could not be accounted for.
    /// `fault` is done to it on purpose.
    pub(crate) fn begin(
        &mut self,
        model: &ModelRef,
        cause: Cause,
        fault: Option<DrillFault>,
    ) -> Result<Seen, Failure> {
        self.account.begin(model, cause, fault)
    }

    /// Makes sure that another call can be paid, of so much at most.
    pub(crate) async fn afford(&mut self, more: Money) -> Result<(), Short> {
        self.account.afford(more).await
    }

    /// What rates have left.
    pub(crate) fn rates(&self) -> RatesLeft {
        self.account.rates()
    }

    /// More has been seen of a call.
    pub(crate) fn seen_more(&mut self, seen: &Seen) {
        self.account.seen_more(seen);
    }

    /// An attempt failed.
    pub(crate) fn failed(&mut self, model: &ModelRef, failure: &Failure, status: &Status) {
        self.account.failed(model, failure, status);
    }

    /// An attempt was given up for another that ran beside it.
    pub(crate) fn cancelled(&mut self, model: &ModelRef) {
        self.account.lost(model);
    }

    /// An answer came, and was not what was asked for. Without facts it was stopped before its end.
    pub(crate) fn rejected(&mut self, model: &ModelRef, failure: &Failure, facts: Option<v1::CallFacts>) {
        self.account.rejected(model, failure, facts);
    }

    /// An attempt served; ends the request.
    pub(crate) fn served(mut self, model: &ModelRef, mut facts: v1::CallFacts, finish_reason: i32) -> Served {
        let usage = facts.usage.unwrap_or_default();
        let cost = facts.cost.clone().unwrap_or_default();
        let adjustments = std::mem::take(&mut facts.adjustments);
        let simulated = facts.simulated;
        self.account.served(model, facts, finish_reason);
        let event = self.account.succeed();
        let mut attempts = attempts(event.attempts);
        // In the order of their start, but whoever served is told last.
        attempts.sort_by_key(|attempt| attempt.error_reason.is_empty());
        let route = v1::Route {
            vendor: event.vendor,
            model: event.model,
            served_model: event.served_model,
            attempts,
            decision: event.decision,
            content_findings: self.content_findings,
            simulated,
            adjustments,
            latency: event.latency,
            time_to_first_token: event.time_to_first_token,
            total_cost: event.cost,
            budget: event.budget,
            cache: event.cache,
            lane: v1::Lane::Unspecified.into(),
        };
        Served { usage, cost, route, keep: None }
    }

    /// The request failed: what the caller is told.
    pub(crate) fn failure(self, failure: &Failure) -> Status {
        let event = self.account.give_up(failure.reason);
        let mut failure = failure.clone();
        let detail = v1::RouteFailure {
            request_id: event.request_id,
            attempts: attempts(event.attempts),
            decision: event.decision,
            total_cost: event.cost,
        };
        if detail.attempts.len() > 1 {
            failure.message = format!("{} (after {} attempts)", failure.message, detail.attempts.len());
        }
        let findings = self.content_findings.iter().map(status::any);
        status::to_status_with(&failure, std::iter::once(status::any(&detail)).chain(findings).collect())
    }
}

/// Those made to answer; what the cache asks of models is in the account alone.
fn attempts(accounted: Vec<v1::UsageAttempt>) -> Vec<v1::Attempt> {
    let to_answer = accounted.into_iter().filter(|attempt| attempt.kind() == Kind::Answer);
    to_answer.filter_map(|attempt| attempt.attempt).collect()
}
