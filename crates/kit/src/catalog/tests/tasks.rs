use super::*;
use std::time::Duration;

fn bare(temperature: Option<f64>) -> GenerateRequest {
    let mut request = GenerateRequest::default();
    request.prompt.sampling.temperature = temperature;
    request
}

#[test]
fn a_request_that_names_nothing_is_what_its_temperature_says() {
    let loaded = load("");
    let task = |temperature| {
        let request = bare(temperature);
        loaded.catalog.task_for(&request).map(str::to_owned)
    };
    assert_eq!(task(Some(0.0)).as_deref(), Some("deterministic"));
    assert_eq!(task(Some(0.3)).as_deref(), Some("deterministic"));
    assert_eq!(task(Some(0.31)), None);
    assert_eq!(task(Some(0.89)), None);
    assert_eq!(task(Some(0.9)).as_deref(), Some("creative"));
    assert_eq!(task(Some(2.0)).as_deref(), Some("creative"));
    assert_eq!(task(None), None);
    assert_eq!(task(Some(f64::NAN)), None);
}

#[test]
fn a_name_or_a_default_of_the_tenants_own_says_more_than_the_temperature() {
    let loaded = load("tenants: {desk: {default_alias: smart}}");
    let task = |request: GenerateRequest| loaded.catalog.task_for(&request).map(str::to_owned);
    let named = GenerateRequest { task_type: "headline".into(), ..bare(Some(0.0)) };
    assert_eq!(task(named).as_deref(), Some("headline"));
    let model = ModelSelector::Alias("smart".into());
    assert_eq!(task(GenerateRequest { model, ..bare(Some(0.0)) }), None);
    assert_eq!(task(GenerateRequest { tenant_id: "desk".into(), ..bare(Some(0.0)) }), None);
    assert_eq!(
        task(GenerateRequest { tenant_id: "other".into(), ..bare(Some(0.0)) }).as_deref(),
        Some("deterministic")
    );
}

#[test]
fn temperature_policies_can_be_replaced_and_switched_off() {
    let hot = bare(Some(1.0));
    assert_eq!(load("temperature_policies: []").catalog.task_for(&hot), None);
    let own = "temperature_policies: [{task_type: headline, from: 0.5}]";
    assert_eq!(load(own).catalog.task_for(&hot), Some("headline"));
}

#[test]
fn a_task_type_without_models_of_its_own_has_those_of_the_default_alias() {
    let text = "default_alias: smart
aliases: {mine: {targets: [openai/gpt-6-luna]}}
tenants:
  desk: {default_alias: mine}
  other: {aliases: {smart: {targets: [openai/gpt-6-sol]}}}
";
    let loaded = load(text);
    let models = |tenant: &str| {
        let targets = loaded.catalog.resolve(&ModelSelector::Unspecified, "deterministic", tenant, today());
        targets.unwrap().preferred.to_vec()
    };
    assert_eq!(models(""), &*loaded.catalog.aliases()["smart"].targets);
    assert_eq!(models("desk"), [model("openai/gpt-6-luna")]);
    assert_eq!(models("other"), [model("openai/gpt-6-sol")]);
}

#[test]
fn a_task_type_has_secondary_models_and_limits() {
    let text = "task_types:
  answer:
    alias: fast
    secondary: [openai/gpt-6-sol]
    first_byte_timeout: 5s
    first_output_ceiling: 1500ms
    hedge: {after: 800ms}
    max_invalid_retries: 2
";
    let loaded = load(text);
    let found = loaded.catalog.resolve(&ModelSelector::Unspecified, "answer", "", today()).unwrap();
    assert_eq!(found.preferred, &*loaded.catalog.aliases()["fast"].targets);
    assert_eq!(found.secondary, [model("openai/gpt-6-sol")]);
    let task = &loaded.catalog.task_types()["answer"];
    assert_eq!(task.first_output_ceiling, Some(Duration::from_millis(1_500)));
    assert_eq!(task.hedge, Some(Hedge { after: Duration::from_millis(800), max_share: 0.02 }));
    assert_eq!(task.max_invalid_retries, Some(2));
}

#[test]
fn who_names_a_model_beside_a_task_gets_no_secondary_models() {
    let loaded = load("");
    let alias = ModelSelector::Alias("smart".into());
    assert!(loaded.catalog.resolve(&alias, "interactive", "", today()).unwrap().secondary.is_empty());
}

#[test]
fn a_models_quality_is_its_own_by_task_then_its_own_then_its_tiers() {
    let text = "models:
  openai/gpt-6-luna: {quality: {default: 0.6, headline: 0.95}}
  openai/gpt-6-sol: {quality: {headline: 0.95}}
  openai/gpt-6-astra: {quality: 0.5}
assumed_quality: {standard: 0.81}
";
    let loaded = load(text);
    let quality = |name: &str, task: &str| loaded.catalog.model(&model(name)).unwrap().quality.of(task);
    assert_eq!(quality("openai/gpt-6-luna", "headline"), Some(0.95));
    assert_eq!(quality("openai/gpt-6-luna", "chat"), Some(0.6));
    assert_eq!(quality("openai/gpt-6-sol", "chat"), Some(0.81));
    assert_eq!(quality("openai/gpt-6-astra", "headline"), Some(0.5));
    assert_eq!(quality("anthropic/claude-opus-5-5", ""), Some(0.9));
    assert_eq!(quality("openai/text-embedding-3-small", ""), None);
    assert_eq!(quality("local/unlisted", ""), None);
}

#[test]
fn a_model_has_its_vendors_labels_and_priority_beside_its_own() {
    let text = "vendors:
  anthropic: {labels: [eu, zero_retention], priority: 2}
  local: {labels: [house], priority: -1}
models:
  anthropic/claude-haiku-5-5:
    labels: [eu, cheap]
    priority: 2.5
    latency: {first_token: 600ms, between_tokens: 12ms}
";
    let loaded = load(text);
    let known = |name: &str| loaded.catalog.model(&model(name)).unwrap();
    let labels = |name: &str| known(name).labels.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(labels("anthropic/claude-haiku-5-5"), ["eu", "cheap", "zero_retention"]);
    assert_eq!(labels("anthropic/claude-opus-5-5"), ["eu", "zero_retention"]);
    assert_eq!(labels("local/unlisted"), ["house"]);
    assert_eq!(known("anthropic/claude-haiku-5-5").priority, 3.0);
    assert_eq!(known("anthropic/claude-opus-5-5").priority, 2.0);
    assert_eq!(known("local/unlisted").priority, -1.0);
    let pace = known("anthropic/claude-haiku-5-5").pace.unwrap();
    assert_eq!((pace.first_token.as_millis(), pace.between_tokens.as_millis()), (600, 12));
    assert_eq!(known("anthropic/claude-opus-5-5").pace, None);
}
