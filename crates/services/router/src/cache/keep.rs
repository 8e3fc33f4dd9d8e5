//! What goes along with a request that the cache did not answer, so that its answer can be kept.

use super::{client::Cache, context::Asked, flight::Flight, metrics};
use crate::{plan::Planned, route::Served};
use signalbox_api::v1;
use signalbox_types::ModelRef;
use std::time::Duration;

/// What is known of such a request. Dropped without an answer, it lets those who wait for one go on.
#[derive(Debug)]
pub(crate) struct Keep {
    cache: Cache,
    asked: Asked,
    token: String,
    flight: Option<Flight>,
    /// Tried first.
    first: Option<ModelRef>,
    /// For the budget's sake dearer models were left out.
    thrift: bool,
}

/// An answer that passed the quality gate.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) content: Vec<v1::Part>,
    pub(crate) finish_reason: v1::FinishReason,
    pub(crate) vendor_finish_reason: String,
}

impl Keep {
    pub(super) fn new(cache: Cache, asked: Asked) -> Self {
        Self { cache, asked, token: String::new(), flight: None, first: None, thrift: false }
    }

    pub(super) fn context(&self) -> &v1::CacheContext {
        self.asked.context()
    }

    /// It was looked up. `ttl`: identical requests wait for this one, so long unless it is renewed.
    pub(super) fn looked(&mut self, token: String, ttl: Option<Duration>) {
        self.flight = ttl.map(|ttl| Flight::lead(self.cache.clone(), token.clone(), ttl));
        self.token = token;
    }

    /// It was planned.
    pub(crate) fn planned(&mut self, planned: &Planned) {
        self.first = planned.candidates.first().map(|choice| choice.model.clone());
        self.thrift = planned.thrift;
    }

    /// Keeps the answer under what served it, in the background; the caller has it already.
    pub(crate) fn store(self, request: v1::GenerateRequest, answered: Answered, served: &Served) {
        if !is_clean(&answered, served) {
            return;
        }
        let Some(place) = self.cache.place() else { return metrics::stored("dropped") };
        let context = self.context_of(&served.route);
        let answer = Some(answer(answered, served));
        let Self { cache, token: lookup_token, flight, .. } = self;
        let tenant_id = request.tenant_id.clone();
        let kept = v1::StoreRequest { request: Some(request), context: Some(context), answer, lookup_token };
        tokio::spawn(async move {
            let _place = place;
            let stored = match cache.store(kept).await {
                Ok(stored) => stored,
                Err(_) => return metrics::stored("failed"),
            };
            cache.owed().add(&tenant_id, stored.attempts);
            if stored.entry_id.is_empty() {
                metrics::stored("refused");
            } else {
                metrics::stored("stored");
                flight.into_iter().for_each(Flight::land);
            }
        });
    }

    fn context_of(&self, route: &v1::Route) -> v1::CacheContext {
        let model = ModelRef::new(route.vendor.as_str(), route.model.as_str());
        match &self.first {
            Some(first) if !self.thrift => self.asked.served_by(&model, first),
            _ => self.asked.just(&model),
        }
    }
}

/// Whether an answer is one to give again: it ended by itself, calls no tool, and no content policy found anything. What else
/// is not kept the cache knows.
fn is_clean(answered: &Answered, served: &Served) -> bool {
    use v1::part::Part;
    let ended = matches!(answered.finish_reason, v1::FinishReason::Stop | v1::FinishReason::StopSequence);
    let told =
        answered.content.iter().all(|part| matches!(part.part, Some(Part::Text(_) | Part::Reasoning(_))));
    ended && told && served.route.content_findings.is_empty()
}

fn answer(answered: Answered, served: &Served) -> v1::CachedAnswer {
    let Served { usage, route, .. } = served;
    v1::CachedAnswer {
        content: answered.content,
        finish_reason: answered.finish_reason.into(),
        vendor_finish_reason: answered.vendor_finish_reason,
        usage: Some(*usage),
        cost: route.total_cost.clone(),
        latency: route.latency,
        vendor: route.vendor.clone(),
        model: route.model.clone(),
        served_model: route.served_model.clone(),
        simulated: route.simulated,
        ..Default::default()
    }
}
