//! A whole answer.

use super::NAME;
use crate::draft::Draft;
use crate::json;
use serde::Deserialize;
use serde_json::value::RawValue;
use signalbox_types::{
    Failure, FinishReason, ModelAnswer, Part, Reasoning, TokenUsage, ToolCall, UsageSource,
};

/// The `message` object; in a stream its first event holds one without content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) model: String,
    content: Vec<Block>,
    stop_reason: Option<String>,
    pub(super) usage: Option<Usage>,
}

/// A content block of any type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) thinking: String,
    pub(super) signature: String,
    pub(super) data: String,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Option<Box<RawValue>>,
}

/// Counts; what is absent or null was not reported (again).
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct Usage {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: u64,
}

impl Usage {
    /// A later report replaces an earlier one, count by count.
    pub(super) fn replace(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.cache_read_input_tokens = later.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_creation = later.cache_creation.or(self.cache_creation);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.output_tokens_details = later.output_tokens_details.or(self.output_tokens_details);
    }

    /// The counts, each token in one of them. `input_tokens` already leaves out what the cache read and wrote;
    /// thinking is inside `output_tokens`.
    pub(super) fn tokens(&self) -> TokenUsage {
        let split = self.cache_creation.unwrap_or_default();
        let split_sum = split.ephemeral_5m_input_tokens.saturating_add(split.ephemeral_1h_input_tokens);
        let written = self.cache_creation_input_tokens.unwrap_or(split_sum);
        let written_1h = split.ephemeral_1h_input_tokens.min(written);
        let answered = self.output_tokens.unwrap_or_default();
        let reasoning = self.output_tokens_details.unwrap_or_default().thinking_tokens.min(answered);
        TokenUsage {
            input: self.input_tokens.unwrap_or_default(),
            cache_read: self.cache_read_input_tokens.unwrap_or_default(),
            cache_write: written - written_1h,
            cache_write_1h: written_1h,
            output: answered - reasoning,
            reasoning,
            source: UsageSource::Vendor,
            vendor_cost_usd_ticks: None,
        }
    }
}

/// Reads an answer.
pub(super) fn answer(body: &[u8], json_tool: Option<&str>) -> Result<Draft, Failure> {
    let message = json::read::<Message>(NAME, body)?;
    let parts = message.content.into_iter().filter_map(|block| part(block, json_tool)).collect::<Vec<_>>();
    let calls_tools = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let mut answer = ModelAnswer {
        id: message.id,
        model: message.model,
        parts,
        usage: message.usage.map(|usage| usage.tokens()).unwrap_or_default(),
        ..ModelAnswer::default()
    };
    let Some(stop_reason) = message.stop_reason else {
        return Ok(Draft::unusable(answer, json::unreadable(NAME, "no stop_reason")));
    };
    answer.finish_reason = finish_reason(&stop_reason, calls_tools, json_tool);
    answer.vendor_finish_reason = stop_reason;
    Ok(answer.into())
}

/// Reads a token count.
pub(super) fn token_count(body: &[u8]) -> Result<u64, Failure> {
    #[derive(Deserialize)]
    struct Count {
        input_tokens: u64,
    }
    Ok(json::read::<Count>(NAME, body)?.input_tokens)
}

/// The unified word. A call of the tool that carries a JSON answer asks for nothing.
pub(super) fn finish_reason(stop_reason: &str, calls_tools: bool, json_tool: Option<&str>) -> FinishReason {
    match stop_reason {
        "end_turn" => FinishReason::Stop,
        "stop_sequence" => FinishReason::StopSequence,
        "max_tokens" => FinishReason::Length,
        "tool_use" if json_tool.is_some() && !calls_tools => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::Refusal,
        "model_context_window_exceeded" => FinishReason::ContextExceeded,
        "pause_turn" => FinishReason::Pause,
        _ => FinishReason::Unknown,
    }
}

/// What a block says; nothing where it is of a type we do not know or empty.
fn part(block: Block, json_tool: Option<&str>) -> Option<Part> {
    Some(match block.kind.as_str() {
        "text" if !block.text.is_empty() => Part::text(block.text),
        "tool_use" if json_tool == Some(block.name.as_str()) => {
            Part::text(json::arguments(block.input.as_deref()))
        }
        "tool_use" => Part::ToolCall(ToolCall {
            arguments: json::arguments(block.input.as_deref()),
            id: block.id,
            name: block.name,
            signature: None,
        }),
        "thinking" => reasoning(block.thinking, block.signature, false),
        "redacted_thinking" => reasoning(String::new(), block.data, true),
        _ => return None,
    })
}

fn reasoning(text: String, signature: String, redacted: bool) -> Part {
    let signature = (!signature.is_empty()).then_some(signature);
    Part::Reasoning(Reasoning { text, signature, redacted, vendor: NAME.to_owned() })
}
