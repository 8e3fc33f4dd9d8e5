use super::{errors::assert_problems, *};

#[test]
fn a_pattern_a_preference_or_a_task_that_cannot_be_meant_is_told_with_its_place() {
    assert_problems(
        "tenants:
  acme:
    allow: [openai, '*/gpt']
    deny: [xai/*x]
    preferences: {openai: 1, xai/*: 4}
    required_labels: ['']
    exact_model: true
    task_types: {bulk: {alias: fast}}
",
        &[
            "3:13: tenants.acme.allow[0]: `openai` is not of the form vendor/model, vendor/prefix*, vendor/* or *",
            "3:21: tenants.acme.allow[1]: `*/gpt` is not",
            "4:12: tenants.acme.deny[0]: `xai/*x` is not",
            "5:37: tenants.acme.preferences[\"xai/*\"]: 4 is out of range: must be from -3 to 3",
            "6:23: tenants.acme.required_labels[0]: is empty",
            "7:5: tenants.acme.exact_model: unknown field (did you mean `exact_models`?)",
            "8:25: tenants.acme.task_types.bulk.alias: unknown field",
        ],
    );
    assert_problems(
        "tenants:
  acme:
    default_alias: fats
    preferences: {openai: 1}
    aliases: {fast: {targets: [openai/gpt-6-lune]}}
    tiers: {premium: [], economy: [opnai/x]}
    routing: {preset: cheap, weights: {cost: 1}}
    task_types:
      bluk: {routing: {weights: {cost: 0}}}
",
        &[
            "3:20: tenants.acme.default_alias: no alias `fats` under `aliases` (did you mean `fast`?)",
            "4:27: tenants.acme.preferences.openai: `openai` is not of the form",
            "5:32: tenants.acme.aliases.fast.targets[0]: no model `openai/gpt-6-lune`",
            "6:22: tenants.acme.tiers.premium: is empty; leave it out for everybody's",
            "6:36: tenants.acme.tiers.economy[0]: no vendor `opnai` under `vendors` (did you mean `openai`?)",
            "7:39: tenants.acme.routing.weights: give either `preset` or `weights`, not both",
            "9:13: tenants.acme.task_types.bluk: no task type `bluk` under `task_types` (did you mean `bulk`?)",
            "9:33: tenants.acme.task_types.bluk.routing.weights: at least one weight must be above 0",
        ],
    );
}

#[test]
fn a_rule_that_names_nothing_is_a_warning_with_what_was_probably_meant() {
    let text = "vendors: {anthropic: {labels: [eu]}}
tenants:
  acme:
    allow: [antropic/*, anthropic/*, ollama/any:7b]
    deny: [openai/gpt-6-lune]
    preferences: {openai/gtp*: 1}
    required_labels: [ue]
    aliases: {fsat: {targets: [openai/gpt-6-luna]}}
";
    let expected = [
        "signalbox.yaml:4:5: tenants.acme: may use no model: `allow`, `deny` and `required_labels` leave none",
        "4:13: tenants.acme.allow[0]: `antropic/*` names no model of the catalogue (did you mean `anthropic`?)",
        "5:12: tenants.acme.deny[0]: `openai/gpt-6-lune` names no model of the catalogue (did you mean `openai/gpt-6-luna`?)",
        "6:32: tenants.acme.preferences[\"openai/gtp*\"]: `openai/gtp*` names no model of the catalogue\n",
        "7:23: tenants.acme.required_labels[0]: no model and no vendor carries the label `ue`; known: eu",
        "8:21: tenants.acme.aliases.fsat: takes the place of no alias under `aliases` (did you mean `fast`?): only this tenant knows it",
    ];
    let warnings = warnings(text);
    assert_eq!(warnings.lines().count(), expected.len(), "{warnings}");
    for line in expected {
        assert!(warnings.contains(line), "{line}\nnot in\n{warnings}");
    }
}

#[test]
fn a_tenants_default_may_be_an_alias_of_its_own() {
    let text = "tenants: {acme: {default_alias: mine, aliases: {mine: {targets: [openai/gpt-6-luna]}}}}";
    assert!(warnings(text).contains("only this tenant knows it"));
}
