//! The conversation as Ollama's messages, whose content is text alone.

use super::NAME;
use crate::json::{self, Base64};
use crate::turns::{self, ToolNames, Turn};
use serde::Serialize;
use serde_json::value::RawValue;
use signalbox_types::{Failure, ImageSource, Message as Said, Part, Role, ToolCall, ToolResult};
use std::borrow::Cow;

/// One message.
#[derive(Debug, Default, Serialize)]
pub(super) struct Message<'a> {
    role: &'static str,
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<Base64<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Call<'a> {
    id: &'a str,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    index: usize,
    name: &'a str,
    arguments: &'a RawValue,
}

/// The system text, then the conversation.
pub(super) fn conversation<'a>(system: &'a str, said: &'a [Said]) -> Result<Vec<Message<'a>>, Failure> {
    let mut messages = Vec::with_capacity(said.len() + 1);
    if !system.is_empty() {
        messages.push(Message { role: "system", content: Cow::Borrowed(system), ..Message::default() });
    }
    let names = ToolNames::needed(said);
    for turn in turns::turns(said) {
        push_turn(turn, &names, &mut messages)?;
    }
    Ok(messages)
}

/// A turn is a message for each tool result, and one for all the rest.
fn push_turn<'a>(
    turn: Turn<'a>,
    names: &ToolNames<'a>,
    messages: &mut Vec<Message<'a>>,
) -> Result<(), Failure> {
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let mut rest = Message { role, ..Message::default() };
    let mut has_rest = false;
    for part in turn.parts {
        if let Part::ToolResult(result) = part {
            messages.push(self::result(result, names.of(result)));
        } else {
            has_rest = true;
            add(part, &mut rest)?;
        }
    }
    if has_rest {
        messages.push(rest);
    }
    Ok(())
}

fn add<'a>(part: &'a Part, message: &mut Message<'a>) -> Result<(), Failure> {
    match part {
        Part::Text { text, .. } => append(&mut message.content, text),
        Part::Image(image) => match &image.source {
            ImageSource::Inline { data, .. } => message.images.push(Base64(data)),
            ImageSource::Url(_) => {
                return Err(Failure::invalid(
                    "messages.image.url",
                    "this vendor fetches no images; send the bytes",
                ));
            }
        },
        Part::ToolCall(call) => {
            let call = self::call(call, message.tool_calls.len())?;
            message.tool_calls.push(call);
        }
        Part::Reasoning(reasoning) if reasoning.vendor == NAME && !reasoning.text.is_empty() => {
            append(message.thinking.get_or_insert_default(), &reasoning.text);
        }
        Part::Reasoning(_) | Part::ToolResult(_) => {}
    }
    Ok(())
}

/// Texts of one turn become paragraphs of one.
fn append<'a>(content: &mut Cow<'a, str>, text: &'a str) {
    if content.is_empty() {
        *content = Cow::Borrowed(text);
    } else if !text.is_empty() {
        let content = content.to_mut();
        content.push_str("\n\n");
        content.push_str(text);
    }
}

fn call(call: &ToolCall, index: usize) -> Result<Call<'_>, Failure> {
    let arguments = json::object_arguments(call)?;
    Ok(Call { id: &call.id, function: Function { index, name: &call.name, arguments } })
}

/// There is no field for a failed call, so the text says it.
fn result<'a>(result: &'a ToolResult, name: &'a str) -> Message<'a> {
    let content = if result.is_error {
        Cow::Owned(format!("error: {}", result.content))
    } else {
        Cow::Borrowed(result.content.as_str())
    };
    Message {
        role: "tool",
        content,
        tool_name: (!name.is_empty()).then_some(name),
        tool_call_id: Some(&result.tool_call_id),
        ..Message::default()
    }
}
