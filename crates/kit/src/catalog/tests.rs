use super::*;
use crate::config::{Environment, Loaded, load_text};
use signalbox_pricing::{Day, ModelStatus};
use signalbox_types::{
    Capabilities, Capability, ErrorReason, GenerateRequest, Lane, ModelFacts, ModelSelector, OpenAiEndpoint,
    TokenUsage, VendorKind,
};

mod defaults;
mod real_or_simulated;
mod tasks;
mod tenants;

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn today() -> Day {
    day("2026-11-29")
}

fn load(text: &str) -> Loaded {
    load_text(text, None, &Environment::default(), today()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn model(name: &str) -> ModelRef {
    name.parse().unwrap()
}

#[test]
fn a_request_that_names_nothing_goes_by_task_then_tenant_then_default() {
    let loaded = load("tenants: {desk: {default_alias: smart}}");
    let catalog = &loaded.catalog;
    let of = |alias: &str| catalog.aliases()[alias].targets.to_vec();
    let resolve = |task: &str, tenant: &str| {
        catalog.resolve(&ModelSelector::Unspecified, task, tenant, today()).unwrap().preferred.to_vec()
    };
    assert_eq!(resolve("headline", "desk"), of("creative"));
    assert_eq!(resolve("", "desk"), of("smart"));
    assert_eq!(resolve("", "other"), of("fast"));
}

#[test]
fn a_name_wins_over_the_task_but_the_task_must_exist() {
    let loaded = load("");
    let alias = ModelSelector::Alias("smart".into());
    let found = loaded.catalog.resolve(&alias, "headline", "", today()).unwrap();
    assert_eq!(found.preferred, &*loaded.catalog.aliases()["smart"].targets);
    let failure = loaded.catalog.resolve(&alias, "headlin", "", today()).unwrap_err();
    assert_eq!(failure.reason, ErrorReason::UnknownModel);
    assert_eq!(failure.violations[0].field, "task_type");
    assert!(failure.message.contains("did you mean `headline`?"), "{}", failure.message);
}

#[test]
fn an_unknown_name_is_told_with_the_nearest_one() {
    let loaded = load("");
    let tell =
        |selector: ModelSelector| loaded.catalog.resolve(&selector, "", "", today()).unwrap_err().message;
    assert!(tell(ModelSelector::Alias("fats".into())).contains("`fast`"));
    assert!(tell(ModelSelector::Exact(model("openai/gpt-6-lune"))).contains("`openai/gpt-6-luna`"));
}

#[test]
fn a_model_is_refused_from_its_shutdown_on_with_its_successor() {
    let loaded = load("");
    let selector = ModelSelector::Exact(model("openai/gpt-5"));
    loaded.catalog.resolve(&selector, "", "", day("2026-12-10")).unwrap();
    let failure = loaded.catalog.resolve(&selector, "", "", day("2026-12-11")).unwrap_err();
    assert_eq!(
        failure.message,
        "`openai/gpt-5` was shut down on 2026-12-11; its vendor names `openai/gpt-5.6-sol` instead"
    );
}

#[test]
fn any_model_of_a_server_of_ones_own_is_taken_and_free() {
    let loaded = load("");
    let smol = model("local/smollm2");
    let found = loaded.catalog.require(&smol, today()).unwrap();
    assert!(found.facts.capabilities.has(Capability::Tools));
    let usage = TokenUsage { input: 1_000, output: 1_000, ..TokenUsage::default() };
    let cost = loaded.catalog.prices().cost(&smol, &usage, Lane::Interactive, today()).unwrap();
    assert_eq!(cost.nano_eur(), 0);
    assert!(loaded.catalog.require(&model("openai/smollm2"), today()).is_err());
    assert!(
        !loaded
            .catalog
            .model(&model("ollama/anything:7b"))
            .unwrap()
            .facts
            .capabilities
            .has(Capability::ForcedTools)
    );
}

#[test]
fn a_model_without_prices_has_no_known_cost() {
    let loaded = load("models: {openai/mine: {capabilities: [text], context_window: 1000}}");
    let usage = TokenUsage { input: 1, ..TokenUsage::default() };
    assert_eq!(loaded.catalog.prices().cost(&model("openai/mine"), &usage, Lane::Interactive, today()), None);
}
