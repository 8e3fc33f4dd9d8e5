use super::*;
use signalbox_routing::Preset;

/// What an operator would write for a tenant that wants models in the EU, never xAI, cheap ones for bulk work, and
/// Anthropic rather than others.
const ACME: &str = "vendors:
  anthropic: {labels: [eu]}
  gemini: {labels: [eu]}
  xai: {labels: [eu]}
tenants:
  acme:
    required_labels: [eu]
    deny: [xai/*]
    preferences: {anthropic/*: 1}
    task_types: {bulk: {routing: {preset: cheap, greed: best}}}
";

fn may_use(catalog: &Catalog, tenant: &str, name: &str) -> bool {
    let known = catalog.model(&model(name)).unwrap();
    catalog.tenant(tenant).access().exclusion(&known.reference, &known.labels).is_none()
}

#[test]
fn a_tenant_may_use_what_carries_its_labels_and_is_not_denied() {
    let loaded = load(ACME);
    let catalog = &loaded.catalog;
    assert!(may_use(catalog, "acme", "anthropic/claude-haiku-5-5"));
    assert!(!may_use(catalog, "acme", "xai/grok-4.7"));
    assert!(!may_use(catalog, "acme", "openai/gpt-6-luna"));
    assert!(may_use(catalog, "somebody", "openai/gpt-6-luna"));
}

#[test]
fn what_a_tenant_may_not_use_is_refused_by_name_with_the_reason() {
    let loaded = load(ACME);
    let refusal = |tenant: &str, name: &str| {
        loaded.catalog.resolve(&ModelSelector::Exact(model(name)), "", tenant, today()).unwrap_err()
    };
    let denied = refusal("acme", "xai/grok-4.7");
    assert_eq!(denied.reason, ErrorReason::PermissionDenied);
    assert_eq!(
        denied.message,
        "the tenant `acme` may not use `xai/grok-4.7`: it is on the tenant's deny list"
    );
    let unlabelled = refusal("acme", "openai/gpt-6-luna").message;
    assert!(unlabelled.contains("it is not marked `eu`"), "{unlabelled}");
    let selector = ModelSelector::Exact(model("xai/grok-4.7"));
    let found = loaded.catalog.resolve(&selector, "", "somebody", today());
    assert_eq!(found.unwrap().preferred, [model("xai/grok-4.7")]);
}

#[test]
fn a_tenant_without_exact_models_names_aliases_tiers_and_tasks() {
    let loaded = load("tenants: {desk: {exact_models: false}}");
    let resolve = |selector: &ModelSelector| {
        loaded.catalog.resolve(selector, "", "desk", today()).map(|targets| targets.preferred.len())
    };
    resolve(&ModelSelector::Alias("fast".into())).unwrap();
    resolve(&ModelSelector::Tier(Tier::Economy)).unwrap();
    let refused = resolve(&ModelSelector::Exact(model("openai/gpt-6-luna"))).unwrap_err();
    assert_eq!(refused.reason, ErrorReason::PermissionDenied);
    assert!(refused.message.contains("name an alias, a tier or a task type"), "{}", refused.message);
}

#[test]
fn an_alias_and_a_tier_of_a_tenants_own_take_the_place_of_everybodys_for_it_alone() {
    let text = "tenants:
  desk:
    default_alias: fast
    aliases:
      fast: {targets: [gemini/gemini-3.8-flash]}
      mine: {targets: [openai/gpt-6-sol]}
    tiers: {economy: [openai/gpt-6-luna]}
";
    let loaded = load(text);
    let of = |selector: ModelSelector, task: &str, tenant: &str| {
        let found = loaded.catalog.resolve(&selector, task, tenant, today());
        found.map(|targets| {
            let all = targets.preferred.iter().chain(targets.secondary);
            all.map(ToString::to_string).collect::<Vec<_>>()
        })
    };
    let alias = |name: &str| ModelSelector::Alias(name.into());
    assert_eq!(of(alias("fast"), "", "desk").unwrap(), ["gemini/gemini-3.8-flash"]);
    assert_eq!(of(ModelSelector::Unspecified, "", "desk").unwrap(), ["gemini/gemini-3.8-flash"]);
    assert_eq!(of(alias("mine"), "", "desk").unwrap(), ["openai/gpt-6-sol"]);
    assert_eq!(of(ModelSelector::Tier(Tier::Economy), "", "desk").unwrap(), ["openai/gpt-6-luna"]);
    assert!(of(ModelSelector::Tier(Tier::Premium), "", "desk").unwrap().len() > 1);
    // A task type goes by its alias as the tenant has it; what is preferred there is not secondary any more.
    assert_eq!(of(ModelSelector::Unspecified, "interactive", "desk").unwrap(), ["gemini/gemini-3.8-flash"]);
    assert!(of(ModelSelector::Unspecified, "interactive", "").unwrap().len() > 2);
    assert!(of(alias("fast"), "", "other").unwrap().len() > 1);
    assert_eq!(of(alias("mine"), "", "other").unwrap_err().reason, ErrorReason::UnknownModel);
}

#[test]
fn the_order_is_the_tenants_for_the_task_then_the_tenants_then_the_tasks_then_everybodys() {
    let text = "routing: {preset: best}
tenants:
  desk:
    routing: {preset: fast}
    task_types: {interactive: {routing: {preset: cheap}}}
  acme: {task_types: {bulk: {routing: {preset: balanced}}}}
";
    let loaded = load(text);
    let weights = |task: &str, tenant: &str| loaded.catalog.routing(task, tenant).rules.weights;
    assert_eq!(weights("interactive", "desk"), Preset::Cheap.weights());
    assert_eq!(weights("bulk", "desk"), Preset::Fast.weights());
    assert_eq!(weights("", "desk"), Preset::Fast.weights());
    assert_eq!(weights("bulk", "acme"), Preset::Balanced.weights());
    assert_eq!(weights("interactive", "acme"), Preset::Fast.weights());
    assert_eq!(weights("headline", "acme"), Preset::Best.weights());
    assert_eq!(weights("interactive", "other"), Preset::Fast.weights());
}

#[test]
fn of_several_preferences_the_most_specific_counts() {
    let text = "tenants:
  desk:
    preferences: {'*': -1, openai/*: 1, openai/gpt-6*: 2, openai/gpt-6-luna: -3}
";
    let loaded = load(text);
    let preference = |name: &str| loaded.catalog.tenant("desk").preference(&model(name));
    assert_eq!(preference("openai/gpt-6-luna"), -3.0);
    assert_eq!(preference("openai/gpt-6-sol"), 2.0);
    assert_eq!(preference("openai/gpt-4o"), 1.0);
    assert_eq!(preference("xai/grok-4.7"), -1.0);
    assert_eq!(loaded.catalog.tenant("other").preference(&model("xai/grok-4.7")), 0.0);
}

#[test]
fn a_tenant_that_is_not_configured_has_no_restrictions() {
    let loaded = load(ACME);
    let unheard_of = loaded.catalog.tenant("unheard of");
    assert!(unheard_of.exact_models && unheard_of.allow.is_none() && unheard_of.deny.is_empty());
    assert_eq!(unheard_of.content_policy, None);
    assert!(!loaded.catalog.tenants().contains_key("unheard of"));
}
