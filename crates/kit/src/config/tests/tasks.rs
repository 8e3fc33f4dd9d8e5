use super::{errors::assert_problems, *};
use crate::catalog::Routing;
use signalbox_routing::Preset;

#[test]
fn models_of_a_task_type_that_cannot_be_meant_are_told_with_their_place() {
    assert_problems(
        "aliases: {two: {targets: [openai/gpt-6-luna, openai/gpt-6-sol]}}
task_types:
  mine:
    alias: two
    secondary: [openai/gpt-6-sol, openai/gpt-6-lune]
  other: {targets: [openai/gpt-6-luna], secondary: [openai/gpt-6-luna]}
models:
  openai/gpt-6-luna: {quality: {default: 1, hedaline: 0.5}}
  openai/gpt-6-sol: {quality: 1.5, priority: -4}
",
        &[
            "9:31: models[\"openai/gpt-6-sol\"].quality: 1.5 is out of range: must be from 0 to 1",
            "9:46: models[\"openai/gpt-6-sol\"].priority: -4 is out of range: must be from -3 to 3",
        ],
    );
    assert_problems(
        "aliases: {two: {targets: [openai/gpt-6-luna, openai/gpt-6-sol]}}
task_types:
  mine:
    alias: two
    secondary: [openai/gpt-6-sol, openai/gpt-6-lune]
  other: {targets: [openai/gpt-6-luna], secondary: [openai/gpt-6-luna]}
models:
  openai/gpt-6-luna: {quality: {default: 1, hedaline: 0.5}}
",
        &[
            "5:17: task_types.mine.secondary[0]: `openai/gpt-6-sol` is preferred already",
            "5:35: task_types.mine.secondary[1]: no model `openai/gpt-6-lune` under `models`",
            "6:53: task_types.other.secondary[0]: `openai/gpt-6-luna` is preferred already",
            "8:55: models[\"openai/gpt-6-luna\"].quality.hedaline: no task type `hedaline` under `task_types` (did you mean `headline`?)",
        ],
    );
}

#[test]
fn times_that_contradict_each_other_are_told() {
    assert_problems(
        "task_types:
  mine:
    alias: fast
    first_byte_timeout: 2s
    first_output_ceiling: 3s
    hedge: {after: 2s, max_share: 0.1}
",
        &[
            "5:27: task_types.mine.first_output_ceiling: 3s is longer than `first_byte_timeout`, 2s",
            "6:20: task_types.mine.hedge.after: 2s is never reached: `first_byte_timeout` is 2s",
        ],
    );
    assert_problems(
        "task_types: {mine: {alias: fast, first_output_ceiling: 0s, hedge: {after: 0s, max_share: 0.9}}}",
        &[
            "1:56: task_types.mine.first_output_ceiling: zero would never let anything finish",
            "1:75: task_types.mine.hedge.after: zero would never",
            "1:90: task_types.mine.hedge.max_share: 0.9 is out of range: must be from 0.001 to 0.5",
        ],
    );
}

#[test]
fn temperatures_that_overlap_or_are_out_of_order_are_told() {
    assert_problems(
        "temperature_policies:
  - {task_type: deterministic, up_to: 0.3}
  - {task_type: creative, from: 0.3}
  - {task_type: bulk, up_to: 0.1}
  - {task_type: poems, from: 3}
",
        &["5:30: temperature_policies[3].from: 3 is out of range: must be from 0 to 2"],
    );
    assert_problems(
        "temperature_policies:
  - {task_type: deterministic, up_to: 0.3}
  - {task_type: creative, from: 0.3, up_to: 1.5}
  - {task_type: creativ, from: 1.8, up_to: 1.6}
",
        &[
            "3:5: temperature_policies[1]: 0.3 to 1.5 does not begin above 0.3, where the entry before ends",
            "4:17: temperature_policies[2].task_type: no task type `creativ` under `task_types` (did you mean `creative`?)",
            "4:32: temperature_policies[2].from: 1.8 is above `up_to`, 1.6",
        ],
    );
}

#[test]
fn the_listed_order_is_for_the_built_in_task_types_too_but_not_for_ones_own() {
    let text = "routing: {order: listed}\ntask_types: {bulk: {routing: {greed: 9}}, mine: {alias: fast, routing: {preset: fast}}}";
    let catalog = good(text).catalog;
    assert_eq!(catalog.routing("interactive", ""), catalog.routing("", ""));
    assert_eq!(catalog.routing("mine", "").rules.weights, Preset::Fast.weights());
    assert_eq!(catalog.routing("bulk", "").rules.weights, Preset::Cheap.weights());
}

#[test]
fn what_the_file_says_of_a_built_in_task_wins_over_what_it_contradicts() {
    let text = "aliases: {fast: {targets: [gemini/gemini-3.8-flash]}}
task_types:
  interactive: {routing: {weights: {cost: 1}}}
  bulk: {routing: {order: listed}}
";
    let loaded = good(text);
    assert_eq!(warnings(text), "");
    assert_eq!(loaded.catalog.routing("interactive", "").rules.weights.cost, 1.0);
    assert_eq!(loaded.catalog.routing("interactive", "").rules.weights.latency, 0.0);
    let listed = good("routing: {order: listed}").catalog.routing("", "").rules;
    assert_eq!(loaded.catalog.routing("bulk", "").rules, listed);
    assert!(loaded.catalog.task_types()["interactive"].secondary.is_empty(), "it is preferred now");
}

#[test]
fn removing_a_task_or_a_vendor_takes_along_what_the_built_in_catalogue_says_of_it() {
    let without = good("task_types: {creative: null}").config;
    assert_eq!(without.temperature_policies.len(), 1);
    let without = good("aliases: {fast: null}").config;
    assert!(without.default_alias.is_none() && !without.task_types.contains_key("deterministic"));
    let without = good("vendors: {gemini: null}").catalog;
    assert!(without.task_types()["interactive"].secondary.is_empty());
    assert_ne!(without.routing("interactive", ""), &Routing::default());
}
