//! In which order candidates are tried.

use super::Catalog;
use crate::config::RoutingConfig;
use signalbox_routing::Rules;
use std::time::Duration;

/// How the candidates of a request are put in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Routing {
    /// How they are compared.
    pub rules: Rules,
    /// How long an answer should take.
    pub target: Duration,
    /// Answer tokens to reckon with where nothing is known yet.
    pub expected_tokens: u32,
}

/// As where nothing is configured: in the targets' own order.
impl Default for Routing {
    fn default() -> Self {
        Self::from(&RoutingConfig::default())
    }
}

impl From<&RoutingConfig> for Routing {
    fn from(config: &RoutingConfig) -> Self {
        Self { rules: config.rules(), target: config.target.into(), expected_tokens: config.expected_tokens }
    }
}

impl Catalog {
    /// How the candidates of a task type are put in order: as it says itself, else as for all requests.
    pub fn routing(&self, task_type: &str) -> &Routing {
        self.task_types.get(task_type).and_then(|task| task.routing.as_ref()).unwrap_or(&self.routing)
    }
}
