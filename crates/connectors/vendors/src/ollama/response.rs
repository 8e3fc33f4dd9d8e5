//! Answers and their lines: a whole answer and a line of a stream have one form.

use super::{NAME, errors};
use crate::draft::Draft;
use crate::json;
use serde::Deserialize;
use serde_json::value::RawValue;
use signalbox_types::{
    Failure, FinishReason, ModelAnswer, Part, Reasoning, TokenUsage, ToolCall, UsageSource,
};

/// A chat response, or the error that takes its place.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line {
    pub(super) model: String,
    pub(super) message: Option<Message>,
    pub(super) done: bool,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    pub(super) error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call {
    id: Option<String>,
    function: Function,
}

/// The vendor's own index is left alone: some servers give every call index 0.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function {
    name: String,
    arguments: Option<Box<RawValue>>,
}

/// What a line says.
#[derive(Debug)]
pub(super) enum Piece {
    /// Never empty.
    Text(String),
    Reasoning(Reasoning),
    /// With its index.
    Call(u32, ToolCall),
}

impl Message {
    /// What the message says, in order; `calls` counts the calls of the answer so far.
    pub(super) fn pieces(self, calls: &mut u32) -> impl Iterator<Item = Piece> {
        let filled = |text: &String| !text.is_empty();
        let thinking = self.thinking.filter(filled).map(|text| {
            Piece::Reasoning(Reasoning { text, signature: None, redacted: false, vendor: NAME.to_owned() })
        });
        let text = self.content.filter(filled).map(Piece::Text);
        let tool_calls = self.tool_calls.unwrap_or_default().into_iter().map(|call| {
            let index = *calls;
            *calls += 1;
            Piece::Call(index, tool_call(call, index))
        });
        thinking.into_iter().chain(text).chain(tool_calls)
    }
}

impl Line {
    /// The counts. Absent when zero, and then as likely unknown: a prompt that counts nothing is not free, so
    /// without its count nothing is taken as reported.
    pub(super) fn tokens(&self) -> Option<TokenUsage> {
        let (input, output) = (self.prompt_eval_count?, self.eval_count.unwrap_or_default());
        Some(TokenUsage { input, output, source: UsageSource::Vendor, ..TokenUsage::default() })
    }

    /// The unified word and the vendor's. Calls end with "stop" too; an empty word says that the model's runner went
    /// away, or that the server is too old to say.
    pub(super) fn finish_reason(&mut self, calls_tools: bool) -> (FinishReason, String) {
        let word = self.done_reason.take().unwrap_or_default();
        let reason = match word.as_str() {
            "stop" if calls_tools => FinishReason::ToolCalls,
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            _ => FinishReason::Unknown,
        };
        (reason, word)
    }
}

/// Reads an answer.
pub(super) fn answer(body: &[u8]) -> Result<Draft, Failure> {
    let mut line = json::read::<Line>(NAME, body)?;
    let mut calls = 0;
    let pieces = line.message.take().unwrap_or_default().pieces(&mut calls);
    let parts = pieces.map(|piece| match piece {
        Piece::Text(text) => Part::text(text),
        Piece::Reasoning(reasoning) => Part::Reasoning(reasoning),
        Piece::Call(_, call) => Part::ToolCall(call),
    });
    let parts = parts.collect::<Vec<_>>();
    let (finish_reason, vendor_finish_reason) = line.finish_reason(calls > 0);
    let usage = line.tokens().unwrap_or_default();
    let answer = ModelAnswer {
        id: String::new(),
        model: line.model,
        parts,
        finish_reason,
        vendor_finish_reason,
        usage,
    };
    Ok(match line.error {
        Some(error) => Draft::unusable(answer, errors::in_stream(&error)),
        None if !line.done => Draft::unusable(answer, json::unreadable(NAME, "an answer that is not done")),
        None => answer.into(),
    })
}

fn tool_call(call: Call, index: u32) -> ToolCall {
    ToolCall {
        id: call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{index}")),
        name: call.function.name,
        arguments: json::arguments(call.function.arguments.as_deref()),
        signature: None,
    }
}
