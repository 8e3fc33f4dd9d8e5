//! The file's section about alerts: which models behave unlike their own history, and who is told.

use super::{
    BaseUrl, Environment, KeySource, Secret,
    check::Findings,
    is_http_url,
    nearest::did_you_mean,
    sanity::{check_key_source, check_variables},
    tree::Cursor,
    values::{HumanDuration, delay_schema},
};
use schemars::JsonSchema;
use serde::Deserialize;
use signalbox_anomaly::{Measure, Rule, Test, Timing, shipped};
use std::{collections::BTreeMap, time::Duration};

/// More often would only burden the store.
const SHORTEST_INTERVAL: HumanDuration = HumanDuration::secs(1);
/// What is plainly bad should not wait longer.
const LONGEST_INTERVAL: HumanDuration = HumanDuration::secs(60);
/// Longer, and the next alert waits for a receiver that is not there.
const LONGEST_TIMEOUT: HumanDuration = HumanDuration::secs(60);
const MINUTE: Duration = Duration::from_secs(60);

/// Alerts about models that behave unlike their own history. Where NATS is configured they are also published there.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AlertsConfig {
    /// Whether there are any.
    pub enabled: bool,
    /// How often the minute that runs is looked at; 1s to 60s.
    pub interval: HumanDuration,
    /// How long after its end a minute is taken to be complete.
    #[schemars(schema_with = "delay_schema")]
    pub lag: HumanDuration,
    /// Days of history that models are compared with.
    #[schemars(range(min = 7, max = 28))]
    pub history_days: u32,
    /// As ever for so long, an alert closes.
    #[schemars(schema_with = "delay_schema")]
    pub close_after: HumanDuration,
    /// Open for so long, an alert escalates.
    pub escalate_after: HumanDuration,
    /// Changes to the rules that come with Signalbox, by their names.
    pub rules: BTreeMap<String, AlertRuleConfig>,
    /// Who is told over HTTP.
    pub webhook: Option<WebhookConfig>,
}

impl Default for AlertsConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            interval: HumanDuration::secs(15),
            lag: HumanDuration::secs(30),
            history_days: 14,
            close_after: HumanDuration::secs(600),
            escalate_after: HumanDuration::secs(1800),
            rules: BTreeMap::new(),
            webhook: None,
        }
    }
}

/// Changes to a rule. What is left out stays as it comes.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AlertRuleConfig {
    /// Whether it raises alerts.
    pub enabled: bool,
    /// What raises one, in the rule's own unit: a share, an increase (0.5 for half as much again), or a multiple of what
    /// is usual.
    #[schemars(range(min = 0))]
    pub threshold: Option<f64>,
    /// Calls below which it raises none.
    #[schemars(range(min = 1))]
    pub min_calls: Option<u32>,
    /// Length of the window, for rules that have one; whole minutes.
    pub window: Option<HumanDuration>,
}

impl Default for AlertRuleConfig {
    fn default() -> Self {
        Self { enabled: true, threshold: None, min_calls: None, window: None }
    }
}

/// An address that alerts are posted to.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookConfig {
    /// The address, or `{env: NAME}` where it is a secret.
    pub url: BaseUrl,
    /// Where the secret is that posts are signed with; they are not signed where left out.
    #[serde(default)]
    pub secret: Option<KeySource>,
    /// Time that the receiver gets; at most 60s.
    #[serde(default = "default_timeout")]
    pub timeout: HumanDuration,
}

fn default_timeout() -> HumanDuration {
    HumanDuration::secs(5)
}

impl AlertsConfig {
    /// The rules that raise alerts.
    pub fn rules(&self) -> Vec<Rule> {
        let changed = shipped().into_iter().filter_map(|rule| match self.rules.get(rule.name) {
            Some(change) => change.enabled.then(|| change.apply(rule)),
            None => Some(rule),
        });
        changed.collect()
    }

    /// How long things take until they matter.
    pub fn timing(&self) -> Timing {
        Timing { close_after: minutes(self.close_after), escalate_after: minutes(self.escalate_after) }
    }
}

impl AlertRuleConfig {
    fn apply(&self, mut rule: Rule) -> Rule {
        if let Some(threshold) = self.threshold {
            rule = rule.with_threshold(threshold);
        }
        if let Some(window) = self.window {
            rule = rule.with_minutes(minutes(window));
        }
        rule.least_calls = self.min_calls.map_or(rule.least_calls, f64::from);
        rule
    }
}

impl WebhookConfig {
    /// The address, or what keeps it from being known. It may be a secret, so it is never repeated.
    pub fn address(&self, env: &Environment) -> Result<String, String> {
        let names = match &self.url {
            BaseUrl::Literal(url) => return Ok(url.clone()),
            BaseUrl::Environment(names) => names.env.as_slice(),
        };
        let found = env.first(names.iter().map(String::as_str));
        let url = found.ok_or_else(|| format!("the environment has no {}", names.join(" or ")))?;
        let plain = url.split('?').next().unwrap_or_default();
        let wrong = || format!("{} does not hold an http or https address", names.join(" or "));
        is_http_url(plain).then(|| url.to_owned()).ok_or_else(wrong)
    }

    /// The secret, or what keeps it from being read.
    pub fn secret(&self, env: &Environment) -> Result<Option<Secret>, String> {
        let Some(source) = &self.secret else { return Ok(None) };
        let secret = source.read(env)?;
        if secret.expose().is_empty() { Err("is empty".to_owned()) } else { Ok(Some(secret)) }
    }
}

/// Minutes begun.
fn minutes(duration: HumanDuration) -> u64 {
    duration.0.as_secs().div_ceil(MINUTE.as_secs())
}

pub(super) fn check(config: &AlertsConfig, at: &Cursor<'_>, findings: &mut Findings) {
    if !(SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(&config.interval) {
        let message = format!("{} is not from {SHORTEST_INTERVAL} to {LONGEST_INTERVAL}", config.interval);
        findings.fault(&at.key("interval"), message);
    }
    let rules = shipped();
    for (name, change) in &config.rules {
        let at = at.key("rules").key(name);
        match rules.iter().find(|rule| rule.name == name) {
            Some(rule) => check_rule(rule, change, &at, findings),
            None => {
                let hint = did_you_mean(name, rules.iter().map(|rule| rule.name));
                findings.fault(&at, format!("no rule `{name}` comes with Signalbox{hint}"));
            }
        }
    }
    if let Some(webhook) = &config.webhook {
        check_webhook(webhook, &at.key("webhook"), findings);
    }
}

fn check_rule(rule: &Rule, change: &AlertRuleConfig, at: &Cursor<'_>, findings: &mut Findings) {
    if let Some(threshold) = change.threshold
        && let Some(right) = objection(rule, threshold)
    {
        findings.fault(&at.key("threshold"), format!("{threshold} is not {right}"));
    }
    let Some(window) = change.window else { return };
    let at = at.key("window");
    if !matches!(rule.test, Test::Increase { .. }) {
        findings.fault(&at, format!("`{}` has no window", rule.name));
    } else if window.0.as_secs() == 0 || !window.0.as_millis().is_multiple_of(MINUTE.as_millis()) {
        findings.fault(&at, format!("{window} is not a number of whole minutes"));
    }
}

/// What a threshold of this rule must be, if it is not.
fn objection(rule: &Rule, threshold: f64) -> Option<&'static str> {
    let share = !matches!(rule.measure, Measure::CostPerCall | Measure::OutputTokens);
    let (good, right) = match rule.test {
        Test::Above(_) if share => (threshold > 0.0 && threshold <= 1.0, "a share above 0 and up to 1"),
        Test::Above(_) => (threshold > 0.0, "above 0"),
        Test::Increase { .. } => (threshold > 0.0, "an increase, as 0.5 for half as much again"),
        Test::Times(usual) if usual > 1.0 => (threshold > 1.0, "a multiple above 1"),
        Test::Times(_) => (threshold > 0.0 && threshold < 1.0, "a part between 0 and 1"),
    };
    (!good || !threshold.is_finite()).then_some(right)
}

fn check_webhook(webhook: &WebhookConfig, at: &Cursor<'_>, findings: &mut Findings) {
    if let BaseUrl::Environment(names) = &webhook.url {
        check_variables(&names.env, &at.key("url"), findings);
    }
    check_key_source(webhook.secret.as_ref(), &at.key("secret"), findings);
    if webhook.timeout > LONGEST_TIMEOUT {
        let message = format!("{} is too long: at most {LONGEST_TIMEOUT}", webhook.timeout);
        findings.fault(&at.key("timeout"), message);
    }
}
