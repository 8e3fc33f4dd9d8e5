//! The catalogue: vendors, models, and the names that lead to them. Made whole from a configuration, never changed
//! afterwards, and cheap to ask on every request.

mod build;
mod cache;
mod content;
mod fingerprint;
mod model;
mod prices;
mod resolve;
mod routing;
mod task;
mod tenant;
mod tenants;
mod vendors;

pub use content::{Moderation, NamedPolicy};
pub use fingerprint::fingerprint;
pub use model::{CatalogModel, QualityPriors};
pub use resolve::Targets;
pub use routing::Routing;
pub use task::{Hedge, TaskType};
pub use tenant::Tenant;
pub(crate) use vendors::unreadable_address;
pub use vendors::{Timeouts, VendorSettings};

use crate::config::{FailoverConfig, Secret, VendorConfig};
use signalbox_pricing::PriceBook;
use signalbox_types::{ModelRef, Tier};
use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::Arc,
};
use task::TemperaturePolicy;

/// The built-in catalogue, made by `deploy/catalog/generate.py`.
pub const DEFAULT_CATALOG: &str = include_str!("default.yaml");

/// Vendors, models, names and prices.
#[derive(Debug, Clone)]
pub struct Catalog {
    version: String,
    vendors: BTreeMap<Arc<str>, VendorConfig>,
    keys: BTreeMap<PathBuf, Secret>,
    models: Vec<CatalogModel>,
    index: HashMap<ModelRef, usize>,
    /// Stands in for the unlisted models of a vendor that takes any.
    templates: BTreeMap<Arc<str>, CatalogModel>,
    aliases: BTreeMap<String, Alias>,
    tiers: [(Tier, Arc<[ModelRef]>); 3],
    task_types: BTreeMap<String, TaskType>,
    tenants: BTreeMap<String, Tenant>,
    /// Stands in for the tenants that are not configured.
    any_tenant: Tenant,
    default_alias: Option<String>,
    temperature_policies: Vec<TemperaturePolicy>,
    prices: PriceBook,
    content: content::ContentPolicies,
    cache: cache::CachePolicies,
    routing: Routing,
    failover: FailoverConfig,
}

/// A name for models in order of preference.
#[derive(Debug, Clone)]
pub struct Alias {
    /// What it is for; empty where not said.
    pub description: String,
    /// Its models; never empty.
    pub targets: Arc<[ModelRef]>,
}

impl Catalog {
    /// Names the content: the same content has the same version on every replica.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A model. An unlisted one of a vendor that takes any is described by that vendor's template.
    pub fn model(&self, reference: &ModelRef) -> Option<&CatalogModel> {
        match self.index.get(reference) {
            Some(index) => self.models.get(*index),
            None => self.templates.get(&reference.vendor),
        }
    }

    /// A vendor entry as configured.
    pub fn vendor(&self, name: &str) -> Option<&VendorConfig> {
        self.vendors.get(name)
    }

    /// Every listed model, by name.
    pub fn models(&self) -> &[CatalogModel] {
        &self.models
    }

    /// Every alias, by name.
    pub fn aliases(&self) -> &BTreeMap<String, Alias> {
        &self.aliases
    }

    /// Every task type, by name.
    pub fn task_types(&self) -> &BTreeMap<String, TaskType> {
        &self.task_types
    }

    /// Every tenant, by id.
    pub fn tenants(&self) -> &BTreeMap<String, Tenant> {
        &self.tenants
    }

    /// The models of a tier, in order of preference.
    pub fn tier(&self, tier: Tier) -> &[ModelRef] {
        self.tiers.iter().find(|(name, _)| *name == tier).map_or(&[], |(_, targets)| targets)
    }

    /// What models cost.
    pub fn prices(&self) -> &PriceBook {
        &self.prices
    }

    /// Retries and switches when a vendor fails.
    pub fn failover(&self) -> &FailoverConfig {
        &self.failover
    }
}

#[cfg(test)]
mod tests;
