//! Tenants: what each may use, and what it has otherwise than everybody.

use super::{Alias, Catalog, Routing};
use signalbox_routing::{Access, ModelPattern};
use signalbox_types::{ModelRef, Tier};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// A tenant. The default one may use everything, and has everything as the whole catalogue has it.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// Name for people; empty where not said.
    pub display_name: String,
    /// Alias for its requests that name neither model nor task type.
    pub default_alias: Option<String>,
    /// The only models it may use; `None` allows any.
    pub allow: Option<Vec<ModelPattern>>,
    /// Models it may not use, even when allowed.
    pub deny: Vec<ModelPattern>,
    /// The data policy: labels that a model must carry.
    pub required_labels: Vec<Arc<str>>,
    /// Whether it may ask for an exact `vendor/model`.
    pub exact_models: bool,
    /// Powers of two on the score, from -3 to 3, most specific pattern first; see [`Tenant::preference`].
    pub preferences: Vec<(ModelPattern, f64)>,
    /// Name of the content policy for its requests and answers.
    pub content_policy: Option<Arc<str>>,
    pub(super) aliases: BTreeMap<String, Alias>,
    pub(super) tiers: Vec<(Tier, Arc<[ModelRef]>)>,
    pub(super) routing: Option<Routing>,
    pub(super) task_routing: HashMap<String, Routing>,
    /// Models of the task types whose alias it has otherwise: preferred, then secondary.
    pub(super) task_targets: HashMap<String, [Arc<[ModelRef]>; 2]>,
}

impl Default for Tenant {
    fn default() -> Self {
        Self {
            display_name: String::new(),
            default_alias: None,
            allow: None,
            deny: Vec::new(),
            required_labels: Vec::new(),
            exact_models: true,
            preferences: Vec::new(),
            content_policy: None,
            aliases: BTreeMap::new(),
            tiers: Vec::new(),
            routing: None,
            task_routing: HashMap::new(),
            task_targets: HashMap::new(),
        }
    }
}

impl Tenant {
    /// Its rules about models.
    pub fn access(&self) -> Access<'_> {
        Access { allow: self.allow.as_deref(), deny: &self.deny, labels: &self.required_labels }
    }

    /// How much it likes a model, as a power of two on the score: what the most specific pattern says, else 0.
    pub fn preference(&self, model: &ModelRef) -> f64 {
        let found = self.preferences.iter().find(|(pattern, _)| pattern.matches(model));
        found.map_or(0.0, |(_, power)| *power)
    }

    /// Its own models of a tier, where it has any.
    pub(super) fn tier(&self, tier: Tier) -> Option<&[ModelRef]> {
        self.tiers.iter().find(|(name, _)| *name == tier).map(|(_, targets)| &**targets)
    }
}

impl Catalog {
    /// A tenant; one that is not configured is like every other such.
    pub fn tenant(&self, id: &str) -> &Tenant {
        self.tenants.get(id).unwrap_or(&self.any_tenant)
    }
}
