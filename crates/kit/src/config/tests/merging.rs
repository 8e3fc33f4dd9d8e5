use super::*;
use signalbox_types::{ModelRef, ModelSelector};

fn targets(loaded: &Loaded, alias: &str) -> Vec<String> {
    loaded.catalog.aliases()[alias].targets.iter().map(ModelRef::to_string).collect()
}

#[test]
fn no_file_and_one_that_says_nothing_are_the_built_in_catalogue() {
    let without = load(None, &Environment::default(), today()).unwrap();
    for text in ["", "# nothing\n", "---\n", "null\n", "extends: default\n"] {
        let with = good(text);
        assert_eq!(with.catalog.models().len(), without.catalog.models().len());
        assert!(with.catalog.aliases().contains_key("fast"), "{text:?}");
    }
    assert!(without.warnings.is_empty(), "{:?}", without.warnings);
}

#[test]
fn maps_merge_by_key_and_lists_are_replaced() {
    let loaded =
        good("aliases:\n  fast:\n    targets: [xai/grok-4.3]\n  mine:\n    targets: [openai/gpt-6-luna]\n");
    assert_eq!(targets(&loaded, "fast"), ["xai/grok-4.3"]);
    assert_eq!(loaded.catalog.aliases()["fast"].description, "quick answers at a low price");
    assert_eq!(targets(&loaded, "mine"), ["openai/gpt-6-luna"]);
    assert!(loaded.catalog.aliases().contains_key("smart"));
}

#[test]
fn one_fact_of_a_known_model_can_be_changed_alone() {
    let loaded = good("models: {openai/gpt-6-luna: {max_output_tokens: 5}}");
    let model = loaded.catalog.model(&"openai/gpt-6-luna".parse().unwrap()).unwrap();
    assert_eq!((model.facts.max_output_tokens, model.facts.context_window), (5, 1_050_000));
}

#[test]
fn a_key_set_to_null_is_removed_and_what_led_to_it_goes_too() {
    let loaded = good("vendors: {xai: null}\naliases: {smart: null}\n");
    assert!(loaded.catalog.model(&"xai/grok-4.3".parse().unwrap()).is_none());
    assert!(targets(&loaded, "fast").iter().all(|target| !target.starts_with("xai/")));
    assert!(!loaded.catalog.aliases().contains_key("smart"));
    assert!(!loaded.catalog.task_types().contains_key("chat"), "its alias is gone");
    assert!(
        bad("vendors: {xai: null}\naliases: {mine: {targets: [xai/grok-4.3]}}").contains("no vendor `xai`")
    );
}

#[test]
fn of_two_fields_that_exclude_each_other_the_files_one_wins() {
    let loaded = good("task_types: {headline: {targets: [openai/gpt-6-luna]}}");
    let headline = &loaded.catalog.task_types()["headline"];
    assert_eq!(headline.targets.iter().map(ModelRef::to_string).collect::<Vec<_>>(), ["openai/gpt-6-luna"]);
    assert_eq!(headline.temperature, Some(0.8), "the rest is kept");
    assert!(bad("task_types: {mine: {alias: fast, targets: [openai/gpt-6-luna]}}").contains("not both"));
}

#[test]
fn extends_none_starts_from_nothing() {
    let text = "extends: none\n\
        vendors: {mine: {kind: openai-compatible, base_url: 'http://127.0.0.1:8080'}}\n\
        aliases: {fast: {targets: [mine/anything]}}\n";
    let loaded = good(text);
    assert!(loaded.catalog.models().is_empty());
    assert_eq!(loaded.catalog.vendors(&Environment::default()).len(), 1);
    let selector = ModelSelector::Alias("fast".into());
    assert_eq!(
        loaded.catalog.resolve(&selector, "", "", today()).unwrap().preferred[0].to_string(),
        "mine/anything"
    );
}

#[test]
fn anchors_and_aliases_of_yaml_work() {
    let loaded = good(
        "aliases:\n  one: &one\n    targets: &list [openai/gpt-6-luna]\n  two: *one\n  three: {targets: *list}\n",
    );
    assert_eq!(targets(&loaded, "two"), targets(&loaded, "one"));
    assert_eq!(targets(&loaded, "three"), targets(&loaded, "one"));
}

#[test]
fn the_same_content_has_the_same_version_and_other_content_another() {
    let version = |text: &str| good(text).catalog.version().to_owned();
    assert_eq!(version("default_alias: fast"), version("default_alias: fast"));
    assert_ne!(version("default_alias: fast"), version("default_alias: smart"));
    let prices = |text: &str| good(text).catalog.prices().price_version().to_owned();
    assert_eq!(prices("default_alias: fast"), prices("default_alias: smart"));
    assert_ne!(prices(""), prices("exchange_rate: {usd_eur: 0.9}"));
}
