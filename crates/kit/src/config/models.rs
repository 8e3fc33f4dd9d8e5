//! The file's sections about models and the names that lead to them.

use super::{
    numbers::Share,
    values::{Date, Decimal, HumanDuration, OneOrMany},
    words,
};
use schemars::JsonSchema;
use serde::Deserialize;
use signalbox_pricing::ModelStatus;
use signalbox_routing::Pace;
use signalbox_types::{
    Capability, MaxTokensField, OpenAiEndpoint, Parameter, ReasoningEffort, ReasoningStyle, Tier,
};
use std::collections::BTreeMap;

/// A model as `vendor/model`.
pub type TargetName = String;

/// What is known of a model.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// What it can do; a request that needs more never reaches it.
    #[schemars(schema_with = "words::capabilities")]
    pub capabilities: Vec<Capability>,
    /// Tokens of prompt and answer together.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub context_window: u32,
    /// Most tokens it can answer with; the context window where left out.
    #[schemars(range(min = 0, max = 100_000_000))]
    pub max_output_tokens: Option<u32>,
    /// How its parameters are said.
    #[serde(default)]
    pub parameters: ParametersConfig,
    /// USD per million tokens: one row, or several with dates. Without any, its cost is unknown.
    pub prices: Option<OneOrMany<PriceConfig>>,
    /// Price class.
    #[serde(default)]
    #[schemars(schema_with = "words::tier")]
    pub tier: Option<Tier>,
    /// What it may be used for, in words of your own that tenants' `required_labels` ask for; its vendor's count, too.
    #[serde(default)]
    #[schemars(inner(length(min = 1)))]
    pub labels: Vec<String>,
    /// Share of good answers to reckon with before any are seen, 0 to 1: for all work, or by task type, where
    /// `default` stands for all others. What `assumed_quality` says of its tier where left out.
    pub quality: Option<QualityConfig>,
    /// How fast it answers, to reckon with before any answers are seen.
    pub latency: Option<PaceConfig>,
    /// How much it is preferred: a power of two on its score, added to its vendor's.
    #[serde(default)]
    #[schemars(range(min = -3, max = 3))]
    pub priority: f64,
    /// How the vendor stands behind it.
    #[serde(default, deserialize_with = "words::read_status")]
    #[schemars(schema_with = "words::status")]
    pub status: ModelStatus,
    /// First day on which the vendor no longer serves it.
    pub shutdown_date: Option<Date>,
    /// The `vendor/model` to use instead.
    pub successor: Option<TargetName>,
    /// Where these facts are from.
    pub source: Option<String>,
    /// When they were right.
    pub as_of: Option<String>,
}

/// Share of good answers: for all work, or by task type.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QualityConfig {
    /// For all work.
    All(Share),
    /// By task type; `default` stands for those that are not named.
    ByTask(BTreeMap<String, Share>),
}

/// How fast a model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaceConfig {
    /// Time to the first token.
    pub first_token: HumanDuration,
    /// Time between two tokens.
    pub between_tokens: HumanDuration,
}

impl From<PaceConfig> for Pace {
    fn from(config: PaceConfig) -> Self {
        Self { first_token: config.first_token.0, between_tokens: config.between_tokens.0 }
    }
}

/// How a model's parameters are said.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParametersConfig {
    /// What the model refuses; dropped from requests, and reported as dropped.
    #[schemars(schema_with = "words::parameters")]
    pub refused: Vec<Parameter>,
    /// Sampling parameters are taken only while the effort is `none`.
    pub sampling_needs_no_reasoning: bool,
    /// Which OpenAI surface to use.
    #[schemars(schema_with = "words::openai_endpoint")]
    pub openai_endpoint: OpenAiEndpoint,
    /// Name of the output limit on OpenAI's chat completions.
    #[schemars(schema_with = "words::max_tokens_field")]
    pub max_tokens_field: MaxTokensField,
    /// How reasoning is asked for.
    #[schemars(schema_with = "words::reasoning_style")]
    pub reasoning: ReasoningStyle,
    /// Efforts the model knows.
    #[schemars(schema_with = "words::efforts")]
    pub reasoning_efforts: Vec<ReasoningEffort>,
    /// Its effort when not asked.
    #[schemars(schema_with = "words::effort")]
    pub default_effort: Option<ReasoningEffort>,
    /// It cannot be stopped from thinking.
    pub always_reasons: bool,
    /// It has no schema mode of its own: schemas are enforced by making it call a tool.
    pub json_schema_by_tool: bool,
}

/// What a model costs from some day on, in USD per million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceConfig {
    /// First day; since ever where left out.
    pub from: Option<Date>,
    /// Prompt tokens.
    pub input: Decimal,
    /// Prompt tokens read from the vendor's cache; as `input` where left out.
    pub cache_read: Option<Decimal>,
    /// Prompt tokens written to the vendor's cache; as `input` where left out.
    pub cache_write: Option<Decimal>,
    /// Prompt tokens written to the vendor's cache for an hour; as `cache_write` where left out.
    pub cache_write_1h: Option<Decimal>,
    /// Answer tokens, reasoning included.
    pub output: Decimal,
    /// What the batch lane takes off: 0.5 is half price.
    pub batch_discount: Option<Decimal>,
    /// Other prices for long prompts, each for the whole request.
    #[serde(default)]
    pub steps: Vec<PriceStepConfig>,
}

/// Prices of a whole request whose prompt is long. Give either `above` or `at_or_above`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceStepConfig {
    /// Prompt tokens that must be passed.
    #[schemars(range(min = 1))]
    pub above: Option<u64>,
    /// Prompt tokens that must be reached.
    #[schemars(range(min = 1))]
    pub at_or_above: Option<u64>,
    /// As in the row.
    pub input: Decimal,
    /// As in the row.
    pub cache_read: Option<Decimal>,
    /// As in the row.
    pub cache_write: Option<Decimal>,
    /// As in the row.
    pub cache_write_1h: Option<Decimal>,
    /// As in the row.
    pub output: Decimal,
}

/// A name that applications use in place of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasConfig {
    /// What it is for.
    pub description: Option<String>,
    /// Models as `vendor/model`, in order of preference.
    #[schemars(length(min = 1))]
    pub targets: Vec<TargetName>,
}

/// Models of each price class.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TiersConfig {
    /// The best answers.
    pub premium: Vec<TargetName>,
    /// Good answers at a fair price.
    pub standard: Vec<TargetName>,
    /// The cheapest answers that will do.
    pub economy: Vec<TargetName>,
}

/// Share of good answers to reckon with for models that say nothing of their own quality, by tier.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AssumedQualityConfig {
    /// Of premium models.
    pub premium: Option<Share>,
    /// Of standard models.
    pub standard: Option<Share>,
    /// Of economy models.
    pub economy: Option<Share>,
}

impl AssumedQualityConfig {
    /// What is assumed of the models of a tier.
    pub fn of(&self, tier: Tier) -> Option<f64> {
        let share = match tier {
            Tier::Premium => self.premium,
            Tier::Standard => self.standard,
            Tier::Economy => self.economy,
        };
        share.map(|share| share.0)
    }
}
