//! Lists of models: each must lead somewhere.

use super::{Findings, check_name};
use crate::config::{AliasConfig, Config, ModelConfig, TiersConfig, nearest::did_you_mean, tree::Cursor};
use signalbox_pricing::{Day, ModelStatus};
use signalbox_types::ModelRef;
use std::collections::{BTreeMap, HashSet};

/// Checks lists of models.
pub(super) struct Targets<'c> {
    pub(super) config: &'c Config,
    pub(super) today: Day,
}

impl Targets<'_> {
    pub(super) fn check_aliases(
        &self,
        aliases: &BTreeMap<String, AliasConfig>,
        at: &Cursor<'_>,
        findings: &mut Findings,
    ) {
        for (name, alias) in aliases {
            let at = at.key(name);
            if name.is_empty() || name.contains(['/', ':']) {
                let message =
                    "an alias has a name without `/` and `:`, which tell it from a model and a tier";
                findings.fault(&at, message);
            }
            if TiersConfig::default().each().iter().any(|(tier, ..)| tier == name) {
                let message = format!(
                    "is the name of a tier, too, which requests ask for as `tier:{name}`; take another"
                );
                findings.warn(&at, message);
            }
            check_name(name, &at, findings);
            self.check(&alias.targets, &at.key("targets"), findings);
        }
    }

    pub(super) fn check(&self, targets: &[String], at: &Cursor<'_>, findings: &mut Findings) {
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

    fn check_served(&self, target: &str, model: &ModelConfig, at: &Cursor<'_>, findings: &mut Findings) {
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
