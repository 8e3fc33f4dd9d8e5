//! What is left of the built-in catalogue once the file has taken things away.
//!
//! Removing a vendor or a model takes the built-in names that led to it along, so that `vendors: {xai: null}` is
//! all it takes to be rid of one. What the file itself names must exist.

use super::{
    AliasConfig, Config, OrderConfig, Origin, TaskTypeConfig,
    tree::{Cursor, Node},
};
use signalbox_types::ModelRef;
use std::collections::BTreeMap;

pub(super) fn drop_dangling_defaults(config: &mut Config, root: &Cursor<'_>) {
    drop_overruled_choices(config, root);
    drop_models(config, root);
    drop_targets(config, root);
    drop_references(config, root);
}

fn built_in(cursor: &Cursor<'_>) -> bool {
    cursor.node.is_none_or(|Node { at, .. }| at.origin == Origin::BuiltIn)
}

/// Of two fields that exclude each other, the file's one wins over the built-in one.
fn drop_overruled_choices(config: &mut Config, root: &Cursor<'_>) {
    for (name, vendor) in &mut config.vendors {
        let at = root.key("vendors").key(name).key("api_key");
        if let Some(key) = &mut vendor.api_key
            && key.file.is_some()
            && built_in(&at.key("env"))
        {
            key.env = None;
        }
    }
    let listed = config.routing.order == OrderConfig::Listed;
    for (name, task) in &mut config.task_types {
        let at = root.key("task_types").key(name);
        drop_overruled_models(task, config.default_alias.as_deref(), &config.aliases, &at);
        let at = at.key("routing");
        // Who wants the listed order wants it for the built-in task types, too.
        if listed && built_in(&at) {
            task.routing = None;
        }
        if let Some(routing) = &mut task.routing
            && routing.weights.is_some()
            && built_in(&at.key("preset"))
        {
            routing.preset = None;
        }
    }
}

fn drop_overruled_models(
    task: &mut TaskTypeConfig,
    default_alias: Option<&str>,
    aliases: &BTreeMap<String, AliasConfig>,
    at: &Cursor<'_>,
) {
    if task.alias.is_some() && task.targets.is_some() && built_in(&at.key("alias")) {
        task.alias = None;
    }
    let alias = task.alias_or(default_alias).and_then(|name| aliases.get(name));
    let preferred = task.targets.as_ref().or_else(|| alias.map(|alias| &alias.targets));
    if built_in(&at.key("secondary")) {
        task.secondary.retain(|model| !preferred.is_some_and(|preferred| preferred.contains(model)));
    }
}

fn drop_models(config: &mut Config, root: &Cursor<'_>) {
    let models = root.key("models");
    let vendors = &config.vendors;
    config.models.retain(|name, _| {
        let vendor = name.split('/').next().unwrap_or_default();
        vendors.contains_key(vendor) || !built_in(&models.key(name))
    });
}

fn drop_targets(config: &mut Config, root: &Cursor<'_>) {
    let (models, vendors) = (&config.models, &config.vendors);
    let known = |target: &String| {
        let vendor = target.parse::<ModelRef>().ok().and_then(|model| vendors.get(&*model.vendor));
        models.contains_key(target) || vendor.is_some_and(super::VendorConfig::takes_unlisted_models)
    };
    for (name, alias) in &mut config.aliases {
        if built_in(&root.key("aliases").key(name).key("targets")) {
            alias.targets.retain(known);
        }
    }
    config.aliases.retain(|_, alias| !alias.targets.is_empty());
    for (name, task) in &mut config.task_types {
        if let Some(targets) = &mut task.targets
            && built_in(&root.key("task_types").key(name).key("targets"))
        {
            targets.retain(known);
        }
        if built_in(&root.key("task_types").key(name).key("secondary")) {
            task.secondary.retain(known);
        }
    }
    let tiers = root.key("tiers");
    let lists = [
        ("premium", &mut config.tiers.premium),
        ("standard", &mut config.tiers.standard),
        ("economy", &mut config.tiers.economy),
    ];
    for (name, targets) in lists {
        if built_in(&tiers.key(name)) {
            targets.retain(known);
        }
    }
}

fn drop_references(config: &mut Config, root: &Cursor<'_>) {
    let aliases = &config.aliases;
    if config.default_alias.as_ref().is_some_and(|alias| !aliases.contains_key(alias))
        && built_in(&root.key("default_alias"))
    {
        config.default_alias = None;
    }
    let tasks = root.key("task_types");
    config.task_types.retain(|name, task| {
        let dangling = match (&task.alias, &task.targets) {
            (Some(alias), _) => !aliases.contains_key(alias) && built_in(&tasks.key(name).key("alias")),
            (None, Some(targets)) => targets.is_empty() && built_in(&tasks.key(name).key("targets")),
            (None, None) => config.default_alias.is_none() && built_in(&tasks.key(name)),
        };
        !dangling
    });
    if built_in(&root.key("temperature_policies")) {
        let task_types = &config.task_types;
        config.temperature_policies.retain(|policy| task_types.contains_key(&policy.task_type));
    }
}
