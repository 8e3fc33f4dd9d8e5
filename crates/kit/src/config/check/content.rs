//! Content policies: rules that can be applied, and names that lead to them.

use super::{Findings, check_name};
use crate::config::{
    Config, ContentActionConfig, ContentPolicyConfig, ContentRuleConfig, Environment, KeySource,
    ModerationConfig, nearest::did_you_mean, sanity::check_key_source, tree::Cursor,
};
use signalbox_quality::content::MOST_HELD;
use std::collections::HashSet;

/// Findings of the moderation endpoint go by this name.
const MODERATION: &str = "moderation";

pub(super) fn check(config: &Config, root: &Cursor<'_>, findings: &mut Findings) {
    for (name, policy) in &config.content_policies {
        let at = root.key("content_policies").key(name);
        check_name(name, &at, findings);
        check_policy(policy, &at, findings);
    }
    check_reference(config, config.content_policy.as_deref(), &root.key("content_policy"), findings);
    for (id, tenant) in &config.tenants {
        let at = root.key("tenants").key(id).key("content_policy");
        check_reference(config, tenant.content_policy.as_deref(), &at, findings);
    }
}

fn check_reference(config: &Config, name: Option<&str>, at: &Cursor<'_>, findings: &mut Findings) {
    if let Some(name) = name.filter(|name| !config.content_policies.contains_key(*name)) {
        let hint = did_you_mean(name, config.content_policies.keys().map(String::as_str));
        findings.fault(at, format!("no content policy `{name}` under `content_policies`{hint}"));
    }
}

fn check_policy(policy: &ContentPolicyConfig, at: &Cursor<'_>, findings: &mut Findings) {
    if policy.rules.is_empty() && policy.moderation.is_none() {
        findings.fault(at, "needs `rules` or `moderation`");
    }
    let (mut names, mut sound) = (HashSet::new(), true);
    for (index, rule) in policy.rules.iter().enumerate() {
        let at = at.key("rules").index(index);
        if !names.insert(&rule.name) {
            findings.fault(&at.key("name"), format!("a second rule `{}`", rule.name));
        }
        sound &= check_rule(rule, &at, findings);
    }
    if sound && let Err(invalid) = policy.compiled() {
        let at = at.key("rules").index(invalid.rule);
        let by = policy.rules.get(invalid.rule).and_then(|rule| rule.looks_by().first().copied());
        findings.fault(&by.map_or_else(|| at.clone(), |by| at.key(by)), invalid.message);
    }
    if let Some(moderation) = &policy.moderation {
        check_moderation(moderation, &at.key("moderation"), findings);
    }
}

/// Whether it says what to look for.
fn check_rule(rule: &ContentRuleConfig, at: &Cursor<'_>, findings: &mut Findings) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if !(1..=64).contains(&rule.name.len()) || !rule.name.bytes().all(is_word) {
        findings.fault(&at.key("name"), "must be 1 to 64 of a-z, A-Z, 0-9, `_`, `-` and `.`");
    }
    if rule.name == MODERATION {
        findings.fault(&at.key("name"), "is what findings of `moderation` are called");
    }
    if let Some(placeholder) = &rule.placeholder {
        let at = at.key("placeholder");
        if rule.action != ContentActionConfig::Redact {
            findings.warn(&at, "has no effect without `action: redact`");
        }
        // It must fit between the quotes of a JSON string.
        if placeholder.len() > 64 || placeholder.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
            findings
                .fault(&at, "must be at most 64 bytes without quotes, backslashes and control characters");
        }
    }
    if rule.is_unbounded_in_streams() {
        let message = format!(
            "its matches have no longest length: an answer that streams is held back while one may be growing, and \
             ends with an error after {MOST_HELD} bytes; bound it, as in `.{{0,80}}` for `.*`"
        );
        findings.warn(&at.key("regex"), message);
    }
    match rule.looks_by().as_slice() {
        [_] => true,
        [] => {
            findings.fault(at, "needs `regex`, `words` or `pii`");
            false
        }
        [_, second, ..] => {
            findings.fault(&at.key(second), "give only one of `regex`, `words` and `pii`");
            false
        }
    }
}

fn check_moderation(moderation: &ModerationConfig, at: &Cursor<'_>, findings: &mut Findings) {
    check_key_source(moderation.api_key.as_ref(), &at.key("api_key"), findings);
    if moderation.url.trim_end_matches('/').ends_with("/v1/moderations") {
        findings.fault(&at.key("url"), "leave `/v1/moderations` out; it is added");
    }
}

/// Moderation endpoints without their key.
pub(super) fn check_keys(config: &Config, env: &Environment, root: &Cursor<'_>, findings: &mut Findings) {
    for (name, policy) in &config.content_policies {
        let key = policy.moderation.as_ref().and_then(|moderation| moderation.api_key.as_ref());
        let Some(KeySource { env: Some(names), .. }) = key else { continue };
        if env.first(names.as_slice().iter().map(String::as_str)).is_none() {
            let at = root.key("content_policies").key(name).key("moderation").key("api_key");
            let message = format!("the environment has no {}", names.as_slice().join(" or "));
            findings.warn(&at, message);
        }
    }
}
