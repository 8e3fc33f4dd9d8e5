//! From a request to its plan: the pure planner, fed with how things stand now.

mod bound;
mod candidates;
mod choice;
mod compact;
mod record;
mod usual;

use crate::{admission::Admitted, metrics, service::Dependencies};
use signalbox_api::{status, v1};
use signalbox_kit::catalog::{Catalog, Routing, Targets, Tenant};
use signalbox_ports::Worst;
use signalbox_pricing::{Day, estimate_prompt_tokens};
use signalbox_routing::{Breaker, Candidate, Chance, Demand, Exclusion, Needs, Plan, Rules, Verdict, plan};
use signalbox_types::{Failure, FallbackPolicy, GenerateRequest, ModelRef, ModelSelector, Money, Tier};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;

pub(crate) use choice::Choice;
pub(crate) use compact::compact;
pub use usual::UsualCosts;

/// The candidates of a request, in the order they are tried, and the record of how they were chosen.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) candidates: Vec<Choice>,
    pub(crate) decision: v1::Decision,
    pub(crate) prompt_tokens: u64,
    /// Only open breakers and refused keys stood in the way, so they are passed by.
    pub(crate) past_breakers: bool,
    /// The most that any of the candidates can use; nothing where nothing is counted.
    pub(crate) worst: Worst,
    /// For the budget's sake dearer models were left out.
    pub(crate) thrift: bool,
    /// Who would be tried first if all were well.
    pub(crate) usual: Option<ModelRef>,
}

/// A request that nobody can serve, and why each candidate was left out.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) failure: Failure,
    pub(crate) decision: v1::Decision,
    /// The least that the budget would have to pay for one of them; `None` where none is too dear for it.
    pub(crate) too_dear: Option<Money>,
}

impl Refused {
    /// What the caller is told, with the decision in its details.
    pub(crate) fn into_status(self, request_id: &str) -> Status {
        let detail = v1::RouteFailure {
            request_id: request_id.to_owned(),
            decision: Some(self.decision),
            ..Default::default()
        };
        status::to_status_with(&self.failure, vec![status::any(&detail)])
    }
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
    let outcome = considered.plan(most);
    considered.learn(&outcome);
    outcome.count_left_out();
    let decision = considered.record(&outcome);
    if outcome.plan.order.is_empty() {
        let failure = outcome.plan.refusal(&outcome.candidates);
        return Err(Box::new(Refused { failure, decision, too_dear: outcome.too_dear() }));
    }
    let candidates = considered.choices(&outcome);
    Ok(Planned {
        worst: considered.worst(&candidates),
        candidates,
        decision,
        prompt_tokens: considered.needs.prompt_tokens,
        past_breakers: outcome.past_breakers,
        thrift: outcome.thrift(),
        usual: considered.usual_first(&outcome).cloned(),
    })
}

/// What would be planned, with every factor of every candidate. The same request id draws the same.
pub(crate) fn explain(
    dependencies: &Dependencies,
    catalog: &Catalog,
    admitted: &Admitted,
    stream: bool,
) -> Result<v1::ExplainRouteResponse, Box<Refused>> {
    let considered = Considered::new(dependencies, catalog, admitted, stream)?;
    let outcome = considered.plan(usize::MAX);
    let decision = considered.record(&outcome);
    Ok(v1::ExplainRouteResponse { weights: decision.weights.clone(), decision: Some(decision) })
}

/// A request beside the models that its names lead to.
struct Considered<'a> {
    dependencies: &'a Dependencies,
    catalog: &'a Catalog,
    admitted: &'a Admitted,
    tenant: &'a Tenant,
    targets: Targets<'a>,
    routing: &'a Routing,
    /// The routing's, with the tenant's own weights.
    rules: Rules,
    first_output_ceiling: Option<Duration>,
    needs: Needs,
    stream: bool,
    day: Day,
    /// As `Decision.requested` tells it.
    requested: String,
    /// What such a request usually costs; `None` before the first one.
    usual_cost: Option<Money>,
}

/// A plan, and the candidates that its indices mean.
struct Outcome<'a> {
    plan: Plan,
    candidates: Vec<Candidate<'a>>,
    past_breakers: bool,
    /// The budget left none of the models asked for, so these are of another tier.
    instead: Option<Tier>,
}

impl Outcome<'_> {
    /// Whether dearer models were left out for the budget's sake.
    fn thrift(&self) -> bool {
        self.instead.is_some() || self.left_out_for_money() > 0
    }

    /// Tells operators who was left out, and why. What a caller makes up is nobody's.
    fn count_left_out(&self) {
        for (candidate, verdict) in self.candidates.iter().zip(&self.plan.verdicts) {
            match verdict.exclusion() {
                None | Some(Exclusion::Unknown | Exclusion::NotConfigured) => {}
                Some(why) => metrics::left_out(&candidate.offer.model.vendor, why.name()),
            }
        }
    }

    fn too_dear(&self) -> Option<Money> {
        let ceiling = |verdict: &Verdict| match verdict.exclusion() {
            Some(Exclusion::TooDear { ceiling, .. }) => Some(*ceiling),
            _ => None,
        };
        self.plan.verdicts.iter().filter_map(ceiling).min()
    }

    fn left_out_for_money(&self) -> usize {
        let thrift = |verdict: &&Verdict| verdict.exclusion().is_some_and(Exclusion::is_thrift);
        self.plan.verdicts.iter().filter(thrift).count()
    }
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
        let requested = requested(admitted);
        let task = catalog.task_type(&request.task_type);
        let resolved = task.and_then(|task| {
            let targets = catalog.resolve(&request.model, &request.task_type, &request.tenant_id, day)?;
            Ok((targets, task.and_then(|task| task.first_output_ceiling)))
        });
        let (targets, first_output_ceiling) = match resolved {
            Ok(resolved) => resolved,
            Err(failure) => {
                let decision = record::unresolved(requested, catalog, admitted);
                return Err(Box::new(Refused { failure, decision, too_dear: None }));
            }
        };
        let routing = catalog.routing(&request.task_type, &request.tenant_id);
        let weights = admitted.budget.rules.weights;
        Ok(Self {
            dependencies,
            catalog,
            admitted,
            tenant: catalog.tenant(&request.tenant_id),
            targets,
            routing,
            rules: weights.map_or(routing.rules, |weights| Rules { weights, ..routing.rules }),
            first_output_ceiling,
            needs: Needs::of(request, stream, estimate_prompt_tokens(&request.prompt)),
            stream,
            day,
            usual_cost: dependencies.usual_costs.of(kind(request, &requested)),
            requested,
        })
    }

    /// The plan. Its chance is the request's own, so that the same request draws the same while things stand as they
    /// do. Where the budget leaves none of the models asked for, those of a tier that it leaves are planned instead.
    fn plan(&self, most: usize) -> Outcome<'a> {
        let mut chance = Chance::of(&self.admitted.request.request_id);
        let outcome = self.plan_among(self.targets, most, &mut chance);
        match self.open_tiers(&outcome) {
            [] => outcome,
            tiers => {
                let instead = tiers.iter().find_map(|tier| self.plan_tier(*tier, most, &mut chance));
                instead.unwrap_or(outcome)
            }
        }
    }

    /// The tiers to serve from instead; none where the plan is good, or not for the budget's sake empty.
    fn open_tiers(&self, outcome: &Outcome<'_>) -> &'a [Tier] {
        let named = matches!(self.admitted.request.model, ModelSelector::Exact(_));
        if named || !outcome.plan.order.is_empty() || outcome.left_out_for_money() == 0 {
            return &[];
        }
        match &*self.admitted.budget.tiers {
            [] => &Tier::ALL,
            open => open,
        }
    }

    fn plan_tier(&self, tier: Tier, most: usize, chance: &mut Chance) -> Option<Outcome<'a>> {
        let targets = self.catalog.tier_targets(tier, self.tenant).ok()?;
        let targets = Targets { preferred: targets, secondary: &[] };
        let outcome = self.plan_among(targets, most, chance);
        (!outcome.plan.order.is_empty()).then_some(Outcome { instead: Some(tier), ..outcome })
    }

    /// When only open breakers and refused keys stand in the way, they are ignored: a doubtful model is better than
    /// none.
    fn plan_among(&self, targets: Targets<'a>, most: usize, chance: &mut Chance) -> Outcome<'a> {
        let mut candidates = self.candidates(targets);
        let demand = self.demand(&candidates);
        let rules = &self.rules;
        let mut planned = plan(&demand, &candidates, rules, most, || chance.unit());
        let in_doubt = |verdict: &Verdict| verdict.exclusion().is_some_and(Exclusion::is_doubt);
        let past_breakers = planned.order.is_empty() && planned.verdicts.iter().any(in_doubt);
        if past_breakers {
            for candidate in &mut candidates {
                (candidate.breaker, candidate.refused) = (Breaker::Closed, None);
            }
            planned = plan(&demand, &candidates, rules, most, || chance.unit());
        }
        Outcome { plan: planned, candidates, past_breakers, instead: None }
    }

    /// Who would be tried first if all were well: the plan among the same models, of none of which anything is known but
    /// what the catalogue says.
    fn usual_first<'o>(&self, outcome: &'o Outcome<'a>) -> Option<&'o ModelRef> {
        let first = outcome.candidates.first()?;
        if outcome.candidates.iter().all(|candidate| candidate.tier == first.tier) {
            return Some(first.offer.model);
        }
        let well: Vec<_> = outcome.candidates.iter().map(|candidate| candidate.as_if_well()).collect();
        let mut chance = Chance::of(&self.admitted.request.request_id);
        let planned = plan(&self.demand(&well), &well, &self.rules, 1, || chance.unit());
        planned.order.first().and_then(|index| outcome.candidates.get(*index)).map(|first| first.offer.model)
    }

    fn demand(&self, candidates: &[Candidate<'_>]) -> Demand<'a> {
        let budget = &self.admitted.budget;
        Demand {
            stream: self.stream,
            expected_tokens: self.expected_tokens(),
            target: self.routing.target,
            time_left: self.time_left(),
            first_output_ceiling: self.first_output_ceiling,
            reference_cost: self.usual_cost.or_else(|| usual::middle(candidates)),
            access: self.tenant.access(),
            narrower: budget.rules.access(),
            allowed_tiers: &budget.rules.tiers,
            known_price: budget.rules.known_price,
            tiers: &budget.tiers,
            allowance: budget.allowance,
            ..Demand::new(self.needs)
        }
    }

    /// Remembers what such a request costs, where there is a choice.
    fn learn(&self, outcome: &Outcome<'_>) {
        if let (true, [_, _, ..]) = (self.is_scored(), &*outcome.candidates) {
            let kind = kind(&self.admitted.request, &self.requested);
            self.dependencies.usual_costs.learn(kind, usual::middle(&outcome.candidates));
        }
    }

    /// Whether candidates are compared at all, or keep their listed order.
    fn is_scored(&self) -> bool {
        self.rules != Rules::CATALOGUE_ORDER
    }

    /// Tokens that the answer is expected to have.
    fn expected_tokens(&self) -> u32 {
        let most = self.admitted.request.prompt.max_output_tokens.unwrap_or(u32::MAX);
        self.routing.expected_tokens.min(most)
    }

    fn time_left(&self) -> Option<Duration> {
        self.admitted.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// Requests of one kind cost about the same.
fn kind<'a>(request: &'a GenerateRequest, requested: &'a str) -> &'a str {
    if request.task_type.is_empty() { requested } else { &request.task_type }
}

/// What the request asked for, as `Decision.requested` tells it.
pub(crate) fn requested(admitted: &Admitted) -> String {
    let request = &admitted.request;
    match &request.model {
        ModelSelector::Alias(name) => format!("alias:{name}"),
        ModelSelector::Tier(tier) => format!("tier:{}", tier.name()),
        ModelSelector::Exact(model) => format!("model:{model}"),
        ModelSelector::Unspecified if request.task_type.is_empty() || admitted.task_found => {
            "default".to_owned()
        }
        ModelSelector::Unspecified => format!("task:{}", request.task_type),
    }
}

#[cfg(test)]
mod tests;
