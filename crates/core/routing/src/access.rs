//! Which models a tenant may use.

use crate::Exclusion;
use signalbox_types::ModelRef;
use std::{str::FromStr, sync::Arc};

/// A tenant's rules about models. The default allows every model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Access<'a> {
    /// Only these; `None` allows any, an empty list none.
    pub allow: Option<&'a [ModelPattern]>,
    /// Never these, even when allowed above.
    pub deny: &'a [ModelPattern],
    /// The data policy: labels that a model must carry, as in `eu` or `zero_retention`.
    pub labels: &'a [Arc<str>],
}

impl Access<'_> {
    /// Why a model that carries `labels` may not be used.
    pub fn exclusion(&self, model: &ModelRef, labels: &[Arc<str>]) -> Option<Exclusion> {
        let listed = |patterns: &[ModelPattern]| patterns.iter().any(|pattern| pattern.matches(model));
        if listed(self.deny) {
            return Some(Exclusion::Denied);
        }
        if self.allow.is_some_and(|allowed| !listed(allowed)) {
            return Some(Exclusion::NotAllowed);
        }
        let missing = self.labels.iter().find(|label| !labels.contains(label))?;
        Some(Exclusion::DataPolicy(missing.clone()))
    }
}

/// Names models in an allow or deny list: `vendor/model`, `vendor/prefix*`, `vendor/*` or `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPattern {
    /// `None` is any vendor.
    vendor: Option<Arc<str>>,
    /// The model, or how it begins.
    model: Arc<str>,
    prefix: bool,
}

impl ModelPattern {
    /// Whether it names `model`.
    pub fn matches(&self, model: &ModelRef) -> bool {
        let vendor = self.vendor.as_ref().is_none_or(|vendor| *vendor == model.vendor);
        let name =
            if self.prefix { model.model.starts_with(&*self.model) } else { model.model == self.model };
        vendor && name
    }
}

/// Just this model.
impl From<&ModelRef> for ModelPattern {
    fn from(model: &ModelRef) -> Self {
        Self { vendor: Some(model.vendor.clone()), model: model.model.clone(), prefix: false }
    }
}

/// A text that is no [`ModelPattern`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form vendor/model, vendor/prefix*, vendor/* or *")]
pub struct InvalidPattern(String);

impl FromStr for ModelPattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "*" {
            return Ok(Self { vendor: None, model: "".into(), prefix: true });
        }
        let invalid = || InvalidPattern(text.to_owned());
        let (vendor, model) = text.split_once('/').ok_or_else(invalid)?;
        let (name, prefix) = model.strip_suffix('*').map_or((model, false), |start| (start, true));
        if vendor.is_empty() || model.is_empty() || vendor.contains('*') || name.contains('*') {
            return Err(invalid());
        }
        Ok(Self { vendor: Some(vendor.into()), model: name.into(), prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> ModelPattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_names_a_model_a_prefix_a_vendor_or_everything() {
        let luna = ModelRef::new("openai", "gpt-6-luna");
        for matching in ["openai/gpt-6-luna", "openai/gpt-6*", "openai/*", "*"] {
            assert!(pattern(matching).matches(&luna), "{matching}");
        }
        for other in ["openai/gpt-6", "openai/gpt-7*", "azure/*", "open/*"] {
            assert!(!pattern(other).matches(&luna), "{other}");
        }
        assert!(pattern("groq/meta/llama*").matches(&ModelRef::new("groq", "meta/llama-5")));
    }

    #[test]
    fn a_pattern_that_could_be_misread_is_refused() {
        for text in ["", "openai", "/m", "openai/", "*/m", "openai/*luna", "open*/m"] {
            assert!(text.parse::<ModelPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn deny_beats_allow_and_an_empty_allow_list_allows_nothing() {
        let model = ModelRef::new("a", "m");
        let (all, labels) = ([pattern("*")], ["eu".into()]);
        let exclusion = |access: Access<'_>| access.exclusion(&model, &labels);
        assert_eq!(exclusion(Access::default()), None);
        assert_eq!(exclusion(Access { allow: Some(&all), ..Access::default() }), None);
        assert_eq!(exclusion(Access { allow: Some(&[]), ..Access::default() }), Some(Exclusion::NotAllowed));
        let denied = Access { allow: Some(&all), deny: &all, ..Access::default() };
        assert_eq!(exclusion(denied), Some(Exclusion::Denied));
    }

    #[test]
    fn a_model_must_carry_every_label_of_the_data_policy() {
        let model = ModelRef::new("a", "m");
        let policy: [Arc<str>; 2] = ["eu".into(), "zero_retention".into()];
        let access = Access { labels: &policy, ..Access::default() };
        assert_eq!(access.exclusion(&model, &policy), None);
        let missing = access.exclusion(&model, &["eu".into()]).unwrap();
        assert_eq!(
            missing.to_string(),
            "not marked `zero_retention`, which the tenant's data policy asks for"
        );
    }
}
