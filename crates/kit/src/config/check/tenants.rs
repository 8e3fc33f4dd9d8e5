//! Tenants: names that lead somewhere, and rules that leave them something.

use super::{Findings, check_name, routing, targets::Targets, tasks::check_task_type};
use crate::config::{Config, TenantConfig, VendorConfig, nearest::did_you_mean, tree::Cursor};
use signalbox_routing::{Access, ModelPattern};
use signalbox_types::ModelRef;
use std::{collections::BTreeSet, sync::Arc};

pub(super) fn check(targets: &Targets<'_>, root: &Cursor<'_>, findings: &mut Findings) {
    if targets.config.tenants.is_empty() {
        return;
    }
    let offer = Offer::of(targets.config);
    for (id, tenant) in &targets.config.tenants {
        let at = root.key("tenants").key(id);
        check_name(id, &at, findings);
        if id.trim().is_empty() {
            findings.fault(&at, "a tenant has an id: nobody's requests would ever be this one's");
        }
        check_own_names(targets, tenant, &at, findings);
        check_routing(targets.config, tenant, &at, findings);
        offer.check_rules(tenant, &at, findings);
    }
}

fn check_own_names(targets: &Targets<'_>, tenant: &TenantConfig, at: &Cursor<'_>, findings: &mut Findings) {
    let everybodys = &targets.config.aliases;
    targets.check_aliases(&tenant.aliases, &at.key("aliases"), findings);
    for name in tenant.aliases.keys().filter(|name| !everybodys.contains_key(*name)) {
        let hint = did_you_mean(name, everybodys.keys().map(String::as_str));
        let message = format!("takes the place of no alias under `aliases`{hint}: only this tenant knows it");
        findings.warn(&at.key("aliases").key(name), message);
    }
    for (name, _, list) in tenant.tiers.each() {
        let at = at.key("tiers").key(name);
        if list.is_empty() && at.node.is_some() {
            findings.fault(&at, "is empty; leave it out for everybody's, or `deny` its models");
        }
        targets.check(list, &at, findings);
    }
    if let Some(alias) = &tenant.default_alias
        && !tenant.aliases.contains_key(alias)
    {
        super::check_alias(targets.config, Some(alias), &at.key("default_alias"), findings);
    }
}

fn check_routing(config: &Config, tenant: &TenantConfig, at: &Cursor<'_>, findings: &mut Findings) {
    if let Some(own) = &tenant.routing {
        routing::check(own, &at.key("routing"), findings);
    }
    for (name, task) in &tenant.task_types {
        let at = at.key("task_types").key(name);
        check_task_type(config, name, &at, findings);
        if let Some(own) = &task.routing {
            routing::check(own, &at.key("routing"), findings);
        }
    }
}

/// What there is to allow and deny.
struct Offer<'c> {
    config: &'c Config,
    models: Vec<(ModelRef, Vec<Arc<str>>)>,
    labels: BTreeSet<Arc<str>>,
}

impl<'c> Offer<'c> {
    fn of(config: &'c Config) -> Self {
        let vendors_labels = |model: &ModelRef| {
            config.vendors.get(&*model.vendor).map(|vendor| vendor.labels.as_slice()).unwrap_or_default()
        };
        let listed = config.models.iter().filter_map(|(name, model)| {
            let reference: ModelRef = name.parse().ok()?;
            let labels = model.labels.iter().chain(vendors_labels(&reference));
            let labels = labels.map(|label| label.as_str().into()).collect();
            Some((reference, labels))
        });
        let unlisted = config.vendors.iter().filter(|(_, vendor)| vendor.takes_unlisted_models());
        let unlisted = unlisted.map(|(name, vendor)| {
            let labels = vendor.labels.iter().map(|label| label.as_str().into()).collect();
            (ModelRef::new(name.as_str(), "*"), labels)
        });
        let models: Vec<(ModelRef, Vec<Arc<str>>)> = listed.chain(unlisted).collect();
        let labels = models.iter().flat_map(|(_, labels)| labels.iter().cloned()).collect();
        Self { config, models, labels }
    }

    fn check_rules(&self, tenant: &TenantConfig, at: &Cursor<'_>, findings: &mut Findings) {
        let allow = tenant.allow.as_ref().map(|texts| self.check_patterns(texts, &at.key("allow"), findings));
        let deny = self.check_patterns(&tenant.deny, &at.key("deny"), findings);
        for text in tenant.preferences.keys() {
            self.check_pattern(text, &at.key("preferences").key(text), findings);
        }
        let required: Vec<Arc<str>> =
            tenant.required_labels.iter().map(|label| label.as_str().into()).collect();
        let known = self.labels.iter().map(|label| &**label).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { known } else { format!("; known: {known}") };
        for (index, label) in required.iter().enumerate().filter(|(_, label)| !self.labels.contains(*label)) {
            let message = format!("no model and no vendor carries the label `{label}`{known}");
            findings.warn(&at.key("required_labels").index(index), message);
        }
        let access = Access { allow: allow.as_deref(), deny: &deny, labels: &required };
        let permitted =
            |(model, labels): &(ModelRef, Vec<Arc<str>>)| access.exclusion(model, labels).is_none();
        if !self.models.iter().any(permitted) {
            findings.warn(at, "may use no model: `allow`, `deny` and `required_labels` leave none");
        }
    }

    fn check_patterns(
        &self,
        texts: &[String],
        at: &Cursor<'_>,
        findings: &mut Findings,
    ) -> Vec<ModelPattern> {
        let checked = texts
            .iter()
            .enumerate()
            .filter_map(|(index, text)| self.check_pattern(text, &at.index(index), findings));
        checked.collect()
    }

    fn check_pattern(&self, text: &str, at: &Cursor<'_>, findings: &mut Findings) -> Option<ModelPattern> {
        let pattern: ModelPattern = match text.parse() {
            Ok(pattern) => pattern,
            Err(error) => {
                findings.fault(at, format!("{error}"));
                return None;
            }
        };
        // A server of one's own may have more models than the catalogue lists.
        let vendor = text.split('/').next().and_then(|name| self.config.vendors.get(name));
        let unlisted = vendor.is_some_and(VendorConfig::takes_unlisted_models);
        if !unlisted && !self.models.iter().any(|(model, _)| pattern.matches(model)) {
            findings.warn(at, format!("`{text}` names no model of the catalogue{}", self.nearest(text)));
        }
        Some(pattern)
    }

    /// The vendor or the model that was probably meant.
    fn nearest(&self, text: &str) -> String {
        let vendors = || self.config.vendors.keys().map(String::as_str);
        match text.split_once('/') {
            Some((vendor, _)) if !self.config.vendors.contains_key(vendor) => did_you_mean(vendor, vendors()),
            _ if text.ends_with('*') => String::new(),
            _ => did_you_mean(text, self.config.models.keys().map(String::as_str)),
        }
    }
}
