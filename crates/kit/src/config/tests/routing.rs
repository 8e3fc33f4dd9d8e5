use super::{errors::assert_problems, *};
use crate::catalog::Routing;
use signalbox_routing::{Preset, Rules, Selection, Weights};
use std::time::Duration;

fn routing(text: &str, task_type: &str) -> Routing {
    good(text).catalog.routing(task_type, "").clone()
}

#[test]
fn without_a_word_about_routing_candidates_are_scored_in_a_balanced_way() {
    let routing = routing("", "headline");
    assert_eq!(routing.rules, Rules::default());
    assert_eq!((routing.target, routing.expected_tokens), (Duration::from_secs(10), 256));
    assert_eq!(routing, Routing::default());
    assert_eq!(warnings("routing: {}"), "");
}

#[test]
fn the_listed_order_can_be_kept() {
    assert_eq!(routing("routing: {order: listed}", "").rules, Rules::CATALOGUE_ORDER);
}

#[test]
fn every_field_takes_effect() {
    let text =
        "routing: {order: scored, preset: fast, greed: 50, explore: 0, target: 3s, expected_tokens: 40}";
    let found = routing(text, "");
    let selection = Selection::Draw { kappa: 50.0, explore: 0.0 };
    assert_eq!(found.rules, Rules { weights: Preset::Fast.weights(), selection });
    assert_eq!((found.target, found.expected_tokens), (Duration::from_secs(3), 40));
    let found = routing("routing: {order: scored, weights: {cost: 3, latency: 1}, greed: best}", "");
    let weights = Weights { cost: 3.0, latency: 1.0, ..Weights::NONE };
    assert_eq!(found.rules, Rules { weights, selection: Selection::Best });
}

#[test]
fn what_a_task_type_says_takes_the_place_of_the_whole_section() {
    let text = "routing: {order: scored, preset: best, target: 3s}
task_types:
  tidy: {alias: fast, routing: {order: scored, preset: cheap}}
  plain: {alias: fast, routing: {}}
  same: {alias: fast}
";
    let loaded = good(text);
    let of = |task_type: &str| loaded.catalog.routing(task_type, "");
    assert_eq!((of("").rules.weights, of("").target), (Preset::Best.weights(), Duration::from_secs(3)));
    assert_eq!(
        (of("tidy").rules.weights, of("tidy").target),
        (Preset::Cheap.weights(), Duration::from_secs(10))
    );
    assert_eq!(of("plain"), &Routing::default());
    assert_eq!((of("same"), of("unheard of")), (of(""), of("")));
}

#[test]
fn a_value_that_cannot_be_used_is_told_with_its_place() {
    assert_problems(
        "routing:\n  ordre: scored\n  preset: cheep\n  greed: much\n  explore: 0.6\n  expected_tokens: 0\n",
        &[
            "2:3: routing.ordre: unknown field (did you mean `order`?)",
            "3:11: routing.preset: `cheep` is not one of balanced, cheap, fast, best (did you mean `cheap`?)",
            "4:10: routing.greed: `much` is neither a number from 0 to 1000 nor the word `best`",
            "5:12: routing.explore: 0.6 is out of range: must be from 0 to 0.5",
            "6:20: routing.expected_tokens: 0 is out of range",
        ],
    );
    for greed in ["-1", "1001", "NaN", "inf"] {
        assert_problems(
            &format!("routing: {{greed: {greed}}}"),
            &[&format!("1:18: routing.greed: `{greed}`")],
        );
    }
    assert_problems(
        "routing: {weights: {cost: 1001, speed: 1}}",
        &["1:27: routing.weights.cost: 1001 is out of range", "1:33: routing.weights.speed: unknown field"],
    );
    assert_problems("routing: {target: 0s}", &["1:19: routing.target: zero would never"]);
}

#[test]
fn weights_that_contradict_a_preset_or_are_all_zero_are_refused_also_in_a_task_type() {
    assert_problems(
        "routing: {order: scored, preset: fast, weights: {cost: 1}}",
        &["1:49: routing.weights: give either `preset` or `weights`, not both"],
    );
    assert_problems(
        "task_types:\n  bulk: {alias: fast, routing: {order: scored, weights: {cost: 0}}}\n",
        &["2:57: task_types.bulk.routing.weights: at least one weight must be above 0"],
    );
}

#[test]
fn a_field_without_effect_is_a_warning() {
    assert_eq!(
        warnings("routing: {order: listed, preset: cheap}"),
        "signalbox.yaml:1:34: routing.preset: has no effect with `order: listed`"
    );
    assert!(
        warnings("routing: {order: scored, greed: best, explore: 0.1}")
            .contains("routing.explore: has no effect")
    );
    assert_eq!(warnings("routing: {order: scored, preset: cheap, explore: 0.1}"), "");
}

#[test]
fn an_editor_takes_a_number_or_the_word_for_greed() {
    let validator = jsonschema::validator_for(&json_schema()).unwrap();
    let takes =
        |greed: serde_json::Value| validator.is_valid(&serde_json::json!({ "routing": { "greed": greed } }));
    assert!(takes(4.into()) && takes("best".into()));
    assert!(!takes(1001.into()) && !takes("more".into()));
}
