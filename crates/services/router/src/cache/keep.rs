//! What goes along with a request that the cache did not answer, so that its answer can be kept.

use super::{
    client::{Cache, Silent},
    context::Asked,
    flight::Flight,
    line::Lead,
    metrics,
};
use crate::{drills::SharedDrills, plan::Planned, route::Served};
use signalbox_api::v1::{self, cache_effect::Outcome};
use signalbox_types::ModelRef;
use std::time::Duration;
use tokio::time::timeout;

/// What is known of such a request. Dropped without an answer, it lets those who wait for one go on.
#[derive(Debug)]
pub(crate) struct Keep {
    cache: Cache,
    asked: Asked,
    token: String,
    flight: Option<Flight>,
    /// The lead among the requests of this router.
    lead: Option<Lead>,
    /// Who would be tried first if all were well.
    usual: Option<ModelRef>,
    /// Where a drill runs, nothing is as it should be.
    drills: Option<SharedDrills>,
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
        let (flight, lead, usual, drills) = Default::default();
        Self { cache, asked, token: String::new(), flight, lead, usual, drills, thrift: false }
    }

    pub(super) fn asked(&self) -> &Asked {
        &self.asked
    }

    /// Identical requests of this router wait for this one.
    pub(super) fn leads(&mut self, lead: Lead) {
        self.lead = Some(lead);
    }

    /// Whether identical requests of this router may wait for this one.
    pub(super) fn leads_others(&self) -> bool {
        self.lead.is_some()
    }

    /// It was answered without a model: so are those who wait, unless for its meaning, which is told of each by itself.
    pub(super) fn found(self, answer: &v1::CachedAnswer, effect: v1::CacheEffect) {
        let Some(lead) = self.lead else { return };
        match effect.outcome() {
            Outcome::SemanticHit => lead.goes_on(),
            _ => lead.found(answer.clone(), effect),
        }
    }

    /// The cache has no answer.
    pub(super) fn missed(&self) {
        self.lead.iter().for_each(Lead::goes_on);
    }

    /// It was looked up. `ttl`: identical requests wait for this one, so long unless it is renewed.
    pub(super) fn looked(&mut self, token: String, ttl: Option<Duration>) {
        self.flight = ttl.map(|ttl| Flight::lead(self.cache.clone(), token.clone(), ttl));
        self.token = token;
    }

    /// It was planned.
    pub(crate) fn planned(&mut self, planned: &Planned, drills: &SharedDrills) {
        self.usual.clone_from(&planned.usual);
        self.thrift = planned.thrift || drills.any();
        self.drills = Some(drills.clone());
    }

    /// Keeps the answer under what served it, in the background; the caller has it already.
    pub(crate) fn store(self, request: v1::GenerateRequest, answered: Answered, served: &Served) {
        if !is_clean(&answered, served) {
            return;
        }
        let context = self.context_of(&served.route);
        let answer = answer(answered, served);
        let Self { cache, asked, token: lookup_token, flight, lead, .. } = self;
        // Who waits wants what was asked for, and no less.
        let share = lead.filter(|_| context == *asked.context() && says_something(&answer));
        let share = share.map(|mut lead| {
            lead.close();
            (lead, answer.clone())
        });
        let Some(place) = cache.place() else {
            land(share);
            return metrics::stored("dropped");
        };
        let tenant_id = request.tenant_id.clone();
        let (request, context, answer) = (Some(request), Some(context), Some(answer));
        let kept = v1::StoreRequest { request, context, answer, lookup_token };
        tokio::spawn(async move {
            let _place = place;
            let Ok(stored) = stored(&cache, kept, share).await else { return metrics::stored("failed") };
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
        let in_drill = self.drills.as_ref().is_some_and(SharedDrills::any);
        match &self.usual {
            Some(usual) if !self.thrift && !in_drill => self.asked.served_by(&model, usual),
            _ => self.asked.just(&model),
        }
    }
}

/// What is shared with those who wait in this router.
type Share = Option<(Lead, v1::CachedAnswer)>;

fn land(share: Share) {
    share.into_iter().for_each(|(lead, answer)| lead.land(answer));
}

/// Stores an answer. Those who wait for it have it once the cache has not refused it, or says nothing for a while: a cache
/// that is away holds them up no more than that.
async fn stored(
    cache: &Cache,
    kept: v1::StoreRequest,
    mut share: Share,
) -> Result<v1::StoreResponse, Silent> {
    let storing = cache.store(kept);
    tokio::pin!(storing);
    match timeout(cache.word_on_answers(), &mut storing).await {
        Ok(stored) => {
            if let (Some((_, answer)), Ok(stored)) = (&mut share, &stored) {
                answer.entry_id.clone_from(&stored.entry_id);
            }
            if stored.as_ref().map_or(true, |stored| may_be_shared(&stored.refused_reason)) {
                land(share);
            }
            stored
        }
        Err(_) => {
            land(share);
            storing.await
        }
    }
}

/// Whether it was for want of the store, and not for the answer's sake, that an answer is not kept.
fn may_be_shared(refused_reason: &str) -> bool {
    matches!(refused_reason, "" | "store" | "timeout" | "overload")
}

/// What says nothing is nobody else's answer.
fn says_something(answer: &v1::CachedAnswer) -> bool {
    use v1::part::Part;
    answer.content.iter().any(|part| matches!(&part.part, Some(Part::Text(text)) if !text.trim().is_empty()))
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
