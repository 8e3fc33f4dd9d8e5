//! Answers and their pieces: a whole answer and a chunk of a stream have one form.

use super::errors::Error;
use super::{NAME, SIGNATURE_PREFIX, errors};
use crate::draft::Draft;
use crate::json;
use serde::Deserialize;
use serde_json::value::RawValue;
use signalbox_types::{
    Failure, FinishReason, ModelAnswer, Part, Reasoning, TokenUsage, ToolCall, UsageSource,
};

/// A `GenerateContentResponse`, or the error that takes its place.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Chunk {
    pub(super) candidates: Vec<Candidate>,
    prompt_feedback: Option<PromptFeedback>,
    pub(super) usage_metadata: Option<UsageMetadata>,
    pub(super) model_version: Option<String>,
    pub(super) response_id: Option<String>,
    pub(super) error: Option<Error>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate {
    pub(super) content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Content {
    pub(super) parts: Vec<WirePart>,
}

/// A part of any kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WirePart {
    text: Option<String>,
    thought: bool,
    thought_signature: Option<String>,
    function_call: Option<FunctionCall>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionCall {
    id: Option<String>,
    name: String,
    args: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
}

/// Counts; absent ones are zero.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct UsageMetadata {
    prompt_token_count: u64,
    tool_use_prompt_token_count: u64,
    cached_content_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
}

impl UsageMetadata {
    /// The counts, each token in one of them. The prompt count includes what the cache gave; thoughts are beside
    /// the candidates.
    pub(super) fn tokens(&self) -> TokenUsage {
        let prompt = self.prompt_token_count.saturating_add(self.tool_use_prompt_token_count);
        let cached = self.cached_content_token_count.min(prompt);
        TokenUsage {
            input: prompt - cached,
            cache_read: cached,
            output: self.candidates_token_count,
            reasoning: self.thoughts_token_count,
            source: UsageSource::Vendor,
            ..TokenUsage::default()
        }
    }
}

impl Chunk {
    /// Why the answer ended, where this chunk says so. A blocked prompt has no candidate.
    pub(super) fn take_finish(&mut self) -> Option<Finish> {
        let of_candidate = self.candidates.first_mut().and_then(|candidate| candidate.finish_reason.take());
        let blocked = || self.prompt_feedback.take()?.block_reason.map(Finish::PromptBlocked);
        of_candidate.map(Finish::Candidate).or_else(blocked)
    }

    /// The parts of the one candidate asked for.
    pub(super) fn take_parts(&mut self) -> Vec<WirePart> {
        let content = self.candidates.first_mut().and_then(|candidate| candidate.content.take());
        content.map(|content| content.parts).unwrap_or_default()
    }
}

/// Why an answer ended, in the vendor's word.
#[derive(Debug)]
pub(super) enum Finish {
    Candidate(String),
    PromptBlocked(String),
}

impl Finish {
    /// The unified word and the vendor's. Calls end with STOP too.
    pub(super) fn reason(self, calls_tools: bool) -> (FinishReason, String) {
        match self {
            Self::PromptBlocked(word) => (FinishReason::ContentFilter, word),
            Self::Candidate(word) => (finish_reason(&word, calls_tools), word),
        }
    }
}

fn finish_reason(word: &str, calls_tools: bool) -> FinishReason {
    match word {
        "STOP" if calls_tools => FinishReason::ToolCalls,
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" | "ESCALATION"
        | "MODEL_ARMOR" => FinishReason::ContentFilter,
        word if word.starts_with("IMAGE_") => FinishReason::ContentFilter,
        "CONTINUATION" => FinishReason::Pause,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MALFORMED_RESPONSE"
        | "MISSING_THOUGHT_SIGNATURE" => FinishReason::MalformedToolCall,
        _ => FinishReason::Unknown,
    }
}

/// Reads an answer: one object, or the array of chunks of a stream that was not asked for as events.
pub(super) fn answer(body: &[u8]) -> Result<Draft, Failure> {
    let mut answer = ModelAnswer::default();
    let mut finish = None;
    let mut calls = 0;
    for mut chunk in chunks(body)? {
        if let Some(error) = chunk.error {
            return Ok(Draft::unusable(answer, errors::in_stream(error)));
        }
        finish = chunk.take_finish().or(finish);
        for part in chunk.take_parts() {
            push(part, &mut calls, &mut answer.parts);
        }
        answer.usage = chunk.usage_metadata.map_or(answer.usage, |usage| usage.tokens());
        answer.id = chunk.response_id.unwrap_or(answer.id);
        answer.model = chunk.model_version.unwrap_or(answer.model);
    }
    let Some(finish) = finish else {
        return Ok(Draft::unusable(answer, json::unreadable(NAME, "no finishReason")));
    };
    (answer.finish_reason, answer.vendor_finish_reason) = finish.reason(calls > 0);
    Ok(answer.into())
}

/// Reads a token count.
pub(super) fn token_count(body: &[u8]) -> Result<u64, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Count {
        total_tokens: u64,
    }
    Ok(json::read::<Count>(NAME, body)?.total_tokens)
}

/// One chunk or an array of them.
pub(super) fn chunks(body: &[u8]) -> Result<Vec<Chunk>, Failure> {
    if body.trim_ascii_start().starts_with(b"[") {
        return json::read(NAME, body);
    }
    json::read(NAME, body).map(|chunk| vec![chunk])
}

fn push(wire: WirePart, calls: &mut u32, parts: &mut Vec<Part>) {
    for piece in wire.pieces(calls) {
        match (piece, parts.last_mut()) {
            (Piece::Text(more), Some(Part::Text { text, .. })) => text.push_str(&more),
            (Piece::Text(text), _) => parts.push(Part::text(text)),
            (Piece::Call(_, call), _) => parts.push(Part::ToolCall(call)),
            (Piece::Reasoning(reasoning), _) => parts.push(Part::Reasoning(reasoning)),
        }
    }
}

/// What a part says.
#[derive(Debug)]
pub(super) enum Piece {
    /// Never empty.
    Text(String),
    Reasoning(Reasoning),
    /// With its index.
    Call(u32, ToolCall),
}

impl WirePart {
    /// What the part says, in order; `calls` counts the calls of the answer so far. A text's signature comes after
    /// it as reasoning without text.
    pub(super) fn pieces(self, calls: &mut u32) -> impl Iterator<Item = Piece> {
        let Self { text, thought, thought_signature: mut signature, function_call } = self;
        let call = function_call.map(|call| {
            let index = *calls;
            *calls += 1;
            Piece::Call(index, tool_call(call, index, signature.take()))
        });
        let text = text.filter(|text| !text.is_empty());
        let (text, thoughts) = if thought { (None, text) } else { (text, None) };
        let reasoning = (thoughts.is_some() || signature.is_some()).then(|| {
            let text = thoughts.unwrap_or_default();
            Piece::Reasoning(Reasoning { text, signature, redacted: false, vendor: NAME.to_owned() })
        });
        text.map(Piece::Text).into_iter().chain(reasoning).chain(call)
    }
}

fn tool_call(call: FunctionCall, index: u32, signature: Option<String>) -> ToolCall {
    ToolCall {
        id: call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{index}")),
        name: call.name,
        arguments: json::arguments(call.args.as_deref()),
        signature: signature.map(|signature| format!("{SIGNATURE_PREFIX}{signature}")),
    }
}
