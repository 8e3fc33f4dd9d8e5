//! The file's section about content: what is looked for in prompts and answers, and what is done about it.

use super::{
    numbers::Share,
    values::{HumanDuration, url_schema},
    vendors::KeySource,
    words,
};
use schemars::JsonSchema;
use serde::Deserialize;
use signalbox_quality::content::{self, Action, ContentPolicy, InvalidRule, Pii, Place, Rule, What};
use std::collections::BTreeMap;

/// A content policy: rules, and perhaps a moderation endpoint. It holds whatever the vendor.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContentPolicyConfig {
    /// The rules. All are applied; of those that block the first is named.
    pub rules: Vec<ContentRuleConfig>,
    /// An endpoint that judges what passes the rules.
    pub moderation: Option<ModerationConfig>,
}

/// A rule. Give one of `regex`, `words` and `pii`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContentRuleConfig {
    /// What findings, errors and metrics call it: 1 to 64 of a-z, A-Z, 0-9, `_`, `-` and `.`, unique in its policy.
    pub name: String,
    /// A regular expression in the syntax of Rust's `regex` crate, without look-around and backreferences.
    pub regex: Option<String>,
    /// Words and phrases, found whole and whatever their case.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub words: Option<Vec<String>>,
    /// Kinds of personal data.
    #[serde(default, deserialize_with = "words::read_pii")]
    #[schemars(schema_with = "words::pii")]
    pub pii: Option<Vec<Pii>>,
    /// What is done with what is found.
    pub action: ContentActionConfig,
    /// Where to look; in both where left out.
    #[serde(default = "everywhere")]
    #[schemars(length(min = 1))]
    pub on: Vec<ContentPlaceConfig>,
    /// What takes the place of what is redacted; `[EMAIL]` and the like where left out, `[REDACTED]` for words and
    /// regular expressions.
    pub placeholder: Option<String>,
}

/// What is done with what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContentActionConfig {
    /// Tell of it in the answer's route.
    Flag,
    /// Put a placeholder in its place.
    Redact,
    /// Refuse the request, or the answer.
    Block,
}

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContentPlaceConfig {
    /// In what is asked.
    Input,
    /// In answers.
    Output,
}

/// A moderation endpoint that speaks as OpenAI's `/v1/moderations` does. An answer that streams and that it may block
/// is held back until it is whole.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModerationConfig {
    /// Its address, without `/v1/moderations`.
    #[schemars(schema_with = "url_schema")]
    pub url: String,
    /// Where its key is; none where left out.
    pub api_key: Option<KeySource>,
    /// The model that judges.
    #[schemars(length(min = 1))]
    pub model: String,
    /// Categories that count, each with the score from which it does. Where left out, what the endpoint flags counts.
    pub categories: BTreeMap<String, Share>,
    /// How long to wait for it.
    pub timeout: HumanDuration,
    /// What it judges; both where left out.
    #[schemars(length(min = 1))]
    pub on: Vec<ContentPlaceConfig>,
    /// What is done with what counts.
    pub action: ModerationActionConfig,
    /// What is done when it does not judge.
    pub on_error: OnErrorConfig,
}

impl Default for ModerationConfig {
    fn default() -> Self {
        Self {
            url: "https://api.openai.com".to_owned(),
            api_key: None,
            model: "omni-moderation-latest".to_owned(),
            categories: BTreeMap::new(),
            timeout: HumanDuration::secs(3),
            on: everywhere(),
            action: ModerationActionConfig::Block,
            on_error: OnErrorConfig::Block,
        }
    }
}

/// What is done with what a moderation endpoint finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModerationActionConfig {
    /// Tell of it in the answer's route.
    Flag,
    /// Refuse the request, or the answer.
    Block,
}

/// What is done when a moderation endpoint does not judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnErrorConfig {
    /// The request fails as `UNAVAILABLE`.
    Block,
    /// The request goes on.
    Allow,
}

fn everywhere() -> Vec<ContentPlaceConfig> {
    vec![ContentPlaceConfig::Input, ContentPlaceConfig::Output]
}

impl From<ContentPlaceConfig> for Place {
    fn from(place: ContentPlaceConfig) -> Self {
        match place {
            ContentPlaceConfig::Input => Self::Input,
            ContentPlaceConfig::Output => Self::Output,
        }
    }
}

impl From<ContentActionConfig> for Action {
    fn from(action: ContentActionConfig) -> Self {
        match action {
            ContentActionConfig::Flag => Self::Flag,
            ContentActionConfig::Redact => Self::Redact,
            ContentActionConfig::Block => Self::Block,
        }
    }
}

impl From<ModerationActionConfig> for Action {
    fn from(action: ModerationActionConfig) -> Self {
        match action {
            ModerationActionConfig::Flag => Self::Flag,
            ModerationActionConfig::Block => Self::Block,
        }
    }
}

impl ContentPolicyConfig {
    /// Its rules, ready to be applied.
    pub fn compiled(&self) -> Result<ContentPolicy, InvalidRule> {
        ContentPolicy::new(self.rules.iter().map(ContentRuleConfig::rule).collect())
    }
}

impl ContentRuleConfig {
    /// The field that says what is looked for; with none of them the rule looks for nothing.
    pub(super) fn looks_by(&self) -> Vec<&'static str> {
        let given =
            [("regex", self.regex.is_some()), ("words", self.words.is_some()), ("pii", self.pii.is_some())];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }

    fn rule(&self) -> Rule {
        let what = match (&self.regex, &self.words, &self.pii) {
            (Some(pattern), _, _) => What::Regex(pattern.clone()),
            (_, Some(words), _) => What::Words(words.clone()),
            (_, _, kinds) => What::Pii(kinds.clone().unwrap_or_default()),
        };
        Rule {
            name: self.name.as_str().into(),
            what,
            places: self.on.iter().map(|place| (*place).into()).collect(),
            action: self.action.into(),
            placeholder: self.placeholder.clone(),
        }
    }

    /// Whether its matches may be longer than an answer that streams is held back for.
    pub(super) fn is_unbounded_in_streams(&self) -> bool {
        self.action != ContentActionConfig::Flag
            && self.on.contains(&ContentPlaceConfig::Output)
            && self.regex.as_deref().is_some_and(|pattern| !content::is_bounded(pattern))
    }
}
