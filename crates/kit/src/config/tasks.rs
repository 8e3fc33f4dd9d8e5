//! The file's sections about kinds of work.

use super::{
    cache::CacheRulesConfig, models::TargetName, routing::RoutingConfig, values::HumanDuration, words,
};
use schemars::JsonSchema;
use serde::Deserialize;
use signalbox_types::{Capability, ReasoningEffort};

/// A kind of work. Give either `alias` or `targets`; where both are left out, it has the models of the default alias.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TaskTypeConfig {
    /// What it is for.
    pub description: Option<String>,
    /// The alias whose models serve it.
    pub alias: Option<String>,
    /// Its own models as `vendor/model`, in order of preference.
    #[schemars(length(min = 1))]
    pub targets: Option<Vec<TargetName>>,
    /// Models as `vendor/model` for when none of those can serve it, in order of preference.
    pub secondary: Vec<TargetName>,
    /// Temperature where the request has none.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// Output limit where the request has none.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_output_tokens: Option<u32>,
    /// Reasoning effort where the request has none.
    #[schemars(schema_with = "words::effort")]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// What its models must be able to do, whatever the prompt shows.
    #[schemars(schema_with = "words::capabilities")]
    pub required_capabilities: Vec<Capability>,
    /// Time for the whole call where the request has none.
    pub timeout: Option<HumanDuration>,
    /// Time for one attempt at one model.
    pub attempt_timeout: Option<HumanDuration>,
    /// Time to the first content of an attempt.
    pub first_byte_timeout: Option<HumanDuration>,
    /// Leaves models out of streams whose first content takes longer than this in one of a hundred.
    pub first_output_ceiling: Option<HumanDuration>,
    /// When a second model is asked beside a slow one; both are paid for. Never where left out.
    pub hedge: Option<HedgeConfig>,
    /// Other models asked after an answer that breaks its schema or leaves out a tool that it had to use; one where
    /// left out.
    #[schemars(range(min = 0, max = 3))]
    pub max_invalid_retries: Option<u32>,
    /// Which candidate is tried first; the top-level section where left out.
    pub routing: Option<RoutingConfig>,
    /// Which of its answers may be given again.
    pub cache: CacheRulesConfig,
}

/// When a second model is asked beside a slow one.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HedgeConfig {
    /// How long the first one may be silent.
    pub after: HumanDuration,
    /// Most of the requests for which this is done, as a share.
    #[serde(default = "fiftieth")]
    #[schemars(range(min = 0.001, max = 0.5))]
    pub max_share: f64,
}

fn fiftieth() -> f64 {
    0.02
}

/// Temperatures whose requests have a task type, when they name neither a task type nor a model.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TemperaturePolicyConfig {
    /// The task type.
    pub task_type: String,
    /// Lowest temperature; 0 where left out.
    #[serde(default)]
    #[schemars(range(min = 0, max = 2))]
    pub from: f64,
    /// Highest temperature; 2 where left out.
    #[serde(default = "hottest")]
    #[schemars(range(min = 0, max = 2))]
    pub up_to: f64,
}

fn hottest() -> f64 {
    2.0
}

impl TaskTypeConfig {
    /// The alias whose models serve it, where `default_alias` is what requests get that name nothing.
    pub fn alias_or<'a>(&'a self, default_alias: Option<&'a str>) -> Option<&'a str> {
        match &self.targets {
            Some(_) => None,
            None => self.alias.as_deref().or(default_alias),
        }
    }
}
