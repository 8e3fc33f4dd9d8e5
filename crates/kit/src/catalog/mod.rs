//! The catalogue: vendors, models, and the names that lead to them. Made whole from a configuration, never changed
//! afterwards, and cheap to ask on every request.

mod build;
mod fingerprint;
mod resolve;
mod routing;
mod vendors;

pub(crate) use fingerprint::fingerprint;
pub use routing::Routing;
pub use vendors::{Timeouts, VendorSettings};

use crate::config::{FailoverConfig, Secret, VendorConfig};
use signalbox_pricing::{Lifecycle, PriceBook};
use signalbox_types::{Capabilities, ModelFacts, ModelRef, ReasoningEffort, Tier};
use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

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
    default_alias: Option<String>,
    prices: PriceBook,
    routing: Routing,
    failover: FailoverConfig,
}

/// A model of the catalogue.
#[derive(Debug, Clone)]
pub struct CatalogModel {
    /// Its name. For unlisted models of a vendor that takes any, the model half is `*`.
    pub reference: ModelRef,
    /// What it can do and how it wants to be spoken to.
    pub facts: ModelFacts,
    /// Where it is in its life; ask it with the day of the request.
    pub lifecycle: Lifecycle,
    /// Its price class.
    pub tier: Option<Tier>,
    /// Where its facts are from; empty where not said.
    pub source: String,
    /// When they were right; empty where not said.
    pub as_of: String,
}

/// A name for models in order of preference.
#[derive(Debug, Clone)]
pub struct Alias {
    /// What it is for; empty where not said.
    pub description: String,
    /// Its models; never empty.
    pub targets: Arc<[ModelRef]>,
}

/// A kind of work.
#[derive(Debug, Clone, Default)]
pub struct TaskType {
    /// What it is for; empty where not said.
    pub description: String,
    /// Its models, in order of preference.
    pub targets: Arc<[ModelRef]>,
    /// Temperature where the request has none.
    pub temperature: Option<f64>,
    /// Output limit where the request has none.
    pub max_output_tokens: Option<u32>,
    /// Reasoning effort where the request has none.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// What its models must be able to do, whatever the prompt shows.
    pub required_capabilities: Capabilities,
    /// Time for the whole call where the request has none.
    pub timeout: Option<Duration>,
    /// Time for one attempt at one model.
    pub attempt_timeout: Option<Duration>,
    /// Time to the first content of an attempt.
    pub first_byte_timeout: Option<Duration>,
    /// How its candidates are put in order, where it says so itself; see [`Catalog::routing`].
    pub routing: Option<Routing>,
}

/// A tenant.
#[derive(Debug, Clone, Default)]
pub struct Tenant {
    /// Name for people; empty where not said.
    pub display_name: String,
    /// Alias for its requests that name neither model nor task type.
    pub default_alias: Option<String>,
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
