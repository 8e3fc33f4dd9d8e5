use super::*;
use signalbox_quality::content::{Action, Place};

/// The file has this one problem.
#[track_caller]
fn assert_problem(text: &str, expected: &str) {
    let problems = bad(text);
    let told = problems.lines().next().unwrap_or_default();
    assert!(told.contains(&format!(": {expected}")), "{problems}");
    assert_eq!(problems.lines().count(), 1, "{problems}");
}

fn rules(rules: &str) -> String {
    format!("content_policies:\n  strict:\n    rules:\n      - {rules}\n")
}

#[test]
fn a_rule_that_cannot_be_applied_is_told_with_its_field() {
    let of = |rule: &str, expected: &str| {
        assert_problem(&rules(rule), &format!("content_policies.strict.rules[0]{expected}"));
    };
    of(
        "{name: a, regex: 'x(', action: block}",
        ".regex: is not a regular expression: unclosed group, at character 2",
    );
    of("{name: a, regex: 'x*', action: block}", ".regex: matches the empty text");
    of(
        "{name: a, pii: [emale], action: flag}",
        ".pii[0]: `emale` is not one of email, phone, iban, credit_card, \
         ip_address, codice_fiscale, us_ssn (did you mean `email`?)",
    );
    of("{name: a, words: [], action: flag}", ".words: is an empty list");
    of("{name: a, words: ['  '], action: flag}", ".words: has an empty word");
    of("{name: a, action: flag}", ": needs `regex`, `words` or `pii`");
    of(
        "{name: a, words: [x], pii: [email], action: flag}",
        ".pii: give only one of `regex`, `words` and `pii`",
    );
    of("{name: a, words: [x], action: bloc}", ".action: `bloc` is not one of flag");
    of("{name: a, words: [x], action: flag, on: []}", ".on: is an empty list");
    of("{name: 'a b', words: [x], action: flag}", ".name: must be 1 to 64 of");
    of("{name: moderation, words: [x], action: flag}", ".name: is what findings");
    of(
        "{name: a, words: [x], action: redact, placeholder: '\"'}",
        ".placeholder: must be at most 64 bytes without quotes",
    );
}

#[test]
fn policies_are_named_and_not_empty() {
    assert_problem("content_policies: {a: {}}", "content_policies.a: needs `rules` or `moderation`");
    let twice = "{name: a, words: [x], action: flag}\n      - {name: a, words: [y], action: flag}";
    assert_problem(&rules(twice), "content_policies.strict.rules[1].name: a second rule `a`");
    for (field, text) in [
        ("content_policy", "content_policy: strikt\n"),
        ("tenants.t.content_policy", "tenants: {t: {content_policy: strikt}}\n"),
    ] {
        let expected = "no content policy `strikt` under `content_policies` (did you mean `strict`?)";
        let text = text.to_owned() + &rules("{name: a, words: [x], action: flag}");
        assert_problem(&text, &format!("{field}: {expected}"));
    }
}

#[test]
fn a_moderation_endpoint_is_checked_and_its_key_is_never_in_the_file() {
    let of = |moderation: &str, expected: &str| {
        let text = format!("content_policies: {{a: {{moderation: {moderation}}}}}");
        assert_problem(&text, &format!("content_policies.a.moderation.{expected}"));
    };
    of("{api_key: sk-s3cr3t}", "api_key: keys are never written in this file");
    of("{url: nowhere}", "url: not an http or https address");
    of("{url: 'https://m.example/v1/moderations'}", "url: leave `/v1/moderations` out");
    of("{on_error: ignore}", "on_error: `ignore` is not one of block, allow");
    of("{categories: {hate: 2}}", "categories.hate: 2 is out of range");
}

#[test]
fn tenants_have_their_own_policy_or_everybodys() {
    let text = "content_policy: all\ntenants: {t: {content_policy: own}}\ncontent_policies:\n  \
                all: {rules: [{name: a, words: [x], action: block, on: [input]}]}\n  \
                own: {moderation: {categories: {hate: 0.5}, on: [output], api_key: {env: MODERATION_KEY}, \
                url: 'https://m.example/'}}\n";
    let catalog = good(text).catalog;
    let all = catalog.content_policy("someone").unwrap();
    assert!(&*all.name == "all" && all.looks_at(Place::Input) && !all.looks_at(Place::Output));
    let own = catalog.content_policy("t").unwrap();
    assert!(own.moderation(Place::Input).is_none() && own.looks_at(Place::Output));
    let moderation = own.moderation(Place::Output).unwrap();
    assert_eq!((moderation.url.as_str(), moderation.action), ("https://m.example", Action::Block));
    assert!(moderation.fails_closed);
    let env = Environment::new([("MODERATION_KEY", "k")]);
    assert_eq!(catalog.moderation_key(moderation, &env).unwrap().expose(), "k");
    assert!(good("{}").catalog.content_policy("t").is_none());
}

#[test]
fn what_streams_cannot_decide_in_time_and_keys_that_are_missing_are_warned_of() {
    let text = "content_policies:\n  a:\n    rules: [{name: a, regex: 'x.*', action: block}, {name: b, regex: 'x.*', \
                action: flag}]\n    moderation: {api_key: {env: NO_SUCH_KEY}}\n";
    let warnings: Vec<_> =
        good(text).warning_lines().filter(|line| line.contains("content_policies")).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("rules[0].regex: its matches have no longest length"), "{warnings:?}");
    assert!(warnings[1].contains("moderation.api_key: the environment has no NO_SUCH_KEY"), "{warnings:?}");
}
