//! What an application asks for.

use crate::{Capabilities, Image, JsonText, Message, ModelRef, ParseModelRefError, Part, shown};
use std::{collections::BTreeMap, fmt, str::FromStr, time::Duration};

/// Everything a vendor is told. Routing wishes are beside it, in [`GenerateRequest`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prompt {
    /// Standing instructions; empty where there are none.
    pub system: String,
    /// The conversation, oldest turn first.
    pub messages: Vec<Message>,
    /// Tools the model may call.
    pub tools: Vec<Tool>,
    /// Whether it may, must or must not call them.
    pub tool_choice: ToolChoice,
    /// Whether it may call several at once; `None` leaves the vendor's default.
    pub parallel_tool_calls: Option<bool>,
    /// Temperature and friends.
    pub sampling: Sampling,
    /// Most tokens to answer with, reasoning included.
    pub max_output_tokens: Option<u32>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// Form of the answer.
    pub response_format: ResponseFormat,
    /// How long to think; `None` leaves the model's default.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Whether the caller wants to see the reasoning.
    pub include_reasoning: bool,
    /// Opaque id of the application's end user, for the vendors' abuse detection.
    pub end_user: String,
    /// The caller's own labels, sent on where a vendor takes them.
    pub metadata: BTreeMap<String, String>,
}

impl Prompt {
    /// Every image in the conversation.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Image(image) => Some(image),
            _ => None,
        })
    }
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// `[a-zA-Z0-9_-]{1,64}`, which every vendor takes.
    pub name: String,
    /// What it does, for the model to read.
    pub description: String,
    /// JSON Schema of the arguments, an object; `None` for a tool without arguments.
    pub parameters: Option<JsonText>,
    /// Whether the vendor should force arguments to match; `None` leaves its default.
    pub strict: Option<bool>,
}

/// Whether tools are called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// Never.
    None,
    /// At least one.
    Required,
    /// This one.
    Named(String),
}

/// Sampling parameters; what a model refuses is dropped and reported.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sampling {
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// Above 0, to 1.
    pub top_p: Option<f64>,
    /// At least 1.
    pub top_k: Option<u32>,
    /// -2 to 2.
    pub presence_penalty: Option<f64>,
    /// -2 to 2.
    pub frequency_penalty: Option<f64>,
    /// Best effort reproducibility.
    pub seed: Option<i64>,
}

/// Form of the answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ResponseFormat {
    /// Free text.
    #[default]
    Text,
    /// Some JSON object.
    JsonObject,
    /// JSON that matches a schema.
    JsonSchema {
        /// `[a-zA-Z0-9_-]{1,64}`.
        name: String,
        /// The schema.
        schema: JsonText,
        /// Whether the vendor should enforce it where it can.
        strict: bool,
    },
}

/// How long to think, from not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    /// Do not think.
    None,
    /// As little as the model can.
    Minimal,
    /// Little.
    Low,
    /// Middling.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// All the model can.
    Max,
}

impl Tier {
    /// Every tier, dearest first.
    pub const ALL: [Self; 3] = [Self::Premium, Self::Standard, Self::Economy];

    /// The name used in the catalogue and in `tier:NAME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Premium => "premium",
            Self::Standard => "standard",
            Self::Economy => "economy",
        }
    }
}

impl ReasoningEffort {
    /// The word vendors use.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// Which model the caller asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ModelSelector {
    /// None: the task type decides.
    #[default]
    Unspecified,
    /// A name from `aliases` in the catalogue.
    Alias(String),
    /// Any model of a price class.
    Tier(Tier),
    /// Exactly this one.
    Exact(ModelRef),
}

/// Price class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The best answers.
    Premium,
    /// Good answers at a fair price.
    Standard,
    /// The cheapest answers that will do.
    Economy,
}

/// How soon the answer is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lane {
    /// Now.
    #[default]
    Interactive,
    /// Within the vendors' batch windows, at their batch prices.
    Batch,
}

/// What the caller wishes of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CachePolicy {
    /// As configured for tenant and task.
    #[default]
    Default,
    /// Exact hits only.
    ExactOnly,
    /// Ask a model, and store the answer.
    Refresh,
    /// Neither look up nor store.
    Bypass,
}

/// What the caller wishes of failover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FallbackPolicy {
    /// Retry and switch as configured.
    #[default]
    Default,
    /// The first candidate or an error.
    Disabled,
}

/// One call of an application.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GenerateRequest {
    /// The caller's id of the request, or one made up at the edge.
    pub request_id: String,
    /// What the vendor is told.
    pub prompt: Prompt,
    /// Which model.
    pub model: ModelSelector,
    /// Whose budget, cache and rules apply.
    pub tenant_id: String,
    /// Name from `task_types` in the catalogue; empty for none.
    pub task_type: String,
    /// Part of the application that asks, for accounting; empty for none.
    pub scene: String,
    /// BCP 47 tag of the answer's language; empty for none.
    pub locale: String,
    /// The article or job this is for, for the audit trail; empty for none.
    pub reference: String,
    /// The template its prompt was made of, with its version as in `headline@3`; empty for none.
    pub prompt_template: String,
    /// What the model must be able to do, beyond what the prompt shows.
    pub required_capabilities: Capabilities,
    /// Now or later.
    pub lane: Lane,
    /// Time the caller gives the whole call; the transport's deadline applies too.
    pub timeout: Option<Duration>,
    /// Cache wishes.
    pub cache: CachePolicy,
    /// Failover wishes.
    pub fallback: FallbackPolicy,
}

/// Texts to turn into vectors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbedRequest {
    /// The texts, 1 to 2048 of them, none empty.
    pub inputs: Vec<String>,
    /// Length of the vectors where the model lets one choose.
    pub dimensions: Option<u32>,
}

impl fmt::Display for ModelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unspecified => Ok(()),
            Self::Alias(name) => f.write_str(name),
            Self::Tier(tier) => write!(f, "tier:{}", tier.name()),
            Self::Exact(model) => model.fmt(f),
        }
    }
}

impl FromStr for ModelSelector {
    type Err = String;

    /// `""`, `fast`, `tier:economy` or `openai/gpt-6-luna`; the error says what would be right.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::Unspecified);
        }
        if let Some(name) = text.strip_prefix("tier:") {
            let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name);
            return tier.map(Self::Tier).ok_or_else(|| {
                format!("no tier `{}`; there are premium, standard and economy", shown(name))
            });
        }
        if text.contains('/') {
            return text.parse().map(Self::Exact).map_err(|error: ParseModelRefError| error.to_string());
        }
        Ok(Self::Alias(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_reads_back_what_it_shows() {
        for text in ["", "fast", "tier:premium", "openai/gpt-6-luna", "local/org/model:q4"] {
            assert_eq!(text.parse::<ModelSelector>().unwrap().to_string(), text);
        }
        assert!("tier:gold".parse::<ModelSelector>().unwrap_err().contains("economy"));
        assert!("/x".parse::<ModelSelector>().is_err());
    }
}
