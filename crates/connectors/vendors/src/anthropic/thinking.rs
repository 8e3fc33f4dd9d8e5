//! How a Claude model is told to think.

use super::blocks;
use crate::adjust::{Adjustments, Thinking};
use serde::Serialize;
use signalbox_types::{
    Capability, ModelFacts, Parameter, Prompt, ReasoningEffort, ReasoningStyle, ToolChoice,
};

/// Smallest thinking budget that is taken; `max_tokens` must be larger.
const SMALLEST_BUDGET: u32 = 1024;

/// Output limit where the caller set none and the model does not think.
const DEFAULT_MAX_TOKENS: u32 = 8192;

/// The `thinking` field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ThinkingField {
    Adaptive { display: &'static str },
    Enabled { budget_tokens: u32 },
    Disabled,
}

/// What a request says of thinking, and the output limit that goes with it.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) thinking: Option<ThinkingField>,
    pub(super) effort: Option<&'static str>,
    pub(super) max_tokens: u32,
    /// Whether the model will think: then it takes neither sampling nor forced tools.
    pub(super) thinks: bool,
}

/// Decides what to say of thinking.
pub(super) fn plan(facts: &ModelFacts, prompt: &Prompt, adjustments: &mut Adjustments) -> Plan {
    let rules = &facts.parameters;
    let mut wish = adjustments.thinking(rules, prompt.reasoning_effort);
    let limit = adjustments.max_tokens(facts, prompt.max_output_tokens);
    if let Some(problem) = budget_problem(facts, prompt, wish, limit) {
        adjustments.note(Parameter::ReasoningEffort.field(), problem);
        wish = Thinking::Off;
    }
    if gives_way(facts, prompt, wish) {
        adjustments.note(Parameter::ReasoningEffort.field(), "off: no tool can be forced while thinking");
        wish = Thinking::Off;
    }
    let thinks = wish.is_on(rules);
    let max_tokens = limit.unwrap_or_else(|| default_limit(facts, thinks));
    let display = if prompt.include_reasoning { "summarized" } else { "omitted" };
    let (thinking, effort) = match (rules.reasoning, wish) {
        (_, Thinking::Off) => (Some(ThinkingField::Disabled), None),
        (ReasoningStyle::AnthropicBudget, Thinking::Effort(effort)) => {
            (Some(ThinkingField::Enabled { budget_tokens: budget(effort, max_tokens) }), None)
        }
        (ReasoningStyle::AnthropicAdaptive, Thinking::Effort(effort)) => {
            (Some(ThinkingField::Adaptive { display }), Some(effort.name()))
        }
        // It thinks by itself; only whether that is shown needs saying.
        (ReasoningStyle::AnthropicAdaptive, Thinking::Default) if thinks && prompt.include_reasoning => {
            (Some(ThinkingField::Adaptive { display }), None)
        }
        _ => (None, None),
    };
    Plan { thinking, effort, max_tokens, thinks }
}

/// Whether thinking that nobody asked for stands in the way of a tool call that the caller demands.
fn gives_way(facts: &ModelFacts, prompt: &Prompt, wish: Thinking) -> bool {
    let rules = &facts.parameters;
    let demanded = matches!(prompt.tool_choice, ToolChoice::Required | ToolChoice::Named(_));
    demanded
        && wish == Thinking::Default
        && wish.is_on(rules)
        && !rules.always_reasons
        && facts.capabilities.has(Capability::ForcedTools)
}

/// Why a model that thinks by budget cannot think this time.
fn budget_problem(
    facts: &ModelFacts,
    prompt: &Prompt,
    wish: Thinking,
    limit: Option<u32>,
) -> Option<&'static str> {
    let by_budget = facts.parameters.reasoning == ReasoningStyle::AnthropicBudget;
    if !by_budget || !matches!(wish, Thinking::Effort(_)) {
        None
    } else if limit.is_some_and(|limit| limit <= SMALLEST_BUDGET) {
        Some("dropped: thinking needs max_output_tokens above 1024")
    } else if blocks::calls_without_thinking(&prompt.messages) {
        Some("dropped: the tool calls before were made without this vendor's thinking")
    } else {
        None
    }
}

fn default_limit(facts: &ModelFacts, thinks: bool) -> u32 {
    match facts.max_output_tokens {
        0 => DEFAULT_MAX_TOKENS,
        most if thinks => most,
        most => most.min(DEFAULT_MAX_TOKENS),
    }
}

/// Tokens to think with: by effort, leaving a quarter of the output for the answer.
fn budget(effort: ReasoningEffort, max_tokens: u32) -> u32 {
    let wish = match effort {
        ReasoningEffort::None | ReasoningEffort::Minimal => SMALLEST_BUDGET,
        ReasoningEffort::Low => 2048,
        ReasoningEffort::Medium => 8192,
        ReasoningEffort::High => 16_384,
        ReasoningEffort::Xhigh => 24_576,
        ReasoningEffort::Max => 32_768,
    };
    wish.min(max_tokens / 4 * 3).max(SMALLEST_BUDGET)
}
