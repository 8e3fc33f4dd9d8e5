//! Kinds of work, and which one a request is.

use super::{Catalog, Routing};
use signalbox_types::{Capabilities, GenerateRequest, ModelRef, ModelSelector, ReasoningEffort};
use std::{ops::RangeInclusive, sync::Arc, time::Duration};

/// A kind of work.
#[derive(Debug, Clone, Default)]
pub struct TaskType {
    /// What it is for; empty where not said.
    pub description: String,
    /// The alias whose models serve it; `None` where it lists its own.
    pub alias: Option<String>,
    /// Its models, in order of preference.
    pub targets: Arc<[ModelRef]>,
    /// Models for when none of those can serve it; none of them is among those.
    pub secondary: Arc<[ModelRef]>,
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
    /// 99th percentile of the time to the first content beyond which a model is left out.
    pub first_output_ceiling: Option<Duration>,
    /// When a second model is asked beside a slow one; never where `None`.
    pub hedge: Option<Hedge>,
    /// Other models asked after an answer that failed the quality gate; one where `None`.
    pub max_invalid_retries: Option<u32>,
    /// How its candidates are put in order, where it says so itself; see [`Catalog::routing`].
    pub routing: Option<Routing>,
}

/// When a second model is asked beside a slow one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hedge {
    /// How long the first one may be silent.
    pub after: Duration,
    /// Most of the requests for which this is done, as a share from 0 to 1.
    pub max_share: f64,
}

/// Temperatures that tell which kind of work a request is.
#[derive(Debug, Clone)]
pub(super) struct TemperaturePolicy {
    pub(super) range: RangeInclusive<f64>,
    pub(super) task_type: String,
}

impl Catalog {
    /// The task type of a request: the one it names. One that names neither task type nor model, of a tenant without
    /// a default alias, has the one that `temperature_policies` give for its temperature, if any.
    pub fn task_for<'a>(&'a self, request: &'a GenerateRequest) -> Option<&'a str> {
        if !request.task_type.is_empty() {
            return Some(&request.task_type);
        }
        let bare = request.model == ModelSelector::Unspecified
            && self.tenant(&request.tenant_id).default_alias.is_none();
        let temperature = request.prompt.sampling.temperature.filter(|_| bare)?;
        let policies = &self.temperature_policies;
        let policy = policies.iter().find(|policy| policy.range.contains(&temperature))?;
        Some(&policy.task_type)
    }
}
