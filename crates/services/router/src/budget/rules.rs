//! What the tenant store says of a tenant: it narrows what the catalogue says of it.

use signalbox_api::{convert, v1};
use signalbox_kit::catalog::Catalog;
use signalbox_routing::{Access, ModelPattern, Weights};
use signalbox_types::Tier;
use std::sync::Arc;

/// A tenant's own rules for one request. The default has none.
#[derive(Debug, Clone, Default)]
pub(crate) struct TenantRules {
    /// The only models it may use; `None` allows any.
    allow: Option<Vec<ModelPattern>>,
    labels: Vec<Arc<str>>,
    /// The tiers it may use; empty for any, also none.
    pub(crate) tiers: Vec<Tier>,
    /// In place of the catalogue's.
    pub(crate) weights: Option<Weights>,
    /// Only models whose price is known.
    pub(crate) known_price: bool,
    /// Tokens that a request which sets no limit may have, so that it takes no more than half of a minute's.
    pub(crate) most_tokens: Option<u64>,
}

impl TenantRules {
    pub(super) fn of(
        tenant: Option<&v1::Tenant>,
        catalog: &Catalog,
        tenant_id: &str,
        task_type: &str,
        scene: &str,
    ) -> Self {
        let Some(tenant) = tenant else { return Self::default() };
        let allowed = &tenant.allowed_models;
        Self {
            allow: (!allowed.is_empty()).then(|| patterns(allowed, catalog, tenant_id)),
            labels: tenant.required_vendor_labels.iter().map(|label| label.as_str().into()).collect(),
            tiers: tenant.allowed_tiers().filter_map(convert::tier_from_proto).collect(),
            weights: weights(tenant, task_type),
            known_price: tenant.require_known_cost,
            most_tokens: most_tokens(tenant, scene),
        }
    }

    pub(crate) fn access(&self) -> Access<'_> {
        Access { allow: self.allow.as_deref(), deny: &[], labels: &self.labels }
    }
}

/// `vendor/model`, `vendor/*`, or an alias, which stands for its models as they are now.
fn patterns(names: &[String], catalog: &Catalog, tenant_id: &str) -> Vec<ModelPattern> {
    let mut patterns = Vec::with_capacity(names.len());
    for name in names {
        match catalog.alias(name, tenant_id) {
            Some(alias) => patterns.extend(alias.targets.iter().map(ModelPattern::from)),
            None => patterns.extend(name.parse::<ModelPattern>()),
        }
    }
    patterns
}

fn weights(tenant: &v1::Tenant, task_type: &str) -> Option<Weights> {
    let factors = &tenant.weights.get(task_type).or_else(|| tenant.weights.get(""))?.factors;
    let factor = |name| factors.get(name).copied().unwrap_or_default();
    let weights = Weights {
        cost: factor("cost"),
        latency: factor("latency"),
        health: factor("health"),
        quality: factor("quality"),
        quota: factor("quota"),
    };
    weights.checked().ok()
}

fn most_tokens(tenant: &v1::Tenant, scene: &str) -> Option<u64> {
    let own = tenant.scenes.iter().find(|policy| policy.scene == scene);
    let limits = [tenant.rate_limit.as_ref(), own.and_then(|policy| policy.rate_limit.as_ref())];
    let tokens = limits.into_iter().flatten().map(|limit| limit.tokens_per_minute);
    tokens.filter(|tokens| *tokens > 0).min().map(|tokens| tokens / 2)
}
