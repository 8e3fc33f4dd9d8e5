//! From a request to its plan: the pure planner, fed with how things stand now.

use crate::{admission::Admitted, service::Dependencies};
use signalbox_api::v1;
use signalbox_kit::catalog::{Catalog, CatalogModel};
use signalbox_pricing::{Day, estimate_prompt_tokens};
use signalbox_routing::{Needs, Offer, Plan, plan};
use signalbox_types::{Failure, FallbackPolicy, GenerateRequest, ModelRef, ModelSelector, VendorKind};
use std::sync::Arc;

/// The candidates of a request, in the order they are tried, and the record of how they were chosen.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) candidates: Vec<ModelRef>,
    pub(crate) decision: v1::Decision,
    pub(crate) prompt_tokens: u64,
}

/// A request that nobody can serve, and why each candidate was left out.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) failure: Failure,
    pub(crate) decision: v1::Decision,
}

impl Refused {
    fn boxed(failure: Failure, decision: v1::Decision) -> Box<Self> {
        Box::new(Self { failure, decision })
    }
}

/// Plans a request; the failure carries the decision, which names why every candidate was left out.
pub(crate) fn make(
    dependencies: &Dependencies,
    catalog: &Arc<Catalog>,
    admitted: &Admitted,
    stream: bool,
) -> Result<Planned, Box<Refused>> {
    let request = &admitted.request;
    let day = Day::of(dependencies.clock.now());
    let targets = catalog
        .resolve(&request.model, &request.task_type, &request.tenant_id, day)
        .map_err(|failure| Refused::boxed(failure, decision(request, catalog, &[], &Plan::default())))?;
    let models: Vec<Option<&CatalogModel>> = targets.iter().map(|target| catalog.model(target)).collect();
    let offers = offers(dependencies, catalog, targets, &models, day);
    let prompt_tokens = estimate_prompt_tokens(&request.prompt);
    let most = match request.fallback {
        FallbackPolicy::Disabled => 1,
        FallbackPolicy::Default => catalog.failover().max_switches as usize + 1,
    };
    let plan = plan(&Needs::of(request, stream, prompt_tokens), &offers, most);
    let decision = decision(request, catalog, &offers, &plan);
    if plan.order.is_empty() {
        return Err(Refused::boxed(plan.refusal(&offers), decision));
    }
    let candidates = plan.order.iter().filter_map(|index| targets.get(*index).cloned()).collect();
    Ok(Planned { candidates, decision, prompt_tokens })
}

fn offers<'a>(
    dependencies: &Dependencies,
    catalog: &Catalog,
    targets: &'a [ModelRef],
    models: &[Option<&'a CatalogModel>],
    day: Day,
) -> Vec<Offer<'a>> {
    let offer = |(model, known): (&'a ModelRef, &Option<&'a CatalogModel>)| Offer {
        model,
        facts: known.map(|known| &known.facts),
        configured: dependencies.vendors.has(&model.vendor),
        served: known.is_some_and(|known| known.lifecycle.served_on(day)),
        held_for: dependencies.holds.left(model),
        last_resort: catalog.vendor(&model.vendor).is_some_and(|vendor| self_hosted(vendor.kind)),
    };
    targets.iter().zip(models).map(offer).collect()
}

fn self_hosted(kind: VendorKind) -> bool {
    matches!(kind, VendorKind::Ollama | VendorKind::OpenaiCompatible)
}

fn decision(request: &GenerateRequest, catalog: &Catalog, offers: &[Offer<'_>], plan: &Plan) -> v1::Decision {
    let candidate = |index: usize, excluded_reason: String| {
        let model = offers.get(index)?.model;
        let (vendor, model) = (model.vendor.to_string(), model.model.to_string());
        Some(v1::Candidate { vendor, model, excluded_reason, ..Default::default() })
    };
    let eligible = plan.order.iter().filter_map(|index| candidate(*index, String::new()));
    let excluded = plan.excluded.iter().filter_map(|(index, why)| candidate(*index, why.to_string()));
    v1::Decision {
        requested: requested(request),
        candidates: eligible.chain(excluded).collect(),
        catalog_version: catalog.version().to_owned(),
    }
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
