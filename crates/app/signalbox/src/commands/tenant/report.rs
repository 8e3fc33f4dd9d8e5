//! Tenants, for people.

use crate::commands::{rates, show, tiers, when};
use signalbox_api::v1::{
    ScoreWeights, Tenant,
    tenant::{FailureMode, State},
};
use std::collections::BTreeMap;

/// A line each.
pub(super) fn all(tenants: &[Tenant]) -> String {
    if tenants.is_empty() {
        return "no tenant".to_owned();
    }
    let mut rows =
        vec![["TENANT", "NAME", "STATE", "PLAN", "TIME ZONE", "LIMITS"].map(str::to_owned).to_vec()];
    rows.extend(tenants.iter().map(|tenant| {
        let facts = [
            tenant.tenant_id.clone(),
            tenant.display_name.clone(),
            state(tenant).to_owned(),
            tenant.plan.clone(),
            time_zone(tenant),
            rates::shown(tenant.rate_limit.as_ref()),
        ];
        facts.map(show::or_dash).to_vec()
    }));
    show::table(&rows, &[]).join("\n")
}

/// All of one.
pub(super) fn one(tenant: &Tenant) -> String {
    let tiers: Vec<String> = tenant.allowed_tiers().map(tiers::name).collect();
    let tokens = tenant.default_max_output_tokens;
    let facts = [
        ("tenant", tenant.tenant_id.clone()),
        ("name", tenant.display_name.clone()),
        ("state", state(tenant).to_owned()),
        ("plan", tenant.plan.clone()),
        ("time zone", time_zone(tenant)),
        ("locale", tenant.locale.clone()),
        ("tiers", tiers.join(", ")),
        ("models", tenant.allowed_models.join(", ")),
        ("labels", tenant.required_vendor_labels.join(", ")),
        ("max output", if tokens == 0 { String::new() } else { format!("{tokens} tokens") }),
        ("price", if tenant.require_known_cost { "must be known".to_owned() } else { String::new() }),
        ("limits", rates::shown(tenant.rate_limit.as_ref())),
        ("unchecked", failure_mode(tenant.failure_mode()).to_owned()),
        ("created", when::shown(tenant.create_time.as_ref())),
    ];
    let told = facts.into_iter().filter(|(_, fact)| !fact.is_empty());
    let mut lines: Vec<String> = told.map(|(name, fact)| format!("{name:<10} {fact}")).collect();
    let weights: BTreeMap<_, _> = tenant.weights.iter().collect();
    lines.extend(
        weights.into_iter().map(|(task, weights)| format!("{:<10} {}", "weights", shown(task, weights))),
    );
    lines.extend(tenant.scenes.iter().map(|scene| {
        let limits = rates::shown(scene.rate_limit.as_ref());
        let limits = if limits.is_empty() { limits } else { format!(", {limits}") };
        format!("{:<10} {}: priority {}{limits}", "scene", scene.scene, scene.priority)
    }));
    lines.join("\n")
}

fn shown(task: &str, weights: &ScoreWeights) -> String {
    let factors: BTreeMap<_, _> = weights.factors.iter().collect();
    let factors: Vec<String> =
        factors.into_iter().map(|(factor, weight)| format!("{factor}={weight}")).collect();
    let task = if task.is_empty() { "all others" } else { task };
    format!("{task}: {}", factors.join(","))
}

fn state(tenant: &Tenant) -> &'static str {
    match tenant.state() {
        State::Unspecified | State::Active => "active",
        State::Suspended => "SUSPENDED",
    }
}

fn time_zone(tenant: &Tenant) -> String {
    if tenant.time_zone.is_empty() { "UTC".to_owned() } else { tenant.time_zone.clone() }
}

fn failure_mode(mode: FailureMode) -> &'static str {
    match mode {
        FailureMode::Unspecified | FailureMode::Closed => "refused where limits cannot be checked",
        FailureMode::Open => "goes on where limits cannot be checked; hard budgets stay closed",
    }
}
