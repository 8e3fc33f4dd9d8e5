//! Which model makes a request's vectors.

use crate::{budget::BudgetState, service::Dependencies};
use signalbox_kit::catalog::{Catalog, CatalogModel};
use signalbox_pricing::Day;
use signalbox_types::{Capability, ErrorReason, Failure, ModelRef, ModelSelector};

/// The alias used when a request names no model.
const DEFAULT_ALIAS: &str = "embedding";

/// The first target that is configured, served and open to the tenant; it must be an embedding model. To look further
/// for one would let the wrong name lead to some model, and vectors of different models cannot be compared.
pub(super) fn choose(
    dependencies: &Dependencies,
    catalog: &Catalog,
    selector: ModelSelector,
    tenant: &str,
    budget: &BudgetState,
) -> Result<ModelRef, Failure> {
    let selector = match selector {
        ModelSelector::Unspecified => ModelSelector::Alias(DEFAULT_ALIAS.to_owned()),
        named => named,
    };
    let day = Day::of(dependencies.clock.now());
    let targets = catalog.resolve(&selector, "", tenant, day)?;
    let served = |target: &&ModelRef| dependencies.vendors.has(&target.vendor) && catalog.served(target, day);
    let known = |target| Some((target, catalog.model(target)?));
    let mut served = targets.preferred.iter().filter(served).filter_map(known);
    let access = [catalog.tenant(tenant).access(), budget.rules.access()];
    let denied = |(target, known): &(&ModelRef, &CatalogModel)| {
        access.iter().find_map(|access| access.exclusion(target, &known.labels))
    };
    let Some((first, known)) = served.clone().find(|target| denied(target).is_none()) else {
        let told = served.by_ref().filter_map(|target| Some(format!("{} {}", target.0, denied(&target)?)));
        return Err(nobody(&selector, &told.collect::<Vec<_>>()));
    };
    if known.facts.capabilities.has(Capability::Embeddings) {
        return Ok(first.clone());
    }
    let message = format!("`{selector}` leads to {first}, which lacks embeddings; try `{DEFAULT_ALIAS}`");
    Err(Failure::new(ErrorReason::NoCapableModel, message))
}

fn nobody(selector: &ModelSelector, denied: &[String]) -> Failure {
    if denied.is_empty() {
        let message = format!("`{selector}` leads to no model whose vendor is configured");
        return Failure::new(ErrorReason::NoCapableModel, message);
    }
    let message = format!("`{selector}` leads to no model that the tenant may use: {}", denied.join("; "));
    Failure::new(ErrorReason::PermissionDenied, message)
}
