//! Which model is asked at each vendor.

use crate::service::Dependencies;
use signalbox_kit::{
    catalog::{Catalog, CatalogModel},
    config::{Config, HeartbeatConfig, Loaded},
};
use signalbox_pricing::{Day, ModelStatus};
use signalbox_types::{Capability, Lane, ModelRef, Money, TokenUsage, VendorKind};
use std::{collections::BTreeSet, sync::Arc};

/// Tokens of the question, with what vendors put around it.
pub(super) const PROMPT_TOKENS: u64 = 8;

/// One model for each vendor that is to be asked. Made anew when configuration, vendors or day change.
#[derive(Debug, Default)]
pub(super) struct Choices {
    made_from: Option<(Arc<Loaded>, BTreeSet<Arc<str>>, Day)>,
    models: Vec<ModelRef>,
}

impl Choices {
    pub(super) fn each(&self) -> &[ModelRef] {
        &self.models
    }

    /// Makes the choices that hold now, and reports on their models from now on: other adapters then know of this one
    /// before the first heartbeat.
    pub(super) fn refresh(&mut self, dependencies: &Dependencies, settings: &HeartbeatConfig) {
        let loaded = dependencies.config.loaded();
        let vendors: BTreeSet<Arc<str>> = dependencies.vendors.load().keys().cloned().collect();
        let day = Day::of(dependencies.clock.now());
        let fresh = self.made_from.as_ref().is_some_and(|(from, connected, on)| {
            Arc::ptr_eq(from, &loaded) && *connected == vendors && *on == day
        });
        if fresh {
            return;
        }
        let choice = |vendor: &Arc<str>| choose(&loaded.config, &loaded.catalog, vendor, settings, day);
        self.models = vendors.iter().filter_map(choice).collect();
        self.models.iter().for_each(|model| dependencies.health.know(&listed_as(&loaded.catalog, model)));
        self.made_from = Some((loaded, vendors, day));
    }
}

fn listed_as(catalog: &Catalog, model: &ModelRef) -> ModelRef {
    catalog.model(model).map_or(model, |known| &known.reference).clone()
}

/// The model to ask at a vendor, unless it is left in peace.
fn choose(
    config: &Config,
    catalog: &Catalog,
    vendor: &Arc<str>,
    settings: &HeartbeatConfig,
    day: Day,
) -> Option<ModelRef> {
    let entry = config.vendors.get(&**vendor)?;
    let model = entry.heartbeat.model.as_deref().map(|model| ModelRef::new(vendor.clone(), model));
    // There a call loads the model into memory, and drives out one that is in use.
    let by_itself = model.is_some() || entry.kind != VendorKind::Ollama;
    if !entry.heartbeat.enabled.unwrap_or(settings.enabled && by_itself) {
        return None;
    }
    model.or_else(|| cheapest(catalog, vendor, settings, day))
}

/// The cheapest text model that the vendor serves; one that must think first, is on its way out or has no known price
/// only where there is no other.
fn cheapest(catalog: &Catalog, vendor: &str, settings: &HeartbeatConfig, day: Day) -> Option<ModelRef> {
    let wanted = [Capability::Text, Capability::Streaming];
    let fits = |model: &&CatalogModel| {
        &*model.reference.vendor == vendor
            && wanted.into_iter().all(|capability| model.facts.capabilities.has(capability))
            && model.lifecycle.served_on(day)
    };
    let rank = |model: &&CatalogModel| {
        let cost = cost(catalog, model, settings, day);
        let leaving = model.lifecycle.status_on(day) != ModelStatus::Active;
        let thinks = model.facts.parameters.always_reasons;
        (cost.is_none(), leaving, thinks, cost, model.reference.clone())
    };
    catalog.models().iter().filter(fits).min_by_key(rank).map(|model| model.reference.clone())
}

fn cost(catalog: &Catalog, model: &CatalogModel, settings: &HeartbeatConfig, day: Day) -> Option<Money> {
    let output = u64::from(super::probe::output_tokens(&model.facts, settings.max_output_tokens));
    let usage = TokenUsage { input: PROMPT_TOKENS, output, ..TokenUsage::default() };
    catalog.prices().cost(&model.reference, &usage, Lane::Interactive, day)
}
