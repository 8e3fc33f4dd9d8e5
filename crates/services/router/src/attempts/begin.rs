//! A request's attempts before the first one, and what its answer is held to.

use super::{
    Attempt, Run,
    hedge::{Hedges, Hedging},
};
use crate::{
    account::Account, admission::Admitted, cache::Keep, drills::Exposure, plan::Planned, route::RouteLog,
    service::Dependencies,
};
use signalbox_api::convert;
use signalbox_kit::{
    catalog::Catalog,
    content::{Content, ErrorTexts},
    gate::Gate,
    telemetry::trace::Span,
};
use signalbox_resilience::{Attempts, FailoverRules, Reconnect};
use signalbox_types::FallbackPolicy;
use std::sync::Arc;

impl Run {
    /// Ready for the first attempt. `hedges`: where the answer is streamed, so that it may be hedged.
    pub(crate) fn new(
        dependencies: &Dependencies,
        catalog: &Catalog,
        admitted: Admitted,
        planned: Planned,
        mut account: Account,
        span: Span,
        hedges: Option<&Arc<Hedges>>,
    ) -> Self {
        let hedging = hedges
            .zip(admitted.hedge)
            .map(|(hedges, rules)| Hedging::new(hedges, rules, &admitted.request.task_type));
        let Admitted { request, deadline, attempt_timeout, first_content_timeout, .. } = admitted;
        let vendors = planned.candidates.iter().map(|choice| choice.model.vendor.clone());
        let attempts = Attempts::new(failover_rules(catalog, request.fallback), vendors);
        account.planned(planned.decision, planned.prompt_tokens);
        dependencies.health.on_request();
        Self {
            dependencies: dependencies.clone(),
            candidates: planned.candidates,
            attempts,
            reconnect: Reconnect::new(catalog.failover().adapter_patience.0),
            gate: Gate::of(&request.prompt),
            content: None,
            error_texts: ErrorTexts::of(catalog, &request.tenant_id),
            wire: convert::generate_request_to_proto(request),
            deadline,
            attempt_timeout,
            first_content_timeout,
            span,
            attempt: Attempt::first(),
            failure: None,
            hedging,
            past_breakers: planned.past_breakers,
            invalid_retries: admitted.max_invalid_retries,
            exposure: Exposure::new(&dependencies.drills),
            keep: None,
            log: RouteLog::new(account),
        }
    }

    /// The same under the tenant's content policy, which has looked at the request.
    pub(crate) fn under(mut self, content: Option<Box<Content>>) -> Self {
        let Some(mut content) = content else { return self };
        self.log.found(content.take_findings());
        self.content = Some(content).filter(|content| content.looks_at_answers());
        self
    }

    /// The same with what there is to keep its answer by.
    pub(crate) fn keeping(mut self, keep: Option<Box<Keep>>) -> Self {
        self.keep = keep;
        self
    }

    /// Whether its answer may be kept.
    pub(crate) fn may_be_kept(&self) -> bool {
        self.keep.is_some()
    }

    /// What is to look at the answer.
    pub(crate) fn take_content(&mut self) -> Option<Box<Content>> {
        self.content.take()
    }

    /// Keeps it for the next attempt's answer, and tells what it has found.
    pub(crate) fn keep_content(&mut self, mut content: Box<Content>) {
        self.log.found(content.take_findings());
        self.content = Some(content);
    }

    /// What the answer is held to.
    pub(crate) fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }
}

/// How the attempts at a request follow each other.
pub(crate) fn failover_rules(catalog: &Catalog, fallback: FallbackPolicy) -> FailoverRules {
    let failover = catalog.failover();
    FailoverRules {
        quick_retry_delay: failover.quick_retry_delay.0,
        max_same_vendor_retries: match fallback {
            FallbackPolicy::Disabled => 0,
            FallbackPolicy::Default => failover.max_same_vendor_retries,
        },
    }
}
