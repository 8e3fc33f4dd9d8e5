//! What is known of a model: what it can do, and which parameters it takes under which name.

use crate::{Capabilities, ReasoningEffort};
use serde::{Deserialize, Serialize};

/// The facts of one model that a vendor's translation and the router go by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelFacts {
    /// What it can do.
    pub capabilities: Capabilities,
    /// Tokens of prompt and answer together.
    pub context_window: u32,
    /// Most tokens it can answer with.
    pub max_output_tokens: u32,
    /// How its parameters are said.
    pub parameters: ParameterRules,
}

/// One row of the translation table: how this model wants to be spoken to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParameterRules {
    /// What the model refuses; dropped, and reported as dropped.
    pub refused: Vec<Parameter>,
    /// Sampling parameters are taken only while the effort is `none`.
    pub sampling_needs_no_reasoning: bool,
    /// Which OpenAI surface to use.
    pub openai_endpoint: OpenAiEndpoint,
    /// Name of the output limit on OpenAI's chat completions.
    pub max_tokens_field: MaxTokensField,
    /// How reasoning is asked for.
    pub reasoning: ReasoningStyle,
    /// Efforts the model knows; a wish in between is rounded down to one of these, below the lowest up.
    pub reasoning_efforts: Vec<ReasoningEffort>,
    /// Whether it thinks when not asked; decides whether sampling is refused.
    pub default_effort: Option<ReasoningEffort>,
    /// The model cannot be stopped from thinking.
    pub always_reasons: bool,
    /// It has no schema mode of its own; schemas are enforced by making it call a tool (Anthropic before 4.5).
    pub json_schema_by_tool: bool,
}

/// A parameter that some model refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// `sampling.temperature`
    Temperature,
    /// `sampling.top_p`
    TopP,
    /// `sampling.top_k`
    TopK,
    /// `sampling.presence_penalty`
    PresencePenalty,
    /// `sampling.frequency_penalty`
    FrequencyPenalty,
    /// `sampling.seed`
    Seed,
    /// `stop`
    Stop,
    /// `reasoning_effort`
    ReasoningEffort,
    /// `parallel_tool_calls`
    ParallelToolCalls,
    /// `metadata`
    Metadata,
    /// `end_user`
    EndUser,
    /// `tool.strict`
    Strict,
    /// `image.detail`
    ImageDetail,
}

impl Parameter {
    /// The request's field, as told in `route.dropped_parameters`.
    pub fn field(self) -> &'static str {
        match self {
            Self::Temperature => "sampling.temperature",
            Self::TopP => "sampling.top_p",
            Self::TopK => "sampling.top_k",
            Self::PresencePenalty => "sampling.presence_penalty",
            Self::FrequencyPenalty => "sampling.frequency_penalty",
            Self::Seed => "sampling.seed",
            Self::Stop => "stop",
            Self::ReasoningEffort => "reasoning_effort",
            Self::ParallelToolCalls => "parallel_tool_calls",
            Self::Metadata => "metadata",
            Self::EndUser => "end_user",
            Self::Strict => "tools.strict",
            Self::ImageDetail => "image.detail",
        }
    }
}

/// Which OpenAI surface serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenAiEndpoint {
    /// `/v1/chat/completions`.
    #[default]
    Chat,
    /// `/v1/responses` where tools and reasoning meet, else chat (gpt-5.4 and later).
    ResponsesForTools,
    /// `/v1/responses` always (pro, codex, deep research).
    Responses,
}

/// Name of the output limit on OpenAI's chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_completion_tokens`: OpenAI's own, every model.
    #[default]
    MaxCompletionTokens,
    /// `max_tokens`: older and compatible servers.
    MaxTokens,
}

/// How reasoning is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningStyle {
    /// It is not.
    #[default]
    Unsupported,
    /// A word: OpenAI and xAI `reasoning_effort`.
    Effort,
    /// Anthropic `thinking: {type: adaptive}` with `output_config.effort`.
    AnthropicAdaptive,
    /// Anthropic `thinking: {type: enabled, budget_tokens}`.
    AnthropicBudget,
    /// Gemini `thinkingLevel`.
    GeminiLevel,
    /// Gemini `thinkingBudget`.
    GeminiBudget,
    /// Ollama `think`, a bool.
    OllamaThink,
    /// Ollama `think`, a level.
    OllamaThinkLevel,
}
