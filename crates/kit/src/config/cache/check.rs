//! What a file says of the cache that cannot be meant.

use super::{BUILT_IN, CacheConfig, CacheRulesConfig, SemanticConfig};
use crate::config::{
    Config, Environment, HumanDuration, VendorConfig, budgets::check_redis, check::Findings,
    nearest::did_you_mean, sanity::check_key_source, tree::Cursor,
};
use signalbox_caching::{TaskPolicy, policy::LONGEST_SEMANTIC_TTL};
use signalbox_types::{Capability, ModelRef};

/// Longer, and requests wait for the cache rather than for a model.
const LONGEST_TIMEOUT: HumanDuration = HumanDuration::secs(10);

pub(in crate::config) fn check(config: &Config, root: &Cursor<'_>, findings: &mut Findings) {
    let (cache, at) = (&config.cache, root.key("cache"));
    let store = at.key("store");
    if cache.store.memory.is_some() && cache.store.redis.is_some() {
        findings.fault(&store, "give either `memory` or `redis`, not both");
    }
    if let Some(redis) = &cache.store.redis {
        if redis.url.is_none() {
            findings.fault(&store.key("redis"), "needs a `url`");
        }
        check_redis(redis, &store.key("redis"), findings);
    }
    for (field, timeout) in
        [("exact_timeout", cache.exact_timeout), ("semantic_timeout", cache.semantic_timeout)]
    {
        if timeout > LONGEST_TIMEOUT {
            findings.fault(&at.key(field), format!("{timeout} is too long: at most {LONGEST_TIMEOUT}"));
        }
    }
    if cache.semantic_timeout < cache.exact_timeout {
        let message =
            format!("{} is shorter than `exact_timeout`, {}", cache.semantic_timeout, cache.exact_timeout);
        findings.fault(&at.key("semantic_timeout"), message);
    }
    check_key_source(Some(&cache.secret), &at.key("secret"), findings);
    if cache.embedder != BUILT_IN {
        check_model(config, &cache.embedder, Some(Capability::Embeddings), &at.key("embedder"), findings);
    }
    if let Some(verifier) = &cache.verifier {
        check_model(config, verifier, None, &at.key("verifier"), findings);
    }
    check_rules(&cache.defaults, "", &at.key("defaults"), findings);
    for (name, task) in &config.task_types {
        check_rules(&task.cache, name, &root.key("task_types").key(name).key("cache"), findings);
    }
    for (id, tenant) in &config.tenants {
        let at = root.key("tenants").key(id);
        check_rules(&tenant.cache, "", &at.key("cache"), findings);
        for (name, task) in &tenant.task_types {
            check_rules(&task.cache, name, &at.key("task_types").key(name).key("cache"), findings);
        }
    }
}

/// What the environment leaves open.
pub(in crate::config) fn check_secret(
    config: &Config,
    env: &Environment,
    root: &Cursor<'_>,
    findings: &mut Findings,
) {
    let at = root.key("cache").key("secret");
    let needed = config.cache.enabled && config.cache.store.redis.is_some();
    match config.cache.secret(env) {
        Err(problem) => findings.warn(&at, problem),
        Ok(None) if needed => {
            let message =
                format!("is not there, and answers in Redis need one; set {}", CacheConfig::SECRET_VARIABLE);
            findings.warn(&at, message);
        }
        Ok(_) => {}
    }
}

fn check_model(
    config: &Config,
    name: &str,
    needs: Option<Capability>,
    at: &Cursor<'_>,
    findings: &mut Findings,
) {
    let reference = match name.parse::<ModelRef>() {
        Ok(reference) => reference,
        Err(error) => return findings.fault(at, format!("{error}")),
    };
    match config.models.get(name) {
        Some(model) => {
            if let Some(needed) = needs.filter(|needed| !model.capabilities.contains(needed)) {
                findings.fault(at, format!("`{name}` lacks {}", needed.name()));
            }
        }
        None => {
            let vendor = config.vendors.get(&*reference.vendor);
            if !vendor.is_some_and(VendorConfig::takes_unlisted_models) {
                let hint = did_you_mean(name, config.models.keys().map(String::as_str));
                findings.fault(at, format!("no model `{name}` under `models`{hint}"));
            }
        }
    }
}

fn check_rules(rules: &CacheRulesConfig, task_type: &str, at: &Cursor<'_>, findings: &mut Findings) {
    for violation in rules.overrides().violations() {
        let field = match violation.field.split_once('.') {
            Some((field, key)) => at.key(field).key(key),
            None => at.key(&violation.field),
        };
        findings.fault(&field, violation.description);
    }
    let by_meaning = rules.semantic.is_some_and(|semantic| semantic != SemanticConfig::Off);
    if by_meaning && !TaskPolicy::may_match_by_meaning(task_type) {
        let message = "has no effect: one word changes a translation, so these are never matched by meaning";
        findings.warn(&at.key("semantic"), message);
    }
    if by_meaning && rules.ttl.is_some_and(|ttl| ttl.0 > LONGEST_SEMANTIC_TTL) {
        let message = "is more than 7 days, the longest for what is matched by meaning: texts can be guessed from vectors";
        findings.warn(&at.key("ttl"), message);
    }
}
