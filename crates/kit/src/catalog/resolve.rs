//! From what a request names to the models that may serve it.

use super::{Alias, Catalog, CatalogModel, TaskType, Tenant};
use crate::config::nearest::did_you_mean;
use signalbox_pricing::Day;
use signalbox_types::{ErrorReason, Failure, FieldViolation, ModelRef, ModelSelector, Tier, shown};

/// The models that a request's names lead to. Never empty, and none is in both lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets<'a> {
    /// In order of preference.
    pub preferred: &'a [ModelRef],
    /// For when none of those can serve the request; in order of preference, too.
    pub secondary: &'a [ModelRef],
}

impl<'a> Targets<'a> {
    fn only(preferred: &'a [ModelRef]) -> Self {
        Self { preferred, secondary: &[] }
    }
}

impl Catalog {
    /// The models that a request's names lead to, in order of preference, with the tenant's own aliases and tiers in
    /// place of everybody's.
    ///
    /// Order of precedence: the model selector, the task type, the tenant's default alias, the default alias. An
    /// exactly named model must be served on `day`, and the tenant must be allowed to name and to use it; of
    /// several, those that are not are left to the caller to skip (see [`Catalog::served`] and [`Tenant::access`]).
    pub fn resolve<'a>(
        &'a self,
        selector: &'a ModelSelector,
        task_type: &str,
        tenant_id: &str,
        day: Day,
    ) -> Result<Targets<'a>, Failure> {
        let task = self.task_type(task_type)?;
        let tenant = self.tenant(tenant_id);
        match selector {
            ModelSelector::Exact(model) => {
                may_name(model, tenant, tenant_id)?;
                may_use(self.require(model, day)?, model, tenant, tenant_id)?;
                Ok(Targets::only(std::slice::from_ref(model)))
            }
            ModelSelector::Alias(alias) => self.alias_targets(alias, tenant).map(Targets::only),
            ModelSelector::Tier(tier) => self.tier_targets(*tier, tenant).map(Targets::only),
            ModelSelector::Unspecified => match task {
                Some(task) => Ok(tenant.task_targets.get(task_type).map_or(
                    Targets { preferred: &task.targets, secondary: &task.secondary },
                    |[preferred, secondary]| Targets { preferred, secondary },
                )),
                None => self.default_targets(tenant).map(Targets::only),
            },
        }
    }

    /// A task type by name; `None` where the name is empty.
    pub fn task_type(&self, name: &str) -> Result<Option<&TaskType>, Failure> {
        if name.is_empty() {
            return Ok(None);
        }
        let found = self.task_types.get(name);
        found.map(Some).ok_or_else(|| {
            let hint = did_you_mean(name, self.task_types.keys().map(String::as_str));
            unknown("task_type", format!("there is no task type `{}`{hint}", shown(name)))
        })
    }

    /// Whether a model is known and its vendor serves it on a day.
    pub fn served(&self, model: &ModelRef, day: Day) -> bool {
        self.model(model).is_some_and(|model| model.lifecycle.served_on(day))
    }

    /// A model that is known and served on a day, or what to tell the caller.
    pub fn require(&self, model: &ModelRef, day: Day) -> Result<&CatalogModel, Failure> {
        let Some(found) = self.model(model) else {
            return Err(unknown(
                "model",
                format!("there is no model `{}`{}", shown(&model.to_string()), self.nearest_model(model)),
            ));
        };
        if found.lifecycle.served_on(day) {
            return Ok(found);
        }
        let when = found.lifecycle.shutdown.map_or_else(String::new, |day| format!(" on {day}"));
        let instead = found.lifecycle.successor.as_ref();
        let instead =
            instead.map_or_else(String::new, |model| format!("; its vendor names `{model}` instead"));
        Err(unknown("model", format!("`{model}` was shut down{when}{instead}")))
    }

    fn nearest_model(&self, model: &ModelRef) -> String {
        let names: Vec<String> = self.models.iter().map(|known| known.reference.to_string()).collect();
        did_you_mean(&model.to_string(), names.iter().map(String::as_str))
    }

    /// An alias, as a tenant has it.
    pub fn alias(&self, name: &str, tenant_id: &str) -> Option<&Alias> {
        self.tenant(tenant_id).aliases.get(name).or_else(|| self.aliases.get(name))
    }

    fn alias_targets<'a>(&'a self, alias: &str, tenant: &'a Tenant) -> Result<&'a [ModelRef], Failure> {
        let found = tenant.aliases.get(alias).or_else(|| self.aliases.get(alias));
        found.map(|alias| &*alias.targets).ok_or_else(|| {
            let known = tenant.aliases.keys().chain(self.aliases.keys());
            let hint = did_you_mean(alias, known.map(String::as_str));
            unknown("model", format!("there is no alias `{}`{hint}", shown(alias)))
        })
    }

    /// The models of a tier, as the tenant has it, in order of preference; never empty.
    pub fn tier_targets<'a>(&'a self, tier: Tier, tenant: &'a Tenant) -> Result<&'a [ModelRef], Failure> {
        match tenant.tier(tier).unwrap_or_else(|| self.tier(tier)) {
            [] => Err(unknown("model", format!("no models are configured for the tier {}", tier.name()))),
            targets => Ok(targets),
        }
    }

    fn default_targets<'a>(&'a self, tenant: &'a Tenant) -> Result<&'a [ModelRef], Failure> {
        match tenant.default_alias.as_ref().or(self.default_alias.as_ref()) {
            Some(alias) => self.alias_targets(alias, tenant),
            None => {
                Err(unknown("model", "the request names no model and no default is configured".to_owned()))
            }
        }
    }
}

fn may_name(model: &ModelRef, tenant: &Tenant, tenant_id: &str) -> Result<(), Failure> {
    if tenant.exact_models {
        return Ok(());
    }
    let message = format!(
        "the tenant `{}` may not name exact models such as `{}`; name an alias, a tier or a task type",
        shown(tenant_id),
        shown(&model.to_string())
    );
    Err(Failure::new(ErrorReason::PermissionDenied, message))
}

fn may_use(known: &CatalogModel, model: &ModelRef, tenant: &Tenant, tenant_id: &str) -> Result<(), Failure> {
    match tenant.access().exclusion(model, &known.labels) {
        None => Ok(()),
        Some(why) => {
            let message = format!("the tenant `{}` may not use `{model}`: it is {why}", shown(tenant_id));
            Err(Failure::new(ErrorReason::PermissionDenied, message))
        }
    }
}

fn unknown(field: &str, message: String) -> Failure {
    let violation = FieldViolation { field: field.to_owned(), description: message.clone() };
    Failure { violations: vec![violation], ..Failure::new(ErrorReason::UnknownModel, message) }
}
