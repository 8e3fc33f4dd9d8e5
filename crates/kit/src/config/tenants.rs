//! The file's section about tenants.

use super::{
    cache::CacheRulesConfig,
    models::{AliasConfig, TiersConfig},
    numbers::Power,
    routing::RoutingConfig,
    values::patterns_schema,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A tenant: what it may use, and what it has otherwise than everybody.
///
/// A model pattern is `vendor/model`, `vendor/prefix*`, `vendor/*` or `*`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TenantConfig {
    /// Name for people.
    pub display_name: Option<String>,
    /// Name of its plan.
    pub plan: Option<String>,
    /// Alias for its requests that name neither model nor task type, whatever their temperature.
    pub default_alias: Option<String>,
    /// Patterns of the only models it may use; any where left out.
    #[schemars(schema_with = "patterns_schema")]
    pub allow: Option<Vec<String>>,
    /// Patterns of models it may not use, even when allowed.
    #[schemars(schema_with = "patterns_schema")]
    pub deny: Vec<String>,
    /// Data policy: it may use only models that carry all of these labels, themselves or by their vendor.
    #[schemars(inner(length(min = 1)))]
    pub required_labels: Vec<String>,
    /// Whether it may ask for an exact `vendor/model`, rather than for aliases, tiers and task types alone.
    pub exact_models: bool,
    /// Patterns of models and how much each is preferred: a power of two on the score, 1 doubles it, -1 halves it. Of
    /// several patterns that match, the most specific counts.
    pub preferences: BTreeMap<String, Power>,
    /// Its own aliases, also in the place of everybody's.
    pub aliases: BTreeMap<String, AliasConfig>,
    /// Its own tiers, in the place of everybody's.
    pub tiers: TiersConfig,
    /// Which candidate is tried first, in the place of what task types and the top-level section say.
    pub routing: Option<RoutingConfig>,
    /// What it has otherwise for single task types.
    pub task_types: BTreeMap<String, TenantTaskConfig>,
    /// Name of the content policy for its requests and answers.
    pub content_policy: Option<String>,
    /// Which of its answers may be given again.
    pub cache: CacheRulesConfig,
}

impl Default for TenantConfig {
    fn default() -> Self {
        Self {
            display_name: None,
            plan: None,
            default_alias: None,
            allow: None,
            deny: Vec::new(),
            required_labels: Vec::new(),
            exact_models: true,
            preferences: BTreeMap::new(),
            aliases: BTreeMap::new(),
            tiers: TiersConfig::default(),
            routing: None,
            task_types: BTreeMap::new(),
            content_policy: None,
            cache: CacheRulesConfig::default(),
        }
    }
}

/// What a tenant has otherwise for one task type.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TenantTaskConfig {
    /// Which candidate is tried first.
    pub routing: Option<RoutingConfig>,
    /// Which of its answers may be given again.
    pub cache: CacheRulesConfig,
}
