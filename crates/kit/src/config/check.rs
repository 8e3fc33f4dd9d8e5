//! What the shape alone cannot tell: names that lead somewhere, values that make sense together.

mod content;
mod reach;
mod stores;
mod targets;
mod tasks;
mod tenants;

use super::{
    Config, Origin, Problem, VendorConfig, alerts, batch, budgets, cache, heartbeat, nats,
    nearest::did_you_mean,
    routing,
    sanity::{self, PricePeers},
    tls,
    tree::Cursor,
    usage,
};
use signalbox_pricing::Day;
use signalbox_types::ModelRef;
use targets::Targets;

pub(super) use reach::{check_reach, mark_meant, what_is_missing};

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
    tls::check(config.mtls.as_ref(), &config.peers, root, findings);
    if config.vendors.is_empty() {
        findings.warn(&root.key("vendors"), "is empty: no call can be answered");
    }
    for (name, vendor) in &config.vendors {
        sanity::check_vendor(name, vendor, &root.key("vendors").key(name), findings);
    }
    check_models(config, root, &PricePeers::of(config, built_in), today, findings);
    check_names(config, root, today, findings);
    routing::check(&config.routing, &root.key("routing"), findings);
    heartbeat::check(config, root, findings);
    usage::check(config, root, findings);
    alerts::check(&config.alerts, &root.key("alerts"), findings);
    nats::check(&config.nats, &root.key("nats"), findings);
    budgets::check(&config.budgets, &root.key("budgets"), findings);
    budgets::check_redis(&config.redis, &root.key("redis"), findings);
    cache::check(config, root, findings);
    batch::check(&config.batch, &root.key("batch"), findings);
    content::check(config, root, findings);
    check_exchange_rate(config, root, findings);
}

fn check_server(config: &Config, root: &Cursor<'_>, findings: &mut Findings) {
    let server = root.key("server");
    let metrics = config.server.metrics_listen;
    if !metrics.ip().is_loopback() {
        let message =
            format!("{metrics} can be reached from other machines, and who asks for metrics needs no key");
        findings.warn(&server.key("metrics_listen"), message);
    }
    if config.mtls.is_none() && in_file(&server.key("internal_listen")) {
        let message = "roles have a listener of their own only where they show certificates: add `mtls`, or leave this out";
        findings.fault(&server.key("internal_listen"), message);
    }
    if let Some((first, second)) = config.server.clash(config.mtls.is_some()) {
        findings.fault(&server.key(second), format!("is taken by `{first}`; each needs its own port"));
    }
}

/// Whether the operator's file says something about this, rather than the built-in catalogue alone.
fn in_file(at: &Cursor<'_>) -> bool {
    at.node.is_some_and(|node| node.at.origin == Origin::File)
}

fn check_models(config: &Config, root: &Cursor<'_>, peers: &PricePeers, today: Day, findings: &mut Findings) {
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
                sanity::check_model(name, model, peers, today, &at, findings);
                tasks::check_quality(config, model, &at, findings);
            }
        }
    }
}

fn check_names(config: &Config, root: &Cursor<'_>, today: Day, findings: &mut Findings) {
    let targets = Targets { config, today };
    targets.check_aliases(&config.aliases, &root.key("aliases"), findings);
    for (name, _, list) in config.tiers.each() {
        targets.check(list, &root.key("tiers").key(name), findings);
    }
    tasks::check(&targets, root, findings);
    tenants::check(&targets, root, findings);
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
