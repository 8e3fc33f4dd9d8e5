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
    /// How the candidates of a request are put in order: as the tenant says for the task type, else as it says for
    /// everything, else as the task type says, else as for all requests.
    pub fn routing(&self, task_type: &str, tenant: &str) -> &Routing {
        let tenant = self.tenant(tenant);
        let own = tenant.task_routing.get(task_type).or(tenant.routing.as_ref());
        own.or_else(|| self.task_types.get(task_type)?.routing.as_ref()).unwrap_or(&self.routing)
    }
}
