//! A whole response, and the items that it and its stream are made of.

use super::super::dialect::Dialect;
use super::super::errors;
use super::super::response::id_or_made_up;
use super::super::wire::{Usage, Word};
use super::items::Signature;
use crate::draft::Draft;
use crate::json;
use serde::Deserialize;
use signalbox_types::{Failure, FinishReason, ModelAnswer, Part, Reasoning, ToolCall};

/// What parts of a summary are joined by.
pub(super) const SUMMARY_BREAK: &str = "\n\n";

/// The response object, whole or as the last event of a stream.
#[derive(Debug, Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub(super) id: Word<'a>,
    #[serde(borrow, default)]
    pub(super) model: Word<'a>,
    #[serde(borrow, default)]
    status: Word<'a>,
    #[serde(borrow)]
    error: Option<ErrorObject<'a>>,
    #[serde(borrow)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow)]
    output: Option<Vec<OutputItem<'a>>>,
    pub(super) usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct ErrorObject<'a> {
    #[serde(borrow, default)]
    code: Word<'a>,
    #[serde(borrow, default)]
    message: Word<'a>,
}

#[derive(Debug, Deserialize)]
struct Incomplete<'a> {
    #[serde(borrow, default)]
    reason: Word<'a>,
}

/// One item of the output; which fields it has depends on its type.
#[derive(Debug, Default, Deserialize)]
pub(super) struct OutputItem<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Word<'a>,
    #[serde(borrow, default)]
    id: Word<'a>,
    #[serde(borrow, default)]
    pub(super) call_id: Word<'a>,
    #[serde(borrow, default)]
    pub(super) name: Word<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Word<'a>,
    #[serde(borrow, default)]
    encrypted_content: Word<'a>,
    summary: Option<Vec<ItemText>>,
    content: Option<Vec<ItemText>>,
}

#[derive(Debug, Deserialize)]
struct ItemText {
    text: Option<String>,
    refusal: Option<String>,
}

impl OutputItem<'_> {
    /// What has to go back with the next turn, if this is reasoning.
    pub(super) fn signature(&self) -> Option<String> {
        Signature::text(self.id.as_str(), self.encrypted_content.as_str())
    }
}

/// How a response ended.
pub(super) struct Ending {
    pub(super) finish_reason: FinishReason,
    pub(super) word: String,
}

impl Response<'_> {
    /// How it ended; a failure where it failed or has not ended.
    pub(super) fn ending(&self, dialect: &Dialect, called: bool, refused: bool) -> Result<Ending, Failure> {
        let (finish_reason, word) = match self.status.as_str() {
            "completed" if called => (FinishReason::ToolCalls, "completed"),
            "completed" if refused => (FinishReason::Refusal, "completed"),
            "completed" => (FinishReason::Stop, "completed"),
            "incomplete" => self.incomplete(),
            status => {
                let nothing = ErrorObject { code: Word::default(), message: Word::default() };
                let ErrorObject { code, message } = self.error.as_ref().unwrap_or(&nothing);
                let stated = format!("the response is {status}");
                let message = if message.as_str().is_empty() { &stated } else { message.as_str() };
                return Err(errors::of_code(dialect, code.as_str(), message));
            }
        };
        Ok(Ending { finish_reason, word: word.to_owned() })
    }

    fn incomplete(&self) -> (FinishReason, &str) {
        match self.incomplete_details.as_ref().map_or("", |details| details.reason.as_str()) {
            word @ "max_output_tokens" => (FinishReason::Length, word),
            word @ "content_filter" => (FinishReason::ContentFilter, word),
            "" => (FinishReason::Unknown, "incomplete"),
            word => (FinishReason::Unknown, word),
        }
    }
}

/// Reads a whole answer.
pub(in super::super) fn draft(dialect: &Dialect, body: &[u8]) -> Result<Draft, Failure> {
    let mut response: Response<'_> = json::read(dialect.name, body)?;
    let (mut parts, mut calls, mut refused) = (Vec::new(), 0, false);
    for item in response.output.take().into_iter().flatten() {
        match item.kind.as_str() {
            "message" => refused |= push_texts(item, &mut parts),
            "reasoning" => parts.extend(reasoning(dialect, item)),
            "function_call" => {
                parts.push(Part::ToolCall(tool_call(calls, &item)));
                calls += 1;
            }
            _ => {}
        }
    }
    let ending = response.ending(dialect, calls > 0, refused);
    let mut answer = ModelAnswer {
        id: response.id.as_str().to_owned(),
        model: response.model.as_str().to_owned(),
        parts,
        usage: response.usage.map(Into::into).unwrap_or_default(),
        ..ModelAnswer::default()
    };
    Ok(match ending {
        Ok(Ending { finish_reason, word }) => {
            (answer.finish_reason, answer.vendor_finish_reason) = (finish_reason, word);
            answer.into()
        }
        Err(problem) => Draft::unusable(answer, problem),
    })
}

/// Adds a message's texts; says whether one of them declines.
fn push_texts(item: OutputItem<'_>, parts: &mut Vec<Part>) -> bool {
    let mut refused = false;
    for ItemText { text, refusal } in item.content.into_iter().flatten() {
        refused |= refusal.is_some();
        let texts = [text, refusal].into_iter().flatten().filter(|text| !text.is_empty());
        parts.extend(texts.map(Part::text));
    }
    refused
}

fn reasoning(dialect: &Dialect, item: OutputItem<'_>) -> Option<Part> {
    let signature = item.signature();
    // The summary is for reading; servers that show the reasoning itself put it into the content.
    let texts = |texts: Option<Vec<ItemText>>| -> String {
        let texts: Vec<String> = texts.into_iter().flatten().filter_map(|part| part.text).collect();
        texts.join(SUMMARY_BREAK)
    };
    let summary = texts(item.summary);
    let text = if summary.is_empty() { texts(item.content) } else { summary };
    let says_something = !text.is_empty() || signature.is_some();
    let vendor = dialect.name.to_owned();
    says_something.then(|| Part::Reasoning(Reasoning { text, signature, vendor, redacted: false }))
}

fn tool_call(index: usize, item: &OutputItem<'_>) -> ToolCall {
    let arguments = super::super::messages::or_empty_object(item.arguments.as_str());
    ToolCall {
        id: id_or_made_up(item.call_id.as_str(), index),
        name: item.name.as_str().to_owned(),
        arguments: arguments.to_owned(),
        signature: None,
    }
}
