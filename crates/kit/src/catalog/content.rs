//! Content policies, ready to be applied.

use super::{Catalog, fingerprint};
use crate::config::{
    Config, ContentPolicyConfig, Environment, KeySource, ModerationConfig, OnErrorConfig, Secret,
};
use signalbox_quality::content::{Action, ContentPolicy, Place};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

/// A content policy by its name.
#[derive(Debug, Clone)]
pub struct NamedPolicy {
    /// Its name under `content_policies`.
    pub name: Arc<str>,
    /// Its rules.
    pub rules: ContentPolicy,
    /// The endpoint that judges what passes them.
    pub moderation: Option<Moderation>,
    /// Names what it says: the same policy has the same version on every replica.
    pub version: u64,
}

/// A moderation endpoint, and what is done about what it says.
#[derive(Debug, Clone)]
pub struct Moderation {
    /// Its address, without a slash at the end.
    pub url: String,
    /// The model that judges.
    pub model: String,
    /// Categories that count, each with the score from which it does; what the endpoint flags where there are none.
    pub categories: BTreeMap<String, f64>,
    /// How long to wait for it.
    pub timeout: Duration,
    /// Whether what counts is told or refused.
    pub action: Action,
    /// Whether nothing passes while it does not judge.
    pub fails_closed: bool,
    places: Vec<Place>,
    api_key: Option<KeySource>,
}

impl NamedPolicy {
    /// The endpoint that judges texts from there.
    pub fn moderation(&self, place: Place) -> Option<&Moderation> {
        self.moderation.as_ref().filter(|moderation| moderation.places.contains(&place))
    }

    /// Whether anything looks there.
    pub fn looks_at(&self, place: Place) -> bool {
        self.rules.looks_at(place) || self.moderation(place).is_some()
    }
}

/// The policies of a configuration by name, and the one for tenants that name none.
#[derive(Debug, Clone, Default)]
pub(super) struct ContentPolicies {
    by_name: HashMap<Arc<str>, Arc<NamedPolicy>>,
    default: Option<Arc<NamedPolicy>>,
}

impl ContentPolicies {
    /// Those of a configuration that passed its checks.
    pub(super) fn of(config: &Config) -> Self {
        let named = config.content_policies.iter().filter_map(|(name, policy)| {
            let name: Arc<str> = name.as_str().into();
            Some((name.clone(), Arc::new(named(name, policy)?)))
        });
        let by_name: HashMap<_, _> = named.collect();
        let default = config.content_policy.as_deref().and_then(|name| by_name.get(name)).cloned();
        Self { by_name, default }
    }
}

fn named(name: Arc<str>, policy: &ContentPolicyConfig) -> Option<NamedPolicy> {
    let rules = policy.compiled().ok()?;
    let version = fingerprint([format!("{policy:?}").as_bytes()]);
    Some(NamedPolicy { name, rules, moderation: policy.moderation.as_ref().map(Moderation::from), version })
}

impl From<&ModerationConfig> for Moderation {
    fn from(config: &ModerationConfig) -> Self {
        Self {
            url: config.url.trim_end_matches('/').to_owned(),
            model: config.model.clone(),
            categories: config.categories.iter().map(|(name, least)| (name.clone(), least.0)).collect(),
            timeout: config.timeout.0,
            action: config.action.into(),
            fails_closed: config.on_error == OnErrorConfig::Block,
            places: config.on.iter().map(|place| (*place).into()).collect(),
            api_key: config.api_key.clone(),
        }
    }
}

impl Catalog {
    /// What holds for a tenant's content: its own policy, else everybody's.
    pub fn content_policy(&self, tenant_id: &str) -> Option<&Arc<NamedPolicy>> {
        let own = self.tenant(tenant_id).content_policy.as_ref();
        match own {
            Some(name) => self.content.by_name.get(name),
            None => self.content.default.as_ref(),
        }
    }

    /// The key of a moderation endpoint, where it has one.
    pub fn moderation_key(&self, moderation: &Moderation, env: &Environment) -> Option<Secret> {
        self.key(moderation.api_key.as_ref()?, env)
    }
}
