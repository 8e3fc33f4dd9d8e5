//! From what a request names to the models that may serve it.

use super::{Catalog, CatalogModel, TaskType};
use crate::config::nearest::did_you_mean;
use signalbox_pricing::Day;
use signalbox_types::{ErrorReason, Failure, FieldViolation, ModelRef, ModelSelector, shown};

impl Catalog {
    /// The models that a request's names lead to, in order of preference; never empty.
    ///
    /// Order of precedence: the model selector, the task type, the tenant's default alias, the default alias. An
    /// exactly named model must be served on `day`; of several, those that are not are left to the caller to skip
    /// (see [`Catalog::served`]).
    pub fn resolve<'a>(
        &'a self,
        selector: &'a ModelSelector,
        task_type: &str,
        tenant: &str,
        day: Day,
    ) -> Result<&'a [ModelRef], Failure> {
        let task = self.task_type(task_type)?;
        match selector {
            ModelSelector::Exact(model) => {
                self.require(model, day)?;
                Ok(std::slice::from_ref(model))
            }
            ModelSelector::Alias(alias) => self.alias_targets(alias),
            ModelSelector::Tier(tier) => match self.tier(*tier) {
                [] => Err(unknown(
                    "model",
                    format!("no models are configured for the tier {tier:?}").to_lowercase(),
                )),
                targets => Ok(targets),
            },
            ModelSelector::Unspecified => match task {
                Some(task) => Ok(&task.targets),
                None => self.default_targets(tenant),
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

    fn alias_targets(&self, alias: &str) -> Result<&[ModelRef], Failure> {
        let found = self.aliases.get(alias).map(|alias| &*alias.targets);
        found.ok_or_else(|| {
            let hint = did_you_mean(alias, self.aliases.keys().map(String::as_str));
            unknown("model", format!("there is no alias `{}`{hint}", shown(alias)))
        })
    }

    fn default_targets(&self, tenant: &str) -> Result<&[ModelRef], Failure> {
        let own = self.tenants.get(tenant).and_then(|tenant| tenant.default_alias.as_ref());
        match own.or(self.default_alias.as_ref()) {
            Some(alias) => self.alias_targets(alias),
            None => {
                Err(unknown("model", "the request names no model and no default is configured".to_owned()))
            }
        }
    }
}

fn unknown(field: &str, message: String) -> Failure {
    let violation = FieldViolation { field: field.to_owned(), description: message.clone() };
    Failure { violations: vec![violation], ..Failure::new(ErrorReason::UnknownModel, message) }
}
