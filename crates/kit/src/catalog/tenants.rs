//! From a tenant's configuration to the tenant.

use super::{Tenant, build};
use crate::config::{Config, Power, TaskTypeConfig, TenantConfig, TenantTaskConfig};
use signalbox_routing::ModelPattern;
use signalbox_types::ModelRef;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

pub(super) fn tenant(config: &Config, tenant: &TenantConfig) -> Tenant {
    let tiers = tenant.tiers.each().into_iter().filter(|(_, _, list)| !list.is_empty());
    let task_routing =
        |(name, task): (&String, &TenantTaskConfig)| Some((name.clone(), task.routing.as_ref()?.into()));
    Tenant {
        display_name: tenant.display_name.clone().unwrap_or_default(),
        default_alias: tenant.default_alias.clone(),
        allow: tenant.allow.as_deref().map(patterns),
        deny: patterns(&tenant.deny),
        required_labels: tenant.required_labels.iter().map(|label| label.as_str().into()).collect(),
        exact_models: tenant.exact_models,
        preferences: preferences(&tenant.preferences),
        content_policy: tenant.content_policy.as_deref().map(Into::into),
        aliases: build::aliases(&tenant.aliases),
        tiers: tiers.map(|(_, tier, list)| (tier, build::targets(list))).collect(),
        routing: tenant.routing.as_ref().map(Into::into),
        task_routing: tenant.task_types.iter().filter_map(task_routing).collect(),
        task_targets: task_targets(config, tenant),
    }
}

fn patterns(texts: &[String]) -> Vec<ModelPattern> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

/// Most specific first: all patterns that match a model begin like its name, so the longest says most, and a whole
/// name more than any beginning.
fn preferences(powers: &BTreeMap<String, Power>) -> Vec<(ModelPattern, f64)> {
    let mut powers: Vec<_> = powers.iter().collect();
    powers.sort_by_key(|(text, _)| (text.ends_with('*'), Reverse(text.len())));
    powers.into_iter().filter_map(|(text, power)| Some((text.parse().ok()?, power.0))).collect()
}

/// Models of the task types whose alias leads the tenant elsewhere than everybody. A secondary model that is preferred
/// there is not listed again.
fn task_targets(config: &Config, tenant: &TenantConfig) -> HashMap<String, [Arc<[ModelRef]>; 2]> {
    let everybodys_default = config.default_alias.as_deref();
    let default_alias = tenant.default_alias.as_deref().or(everybodys_default);
    let own = |(name, task): (&String, &TaskTypeConfig)| {
        let alias = task.alias_or(default_alias)?;
        let same = !tenant.aliases.contains_key(alias) && task.alias_or(everybodys_default) == Some(alias);
        let found = tenant.aliases.get(alias).or_else(|| config.aliases.get(alias)).filter(|_| !same)?;
        let preferred = build::targets(&found.targets);
        let secondary = build::targets(&task.secondary);
        let secondary = secondary.iter().filter(|model| !preferred.contains(model)).cloned().collect();
        Some((name.clone(), [preferred, secondary]))
    };
    config.task_types.iter().filter_map(own).collect()
}
