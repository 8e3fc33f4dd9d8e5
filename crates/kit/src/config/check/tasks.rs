//! Kinds of work: their models, times, and the temperatures that mean them.

use super::{Findings, check_alias, check_name, routing, targets::Targets};
use crate::config::{
    Config, ModelConfig, QualityConfig, TaskTypeConfig, nearest::did_you_mean, tree::Cursor,
};

pub(super) fn check(targets: &Targets<'_>, root: &Cursor<'_>, findings: &mut Findings) {
    for (name, task) in &targets.config.task_types {
        let at = root.key("task_types").key(name);
        if name.is_empty() {
            findings.fault(&at, "a task type has a name: requests that give none have no task type");
        }
        check_name(name, &at, findings);
        check_models(targets, task, &at, findings);
        check_times(task, &at, findings);
        if let Some(routing) = &task.routing {
            routing::check(routing, &at.key("routing"), findings);
        }
    }
    check_temperatures(targets.config, &root.key("temperature_policies"), findings);
}

fn check_models(targets: &Targets<'_>, task: &TaskTypeConfig, at: &Cursor<'_>, findings: &mut Findings) {
    let config = targets.config;
    match (&task.alias, &task.targets) {
        (Some(_), Some(_)) => {
            findings.fault(&at.key("targets"), "give either `alias` or `targets`, not both");
        }
        (None, None) if config.default_alias.is_none() => {
            findings.fault(at, "needs `alias` or `targets`, since there is no `default_alias`");
        }
        _ => check_alias(config, task.alias.as_deref(), &at.key("alias"), findings),
    }
    targets.check(task.targets.as_deref().unwrap_or_default(), &at.key("targets"), findings);
    let at = at.key("secondary");
    targets.check(&task.secondary, &at, findings);
    let alias = task.alias_or(config.default_alias.as_deref()).and_then(|name| config.aliases.get(name));
    let preferred = task.targets.as_ref().or_else(|| alias.map(|alias| &alias.targets));
    let preferred = preferred.map(Vec::as_slice).unwrap_or_default();
    for (index, model) in task.secondary.iter().enumerate().filter(|(_, model)| preferred.contains(model)) {
        let message = format!("`{model}` is preferred already; `secondary` is for when those cannot serve");
        findings.fault(&at.index(index), message);
    }
}

fn check_times(task: &TaskTypeConfig, at: &Cursor<'_>, findings: &mut Findings) {
    let first_byte = ("first_byte_timeout", task.first_byte_timeout);
    let attempt = ("attempt_timeout", task.attempt_timeout);
    let ordered = [
        (first_byte, attempt),
        (attempt, ("timeout", task.timeout)),
        (("first_output_ceiling", task.first_output_ceiling), first_byte),
    ];
    for ((inner_name, inner), (outer_name, outer)) in ordered {
        if let (Some(inner), Some(outer)) = (inner, outer)
            && inner > outer
        {
            findings.fault(&at.key(inner_name), format!("{inner} is longer than `{outer_name}`, {outer}"));
        }
    }
    let Some(hedge) = task.hedge else { return };
    for (name, limit) in [first_byte, attempt] {
        if let Some(limit) = limit.filter(|limit| hedge.after >= *limit) {
            let message = format!("{} is never reached: `{name}` is {limit}", hedge.after);
            findings.fault(&at.key("hedge").key("after"), message);
            return;
        }
    }
}

fn check_temperatures(config: &Config, at: &Cursor<'_>, findings: &mut Findings) {
    let mut before = None;
    for (index, policy) in config.temperature_policies.iter().enumerate() {
        let at = at.index(index);
        check_task_type(config, &policy.task_type, &at.key("task_type"), findings);
        if policy.from > policy.up_to {
            let message = format!("{} is above `up_to`, {}", policy.from, policy.up_to);
            findings.fault(&at.key("from"), message);
        }
        if let Some(before) = before.filter(|before| policy.from <= *before) {
            let (from, up_to) = (policy.from, policy.up_to);
            let message =
                format!("{from} to {up_to} does not begin above {before}, where the entry before ends");
            findings.fault(&at, message);
        }
        before = Some(policy.up_to);
    }
}

pub(super) fn check_quality(config: &Config, model: &ModelConfig, at: &Cursor<'_>, findings: &mut Findings) {
    let Some(QualityConfig::ByTask(shares)) = &model.quality else { return };
    let at = at.key("quality");
    for name in shares.keys().filter(|name| *name != "default") {
        check_task_type(config, name, &at.key(name), findings);
    }
}

pub(super) fn check_task_type(config: &Config, name: &str, at: &Cursor<'_>, findings: &mut Findings) {
    if !config.task_types.contains_key(name) {
        let hint = did_you_mean(name, config.task_types.keys().map(String::as_str));
        findings.fault(at, format!("no task type `{name}` under `task_types`{hint}"));
    }
}
