//! Tenants.

use super::texts::{plain_id, text};
use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{
        ScenePolicy, ScoreWeights, Tenant, Tier,
        tenant::{FailureMode, State},
    },
};
use signalbox_budgeting::period::Zone;
use signalbox_kit::config::Config;
use signalbox_routing::{ModelPattern, Weights};
use signalbox_types::shown;
use std::collections::HashSet;

/// Most entries of a list of a tenant.
const MOST_LISTED: usize = 1_000;
/// Furthest that a scene's priority is from the ordinary.
const FURTHEST: i32 = 100;

/// Checks a tenant. `config` has the plans.
pub(crate) fn tenant(tenant: &Tenant, config: &Config, violations: &mut Violations) {
    plain_id(&tenant.tenant_id, "tenant.tenant_id", violations);
    text(&tenant.display_name, 256, "tenant.display_name", violations);
    plan(&tenant.plan, config, violations);
    known_enum::<State>(tenant.state, "tenant.state", violations);
    known_enum::<FailureMode>(tenant.failure_mode, "tenant.failure_mode", violations);
    time_zone(&tenant.time_zone, violations);
    let locale = &tenant.locale;
    let is_tag =
        locale.len() <= 35 && locale.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    violations.check(is_tag, || "tenant.locale", || "must be a BCP 47 tag, as in it-IT");
    tiers(&tenant.allowed_tiers, violations);
    models(&tenant.allowed_models, violations);
    labels(&tenant.required_vendor_labels, violations);
    for (task_type, weights) in &tenant.weights {
        score_weights(task_type, weights, violations);
    }
    let default = tenant.default_max_output_tokens;
    violations.check(default >= 0, || "tenant.default_max_output_tokens", || "must not be negative");
    scenes(&tenant.scenes, violations);
}

fn plan(plan: &str, config: &Config, violations: &mut Violations) {
    let known = plan.is_empty() || config.plans.contains_key(plan);
    violations.check(
        known,
        || "tenant.plan",
        || {
            let names: Vec<_> = config.plans.keys().map(String::as_str).collect();
            match names.as_slice() {
                [] => format!("there is no plan `{}`: the configuration has none", shown(plan)),
                names => format!("there is no plan `{}`; there are {}", shown(plan), names.join(", ")),
            }
        },
    );
}

fn time_zone(name: &str, violations: &mut Violations) {
    if let Err(error) = Zone::parse(name) {
        violations.add("tenant.time_zone", error.to_string());
    }
}

fn tiers(tiers: &[i32], violations: &mut Violations) {
    let mut seen = HashSet::new();
    for (index, tier) in tiers.iter().enumerate() {
        let field = format!("tenant.allowed_tiers[{index}]");
        let known = known_enum::<Tier>(*tier, &field, violations);
        let said = Tier::try_from(*tier).is_err() || known != Tier::Unspecified;
        violations.check(said, || field.as_str(), || "must say a tier");
        violations.check(seen.insert(tier), || field.as_str(), || "is listed twice");
    }
}

/// A name with a `/` names models of vendors; any other is an alias, which the configuration may get later.
fn models(models: &[String], violations: &mut Violations) {
    violations.at_most(models.len(), MOST_LISTED, "entries", || "tenant.allowed_models");
    for (index, model) in models.iter().enumerate() {
        let field = format!("tenant.allowed_models[{index}]");
        text(model, 256, &field, violations);
        violations.check(!model.is_empty(), || field.as_str(), || "must not be empty");
        if model.contains(['/', '*'])
            && let Err(error) = model.parse::<ModelPattern>()
        {
            violations.add(field, error.to_string());
        }
    }
}

fn labels(labels: &[String], violations: &mut Violations) {
    violations.at_most(labels.len(), MOST_LISTED, "entries", || "tenant.required_vendor_labels");
    for (index, label) in labels.iter().enumerate() {
        let field = format!("tenant.required_vendor_labels[{index}]");
        text(label, 64, &field, violations);
        violations.check(!label.is_empty(), || field.as_str(), || "must not be empty");
    }
}

/// The names of factors, as the configuration has them; a preference is not a weight there but may be given one here.
fn score_weights(task_type: &str, weights: &ScoreWeights, violations: &mut Violations) {
    let field = |factor: &str| format!("tenant.weights[{}].factors[{}]", shown(task_type), shown(factor));
    text(task_type, 64, "tenant.weights", violations);
    for (factor, weight) in &weights.factors {
        let known = factor == "preference" || Weights::NONE.named().iter().any(|(name, _)| name == factor);
        violations.check(
            known,
            || field(factor),
            || "is no factor: there are cost, latency, health, quality, quota and preference",
        );
        let good = (0.0..=1_000.0).contains(weight);
        violations.check(good, || field(factor), || "must be a number from 0 to 1000");
    }
    let any = weights.factors.values().any(|weight| *weight > 0.0);
    violations.check(
        any,
        || format!("tenant.weights[{}].factors", shown(task_type)),
        || "at least one must be above 0",
    );
}

fn scenes(scenes: &[ScenePolicy], violations: &mut Violations) {
    violations.at_most(scenes.len(), MOST_LISTED, "entries", || "tenant.scenes");
    let mut seen = HashSet::new();
    for (index, scene) in scenes.iter().enumerate() {
        let field = format!("tenant.scenes[{index}].scene");
        violations.check(!scene.scene.is_empty(), || field.as_str(), || "is required");
        text(&scene.scene, 256, &field, violations);
        violations.check(seen.insert(&scene.scene), || field.as_str(), || "is listed twice");
        let near = (-FURTHEST..=FURTHEST).contains(&scene.priority);
        violations.check(
            near,
            || format!("tenant.scenes[{index}].priority"),
            || format!("must be from -{FURTHEST} to {FURTHEST}"),
        );
    }
}
