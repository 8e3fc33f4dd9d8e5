//! From a request to its plan: the pure planner, fed with how things stand now.

use crate::{admission::Admitted, service::Dependencies};
use signalbox_api::v1;
use signalbox_kit::catalog::{Catalog, CatalogModel, Routing};
use signalbox_pricing::{Day, estimate_prompt_tokens};
use signalbox_routing::{Breaker, Candidate, Demand, Needs, Offer, Plan, Rules, Verdict, plan};
use signalbox_types::{
    Failure, FallbackPolicy, GenerateRequest, ModelRef, ModelSelector, TokenUsage, VendorKind,
};
use std::time::Duration;
use tokio::time::Instant;

/// The candidates of a request, in the order they are tried, and the record of how they were chosen.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) candidates: Vec<Choice>,
    pub(crate) decision: v1::Decision,
    pub(crate) prompt_tokens: u64,
    /// Only open breakers stood in the way, so they are passed by.
    pub(crate) past_breakers: bool,
}

/// A model to try.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) model: ModelRef,
    /// The catalogue's name for it, under which its health is kept: `vendor/*` for an unlisted model.
    pub(crate) listed_as: ModelRef,
}

/// A request that nobody can serve, and why each candidate was left out.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) failure: Failure,
    pub(crate) decision: v1::Decision,
}

/// Plans a request; the failure carries the decision, which names why every candidate was left out.
pub(crate) fn make(
    dependencies: &Dependencies,
    catalog: &Catalog,
    admitted: &Admitted,
    stream: bool,
) -> Result<Planned, Box<Refused>> {
    let most = match admitted.request.fallback {
        FallbackPolicy::Disabled => 1,
        FallbackPolicy::Default => catalog.failover().max_switches as usize + 1,
    };
    let considered = Considered::new(dependencies, catalog, admitted, stream)?;
    let (plan, candidates, past_breakers) = considered.plan(most);
    let decision = considered.decision(&plan, &candidates, false);
    if plan.order.is_empty() {
        return Err(Box::new(Refused { failure: plan.refusal(&candidates), decision }));
    }
    let choice = |index: &usize| {
        let model = considered.targets.get(*index)?;
        let listed_as = catalog.model(model).map_or(model, |known| &known.reference);
        Some(Choice { model: model.clone(), listed_as: listed_as.clone() })
    };
    let chosen = plan.order.iter().filter_map(choice).collect();
    let prompt_tokens = considered.needs.prompt_tokens;
    Ok(Planned { candidates: chosen, decision, prompt_tokens, past_breakers })
}

/// What would be planned, with every factor of every candidate, and the weights.
pub(crate) fn explain(
    dependencies: &Dependencies,
    catalog: &Catalog,
    admitted: &Admitted,
) -> Result<v1::ExplainRouteResponse, Box<Refused>> {
    let considered = Considered::new(dependencies, catalog, admitted, false)?;
    let (plan, candidates, _) = considered.plan(usize::MAX);
    let weights = plan.weights.named().map(|(name, weight)| (name.to_owned(), weight));
    let decision = considered.decision(&plan, &candidates, true);
    Ok(v1::ExplainRouteResponse { decision: Some(decision), weights: weights.into_iter().collect() })
}

/// A request beside the models that its names lead to.
struct Considered<'a> {
    dependencies: &'a Dependencies,
    catalog: &'a Catalog,
    admitted: &'a Admitted,
    targets: &'a [ModelRef],
    routing: &'a Routing,
    needs: Needs,
    stream: bool,
    day: Day,
}

impl<'a> Considered<'a> {
    fn new(
        dependencies: &'a Dependencies,
        catalog: &'a Catalog,
        admitted: &'a Admitted,
        stream: bool,
    ) -> Result<Self, Box<Refused>> {
        let request = &admitted.request;
        let day = Day::of(dependencies.clock.now());
        let unresolved = |failure| {
            let requested = requested(request);
            let catalog_version = catalog.version().to_owned();
            let decision = v1::Decision { requested, catalog_version, ..Default::default() };
            Box::new(Refused { failure, decision })
        };
        let targets = catalog
            .resolve(&request.model, &request.task_type, &request.tenant_id, day)
            .map_err(unresolved)?;
        let needs = Needs::of(request, stream, estimate_prompt_tokens(&request.prompt));
        let routing = catalog.routing(&request.task_type);
        Ok(Self { dependencies, catalog, admitted, targets, routing, needs, stream, day })
    }

    /// The plan, and the candidates that its indices mean. When only open breakers stand in the way, they are
    /// ignored (and `true` told): a doubtful model is better than none.
    fn plan(&self, most: usize) -> (Plan, Vec<Candidate<'a>>, bool) {
        let mut candidates = self.candidates();
        let demand = Demand {
            stream: self.stream,
            expected_tokens: self.routing.expected_tokens,
            target: self.routing.target,
            time_left: self.time_left(),
            ..Demand::new(self.needs)
        };
        let rules = &self.routing.rules;
        let planned = plan(&demand, &candidates, rules, most, rand::random::<f64>);
        let shut_out = |verdict: &Verdict| verdict.exclusion().is_some_and(is_breakers);
        if !planned.order.is_empty() || !planned.verdicts.iter().any(shut_out) {
            return (planned, candidates, false);
        }
        candidates.iter_mut().for_each(|candidate| candidate.breaker = Breaker::Closed);
        (plan(&demand, &candidates, rules, most, rand::random::<f64>), candidates, true)
    }

    fn candidates(&self) -> Vec<Candidate<'a>> {
        let scored = self.is_scored();
        let first_last_resort = self.first_last_resort();
        let candidate = |(index, model): (usize, &'a ModelRef)| {
            let known = self.catalog.model(model);
            let offer = self.offer(model, known, index >= first_last_resort);
            let listed_as = known.map_or(model, |known| &known.reference);
            let mut candidate =
                Candidate { breaker: self.dependencies.health.breaker(listed_as), ..Candidate::new(offer) };
            if scored {
                candidate.tier = known.and_then(|known| known.tier);
                candidate.cost = self.expected_cost(model);
                self.dependencies.health.describe(
                    listed_as,
                    &self.admitted.request.task_type,
                    &mut candidate,
                );
            }
            candidate
        };
        self.targets.iter().enumerate().map(candidate).collect()
    }

    fn offer(&self, model: &'a ModelRef, known: Option<&'a CatalogModel>, last_resort: bool) -> Offer<'a> {
        Offer {
            model,
            facts: known.map(|known| &known.facts),
            configured: self.dependencies.vendors.has(&model.vendor),
            served: known.is_some_and(|known| known.lifecycle.served_on(self.day)),
            held_for: self.dependencies.holds.left(model),
            last_resort,
        }
    }

    /// Self-hosted models at the end of a list are last resorts; one that is listed before a vendor's is there by
    /// choice, and a list of nothing else has none.
    fn first_last_resort(&self) -> usize {
        let self_hosted = |model: &ModelRef| {
            let kind = self.catalog.vendor(&model.vendor).map(|vendor| vendor.kind);
            matches!(kind, Some(VendorKind::Ollama | VendorKind::OpenaiCompatible))
        };
        let others = self.targets.iter().rposition(|model| !self_hosted(model));
        others.map_or(usize::MAX, |last| last + 1)
    }

    /// Whether candidates are compared at all, or keep their listed order.
    fn is_scored(&self) -> bool {
        self.routing.rules != Rules::CATALOGUE_ORDER
    }

    fn expected_cost(&self, model: &ModelRef) -> Option<signalbox_types::Money> {
        let request = &self.admitted.request;
        let expected = u64::from(self.routing.expected_tokens);
        let most = request.prompt.max_output_tokens.map_or(expected, u64::from);
        let usage =
            TokenUsage { input: self.needs.prompt_tokens, output: expected.min(most), ..Default::default() };
        self.catalog.prices().cost(model, &usage, request.lane, self.day)
    }

    fn time_left(&self) -> Option<Duration> {
        self.admitted.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The record: the candidates to try in order, then the others. `in_full` adds every factor.
    fn decision(&self, plan: &Plan, candidates: &[Candidate<'_>], in_full: bool) -> v1::Decision {
        let told = |index: usize| {
            let (model, verdict) = (candidates.get(index)?.offer.model, plan.verdicts.get(index)?);
            let mut told = v1::Candidate {
                vendor: model.vendor.to_string(),
                model: model.model.to_string(),
                excluded_reason: verdict.exclusion().map(ToString::to_string).unwrap_or_default(),
                ..Default::default()
            };
            if let Some(rating) = verdict.rating().filter(|_| self.is_scored()) {
                told.score = rating.score;
                told.draw_probability = rating.draw_probability;
                if in_full {
                    let factors = rating.factors.named().map(|(name, factor)| (name.to_owned(), factor));
                    told.factors = factors.into_iter().collect();
                }
            }
            Some(told)
        };
        let rest = (0..candidates.len()).filter(|index| !plan.order.contains(index));
        let excluded = rest
            .filter(|index| plan.verdicts.get(*index).is_some_and(|verdict| verdict.exclusion().is_some()));
        v1::Decision {
            requested: requested(&self.admitted.request),
            candidates: plan.order.iter().copied().chain(excluded).filter_map(told).collect(),
            catalog_version: self.catalog.version().to_owned(),
            ..Default::default()
        }
    }
}

fn is_breakers(why: &signalbox_routing::Exclusion) -> bool {
    use signalbox_routing::Exclusion;
    matches!(why, Exclusion::BreakerOpen(_) | Exclusion::Recovering { .. })
}

/// What the request asked for, as `Decision.requested` tells it.
fn requested(request: &GenerateRequest) -> String {
    match &request.model {
        ModelSelector::Alias(name) => format!("alias:{name}"),
        ModelSelector::Tier(tier) => format!("tier:{}", tier.name()),
        ModelSelector::Exact(model) => format!("model:{model}"),
        ModelSelector::Unspecified if request.task_type.is_empty() => "default".to_owned(),
        ModelSelector::Unspecified => format!("task:{}", request.task_type),
    }
}
