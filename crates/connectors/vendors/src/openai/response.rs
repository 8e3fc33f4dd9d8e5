//! A whole chat completion.

use super::dialect::Dialect;
use super::errors;
use super::wire::{Usage, Word};
use crate::draft::Draft;
use crate::json;
use serde::Deserialize;
use serde_json::value::RawValue;
use signalbox_types::{Failure, FinishReason, ModelAnswer, Part, Reasoning, ToolCall};

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    id: Word<'a>,
    #[serde(borrow, default)]
    model: Word<'a>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Usage>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow, default)]
    finish_reason: Word<'a>,
}

#[derive(Default, Deserialize)]
struct Message<'a> {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    /// Newer vLLM and others, where they mean `reasoning_content`.
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Call<'a>>>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow, default)]
    id: Word<'a>,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Word<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Reads a whole answer.
pub(super) fn draft(dialect: &Dialect, body: &[u8]) -> Result<Draft, Failure> {
    let Answer { id, model, choices, usage, error } = json::read(dialect.name, body)?;
    let mut answer = ModelAnswer {
        id: id.as_str().to_owned(),
        model: model.as_str().to_owned(),
        usage: usage.map(Into::into).unwrap_or_default(),
        ..ModelAnswer::default()
    };
    let ended = match choices.into_iter().flatten().next() {
        Some(choice) => take_choice(dialect, choice, &mut answer),
        None => Err(json::unreadable(dialect.name, "no choices")),
    };
    let ended = if error.is_some() { Err(errors::in_band(dialect, body)) } else { ended };
    Ok(Draft { answer, problem: ended.err() })
}

/// What the answer says and why it ended; a failure where that is not said.
fn take_choice(dialect: &Dialect, choice: Choice<'_>, answer: &mut ModelAnswer) -> Result<(), Failure> {
    let word = choice.finish_reason.as_str();
    let message = choice.message.unwrap_or_default();
    let refused = message.refusal.as_ref().is_some_and(|refusal| !refusal.is_empty());
    let called = message.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty());
    answer.parts = parts(dialect, message);
    word.clone_into(&mut answer.vendor_finish_reason);
    let finish_reason = finish_reason(word, called, refused);
    answer.finish_reason = finish_reason.ok_or_else(|| json::unreadable(dialect.name, "no finish reason"))?;
    Ok(())
}

fn parts(dialect: &Dialect, message: Message<'_>) -> Vec<Part> {
    let thoughts =
        message.reasoning_content.or_else(|| text_of(message.reasoning)).filter(|text| !text.is_empty());
    let thoughts = thoughts.map(|text| {
        Part::Reasoning(Reasoning { text, vendor: dialect.name.to_owned(), ..Reasoning::default() })
    });
    let texts = [message.content, message.refusal].into_iter().flatten().filter(|text| !text.is_empty());
    let calls = message
        .tool_calls
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(index, call)| Part::ToolCall(tool_call(index, &call)));
    thoughts.into_iter().chain(texts.map(Part::text)).chain(calls).collect()
}

fn tool_call(index: usize, call: &Call<'_>) -> ToolCall {
    ToolCall {
        id: id_or_made_up(call.id.as_str(), index),
        name: call.function.name.as_str().to_owned(),
        arguments: json::arguments(call.function.arguments),
        signature: None,
    }
}

/// A call's id, or one for a server that gives none.
pub(super) fn id_or_made_up(id: &str, index: usize) -> String {
    if id.is_empty() { format!("call_{index}") } else { id.to_owned() }
}

/// The text, where it is one.
pub(super) fn text_of(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

/// What the vendor's word means; none where it is not said why the answer ended. With tool calls, xAI sometimes says
/// nothing and OpenAI says `stop` when a tool was forced.
pub(super) fn finish_reason(word: &str, called: bool, refused: bool) -> Option<FinishReason> {
    Some(match word {
        "" if called => FinishReason::ToolCalls,
        "" => return None,
        "stop" if refused => FinishReason::Refusal,
        "stop" if called => FinishReason::ToolCalls,
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Unknown,
    })
}
