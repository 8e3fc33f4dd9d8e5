//! What the router knows about a request beyond its words.

use crate::{admission::Admitted, plan::requested};
use signalbox_api::v1;
use signalbox_caching::Context;
use signalbox_kit::catalog::{Catalog, Targets, fingerprint};
use signalbox_types::{ModelRef, Tier};

/// Version of the quality gate: raise it when it lets less through.
const GATE: &str = "1";

/// What a request asked for, and where that leads.
#[derive(Debug)]
pub(super) struct Asked {
    context: v1::CacheContext,
    prompt_template: String,
    /// The content policy in force.
    content: u64,
    /// The models that were asked for, with their tiers.
    preferred: Vec<(ModelRef, Option<Tier>)>,
}

impl Asked {
    pub(super) fn of(catalog: &Catalog, admitted: &Admitted, targets: Targets<'_>) -> Self {
        let content = catalog.content_policy(&admitted.request.tenant_id).map_or(0, |policy| policy.version);
        let all = targets.preferred.iter().chain(targets.secondary);
        let prompt_template = admitted.request.prompt_template.clone();
        let tenant = catalog.tenant(&admitted.request.tenant_id);
        let labels = |model: &ModelRef| catalog.model(model).map(|known| &*known.labels).unwrap_or_default();
        let rules = [tenant.access(), admitted.budget.rules.access()];
        let may_use =
            |model: &&ModelRef| rules.iter().all(|access| access.exclusion(model, labels(model)).is_none());
        let context = context(requested(admitted), &prompt_template, content, all.filter(may_use));
        let tier = |model: &ModelRef| catalog.model(model).and_then(|known| known.tier);
        let preferred = targets.preferred.iter().map(|model| (model.clone(), tier(model))).collect();
        Self { context, prompt_template, content, preferred }
    }

    pub(super) fn context(&self) -> &v1::CacheContext {
        &self.context
    }

    /// The same for what takes requests apart.
    pub(super) fn words(&self) -> Context<'_> {
        let v1::CacheContext { requested, prompt_template, policy_version } = &self.context;
        Context { requested, prompt_template, policy_version }
    }

    /// Under what an answer is kept that a model gave: what was asked for, or the model itself where that is less.
    /// `usual` is the model that would be tried first if all were well: while it is left out for a moment, another's answer
    /// must not take the place of its own for as long as answers are kept.
    pub(super) fn served_by(&self, model: &ModelRef, usual: &ModelRef) -> v1::CacheContext {
        let tier = |wanted| self.preferred.iter().find(|(model, _)| model == wanted).map(|(_, tier)| *tier);
        match (tier(model), tier(usual)) {
            (Some(served), Some(usual)) if !is_lower(served, usual) => self.context.clone(),
            _ => self.just(model),
        }
    }

    /// As if the model itself had been asked for.
    pub(super) fn just(&self, model: &ModelRef) -> v1::CacheContext {
        context(format!("model:{model}"), &self.prompt_template, self.content, [model])
    }
}

/// The version tells where a name leads, too, and which of it the tenant may use: an answer is not found any more once an
/// alias leads elsewhere or a model is denied or allowed again, on whichever replica and whoever is told of it.
fn context<'m>(
    requested: String,
    prompt_template: &str,
    content: u64,
    targets: impl IntoIterator<Item = &'m ModelRef>,
) -> v1::CacheContext {
    let names: Vec<String> = targets.into_iter().map(ToString::to_string).collect();
    let models = fingerprint(names.iter().map(|name| name.as_bytes()));
    let policy_version = format!("{GATE}.{content:x}.{models:x}");
    v1::CacheContext { requested, prompt_template: prompt_template.to_owned(), policy_version }
}

/// Whether one tier is below another. What has none is below what has one.
fn is_lower(tier: Option<Tier>, other: Option<Tier>) -> bool {
    let rank = |tier: Option<Tier>| match tier {
        None => 0,
        Some(Tier::Economy) => 1,
        Some(Tier::Standard) => 2,
        Some(Tier::Premium) => 3,
    };
    rank(tier) < rank(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_a_lower_tier_is_below_what_was_asked() {
        assert!(is_lower(Some(Tier::Economy), Some(Tier::Premium)));
        assert!(is_lower(None, Some(Tier::Economy)));
        assert!(!is_lower(Some(Tier::Premium), Some(Tier::Standard)));
        assert!(!is_lower(None, None));
    }

    #[test]
    fn a_name_that_leads_elsewhere_has_another_version() {
        let model = |name: &str| name.parse::<ModelRef>().unwrap();
        let version =
            |content, models: &[ModelRef]| context(String::new(), "", content, models).policy_version;
        let (one, two) = (model("openai/one"), model("openai/two"));
        let both = [one.clone(), two.clone()];
        assert_eq!(version(1, &both), version(1, &both));
        let others = [version(2, &both), version(1, &[two, one.clone()]), version(1, &[one])];
        assert!(!others.contains(&version(1, &both)));
    }
}
