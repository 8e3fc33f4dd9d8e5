//! What the shape alone cannot tell: names that lead somewhere, values that make sense together.

use super::{
    BaseUrl, Config, Origin, Problem, TaskTypeConfig, VendorConfig,
    nearest::did_you_mean,
    routing,
    sanity::{self, PricePeers},
    tree::Cursor,
};
use crate::{catalog::Catalog, config::Environment};
use signalbox_pricing::{Day, ModelStatus};
use signalbox_types::ModelRef;
use std::collections::HashSet;

/// What was found: faults refuse the file, warnings do not.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl Findings {
    pub(super) fn fault(&mut self, at: &Cursor<'_>, message: impl Into<String>) {
        self.problems.push(at.problem(message));
    }

    pub(super) fn warn(&mut self, at: &Cursor<'_>, message: impl Into<String>) {
        self.warnings.push(at.problem(message));
    }
}

pub(super) fn check(
    config: &Config,
    root: &Cursor<'_>,
    built_in: &Cursor<'_>,
    today: Day,
    findings: &mut Findings,
) {
    check_server(config, root, findings);
    if config.vendors.is_empty() {
        findings.warn(&root.key("vendors"), "is empty: no call can be answered");
    }
    for (name, vendor) in &config.vendors {
        sanity::check_vendor(name, vendor, &root.key("vendors").key(name), findings);
    }
    check_models(config, root, built_in, findings);
    check_names(config, root, today, findings);
    routing::check(&config.routing, &root.key("routing"), findings);
    check_exchange_rate(config, root, findings);
}

fn check_server(config: &Config, root: &Cursor<'_>, findings: &mut Findings) {
    let server = root.key("server");
    let addresses = [("listen", config.server.listen), ("metrics_listen", config.server.metrics_listen)];
    for (name, address) in addresses {
        if !address.ip().is_loopback() {
            let message =
                format!("{address} can be reached from other machines, and callers are not authenticated");
            findings.warn(&server.key(name), message);
        }
    }
    if config.server.listen == config.server.metrics_listen && config.server.listen.port() != 0 {
        findings.fault(&server.key("metrics_listen"), "is the same as `listen`; each needs its own port");
    }
}

fn check_models(config: &Config, root: &Cursor<'_>, built_in: &Cursor<'_>, findings: &mut Findings) {
    let peers = PricePeers::of(config, built_in);
    for (name, model) in &config.models {
        let at = root.key("models").key(name);
        check_name(name, &at, findings);
        match name.parse::<ModelRef>() {
            Err(error) => findings.fault(&at, error.to_string()),
            Ok(reference) if !config.vendors.contains_key(&*reference.vendor) => {
                let hint = did_you_mean(&reference.vendor, config.vendors.keys().map(String::as_str));
                findings.fault(&at, format!("no vendor `{}` under `vendors`{hint}", reference.vendor));
            }
            Ok(reference) => {
                let dynamic =
                    config.vendors.get(&*reference.vendor).is_some_and(VendorConfig::takes_unlisted_models);
                if model.prices.is_none() && !dynamic {
                    findings.warn(&at, "has no `prices`: what its calls cost is not known");
                }
                sanity::check_model(name, model, &peers, &at, findings);
            }
        }
    }
}

fn check_names(config: &Config, root: &Cursor<'_>, today: Day, findings: &mut Findings) {
    let targets = Targets { config, today };
    for (name, alias) in &config.aliases {
        let at = root.key("aliases").key(name);
        if name.is_empty() || name.contains(['/', ':']) {
            let message = "an alias has a name without `/` and `:`, which tell it from a model and a tier";
            findings.fault(&at, message);
        }
        check_name(name, &at, findings);
        targets.check(&alias.targets, &at.key("targets"), findings);
    }
    for (name, _, list) in config.tiers.each() {
        targets.check(list, &root.key("tiers").key(name), findings);
    }
    for (name, task) in &config.task_types {
        let at = root.key("task_types").key(name);
        if name.is_empty() {
            findings.fault(&at, "a task type has a name: requests that give none have no task type");
        }
        check_name(name, &at, findings);
        check_task(config, task, &at, findings);
        if let Some(routing) = &task.routing {
            routing::check(routing, &at.key("routing"), findings);
        }
        targets.check(task.targets.as_deref().unwrap_or_default(), &at.key("targets"), findings);
    }
    for (name, tenant) in &config.tenants {
        let at = root.key("tenants").key(name);
        check_name(name, &at, findings);
        check_alias(config, tenant.default_alias.as_deref(), &at.key("default_alias"), findings);
    }
    check_alias(config, config.default_alias.as_deref(), &root.key("default_alias"), findings);
}

/// A name with a line break or another control character is a slip, and would break lines of logs.
pub(super) fn check_name(name: &str, at: &Cursor<'_>, findings: &mut Findings) {
    if name.contains(char::is_control) {
        findings.fault(at, "a name has no control characters");
    }
}

fn check_alias(config: &Config, alias: Option<&str>, at: &Cursor<'_>, findings: &mut Findings) {
    if let Some(alias) = alias.filter(|alias| !config.aliases.contains_key(*alias)) {
        let hint = did_you_mean(alias, config.aliases.keys().map(String::as_str));
        findings.fault(at, format!("no alias `{alias}` under `aliases`{hint}"));
    }
}

fn check_task(config: &Config, task: &TaskTypeConfig, at: &Cursor<'_>, findings: &mut Findings) {
    match (&task.alias, &task.targets) {
        (Some(_), Some(_)) => {
            findings.fault(&at.key("targets"), "give either `alias` or `targets`, not both");
        }
        (None, None) => findings.fault(at, "needs `alias` or `targets`"),
        _ => check_alias(config, task.alias.as_deref(), &at.key("alias"), findings),
    }
    let limits = [
        ("first_byte_timeout", task.first_byte_timeout, "attempt_timeout", task.attempt_timeout),
        ("attempt_timeout", task.attempt_timeout, "timeout", task.timeout),
    ];
    for (inner_name, inner, outer_name, outer) in limits {
        if let (Some(inner), Some(outer)) = (inner, outer)
            && inner > outer
        {
            findings.fault(&at.key(inner_name), format!("{inner} is longer than `{outer_name}`, {outer}"));
        }
    }
}

struct Targets<'c> {
    config: &'c Config,
    today: Day,
}

impl Targets<'_> {
    fn check(&self, targets: &[String], at: &Cursor<'_>, findings: &mut Findings) {
        let mut seen = HashSet::new();
        for (index, target) in targets.iter().enumerate() {
            let at = at.index(index);
            if !seen.insert(target) {
                findings.fault(&at, format!("`{target}` is listed twice"));
                continue;
            }
            match self.config.models.get(target) {
                Some(model) => self.check_served(target, model, &at, findings),
                None => self.check_unlisted(target, &at, findings),
            }
        }
    }

    fn check_served(
        &self,
        target: &str,
        model: &super::ModelConfig,
        at: &Cursor<'_>,
        findings: &mut Findings,
    ) {
        let shut_down = model.shutdown_date.filter(|date| date.0 <= self.today);
        if shut_down.is_none() && model.status != ModelStatus::Retired {
            return;
        }
        let when = shut_down.map_or_else(String::new, |date| format!(" on {}", date.0));
        let instead = model
            .successor
            .as_ref()
            .map_or_else(String::new, |name| format!("; its vendor names `{name}` instead"));
        findings.warn(at, format!("`{target}` was shut down{when} and is skipped{instead}"));
    }

    fn check_unlisted(&self, target: &str, at: &Cursor<'_>, findings: &mut Findings) {
        let reference = match target.parse::<ModelRef>() {
            Ok(reference) => reference,
            Err(error) => {
                let hint =
                    self.config.aliases.contains_key(target).then_some("; an alias cannot lead to an alias");
                return findings.fault(at, format!("{error}{}", hint.unwrap_or_default()));
            }
        };
        let models = self.config.models.keys().map(String::as_str);
        match self.config.vendors.get(&*reference.vendor) {
            Some(vendor) if vendor.takes_unlisted_models() => {}
            Some(_) => findings
                .fault(at, format!("no model `{target}` under `models`{}", did_you_mean(target, models))),
            None => {
                let hint = did_you_mean(&reference.vendor, self.config.vendors.keys().map(String::as_str));
                findings.fault(at, format!("no vendor `{}` under `vendors`{hint}", reference.vendor));
            }
        }
    }
}

fn check_exchange_rate(config: &Config, root: &Cursor<'_>, findings: &mut Findings) {
    let at = root.key("exchange_rate");
    match &config.exchange_rate {
        None => findings.warn(&at, "is missing: what calls cost is not known in euros"),
        Some(rate) if !(100_000..=10_000_000).contains(&rate.usd_eur.0) => {
            findings.fault(
                &at.key("usd_eur"),
                "a dollar is worth between 0.1 and 10 euros; is this the other way round?",
            );
        }
        Some(_) => {}
    }
}

/// What the environment leaves out of reach: vendors that the file names without their key, aliases without a vendor.
pub(super) fn check_reach(
    config: &Config,
    catalog: &Catalog,
    env: &Environment,
    root: &Cursor<'_>,
    findings: &mut Findings,
) {
    let reachable: HashSet<_> = catalog.vendors(env).into_iter().map(|vendor| vendor.name).collect();
    for (name, vendor) in &config.vendors {
        let at = root.key("vendors").key(name);
        if in_file(&at) && !reachable.contains(name.as_str()) {
            findings.warn(&at, format!("is left out: {}", what_is_missing(vendor)));
        }
    }
    for (name, alias) in catalog.aliases() {
        let at = root.key("aliases").key(name);
        if in_file(&at) && !alias.targets.iter().any(|target| reachable.contains(&target.vendor)) {
            findings.warn(&at, "none of its models is at a configured vendor");
        }
    }
}

/// Whether the operator's file says something about this, rather than the built-in catalogue alone.
fn in_file(at: &Cursor<'_>) -> bool {
    at.node.is_some_and(|node| node.at.origin == Origin::File)
}

fn what_is_missing(vendor: &VendorConfig) -> String {
    let key =
        vendor.api_key.as_ref().and_then(|key| key.env.as_ref()).map(|names| names.as_slice().join(" or "));
    let url = match &vendor.base_url {
        Some(BaseUrl::Environment(names)) => Some(names.env.as_slice().join(" or ")),
        _ => None,
    };
    match (url, key) {
        (Some(variable), _) => format!("the environment has no http or https address in {variable}"),
        (None, Some(variable)) => format!("the environment has no {variable}"),
        (None, None) => "it has neither a key nor an address of its own".to_owned(),
    }
}
