//! The file's sections about heartbeats: small calls that look whether a vendor answers.

use super::{
    HumanDuration, VendorConfig, check::Findings, file::Config, nearest::did_you_mean, tree::Cursor,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// More often would cost more than it tells.
const SHORTEST_INTERVAL: HumanDuration = HumanDuration::secs(1);

/// Small calls to vendors that nobody has called for a while, so that their health is known before they are needed.
///
/// A vendor gets at most one in each interval, and none while it is called anyway. Adapters that hear each other over
/// NATS send one for all of them; others send one each.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HeartbeatConfig {
    /// Whether there are any.
    pub enabled: bool,
    /// How long a vendor is left in peace after its last call.
    pub interval: HumanDuration,
    /// How long an answer may take; at most the interval.
    pub timeout: HumanDuration,
    /// Tokens to answer with. Where a vendor demands more, it gets its least.
    #[schemars(range(min = 1, max = 1_000))]
    pub max_output_tokens: u32,
}

impl Default for HeartbeatConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            interval: HumanDuration::secs(30),
            timeout: HumanDuration::secs(10),
            max_output_tokens: 1,
        }
    }
}

/// Heartbeats of one vendor.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VendorHeartbeatConfig {
    /// Whether there are any. Default: as the section `heartbeat` says; for `ollama` only where `model` is given, since a
    /// call loads a model into memory.
    pub enabled: Option<bool>,
    /// The vendor's own id of the model to ask. Default: the cheapest text model listed for the vendor.
    pub model: Option<String>,
}

pub(super) fn check(config: &Config, root: &Cursor<'_>, findings: &mut Findings) {
    let (heartbeat, at) = (&config.heartbeat, root.key("heartbeat"));
    if heartbeat.interval < SHORTEST_INTERVAL {
        let message = format!("{} is too often: at least {SHORTEST_INTERVAL}", heartbeat.interval);
        findings.fault(&at.key("interval"), message);
    } else if heartbeat.timeout > heartbeat.interval {
        let message = format!("{} is longer than `interval`, {}", heartbeat.timeout, heartbeat.interval);
        findings.fault(&at.key("timeout"), message);
    }
    for (name, vendor) in &config.vendors {
        check_model(
            config,
            name,
            vendor,
            &root.key("vendors").key(name).key("heartbeat").key("model"),
            findings,
        );
    }
}

fn check_model(config: &Config, name: &str, vendor: &VendorConfig, at: &Cursor<'_>, findings: &mut Findings) {
    let Some(model) = vendor.heartbeat.model.as_ref().filter(|_| !vendor.takes_unlisted_models()) else {
        return;
    };
    let target = format!("{name}/{model}");
    if !config.models.contains_key(&target) {
        let hint = did_you_mean(&target, config.models.keys().map(String::as_str));
        findings.fault(at, format!("no model `{target}` under `models`{hint}"));
    }
}
