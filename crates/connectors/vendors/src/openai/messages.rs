//! The conversation as chat messages.

use super::dialect::Dialect;
use super::images::{self, Address};
use crate::turns::{Turn, turns};
use serde::Serialize;
use signalbox_types::{Failure, Image, Message, Part, Role};

/// One message.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum ChatMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<Content<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

/// What a message says: plain text where that is all.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ContentPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Debug, Serialize)]
pub(super) struct ImageUrl<'a> {
    url: Address<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Debug, Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// The conversation's messages. Tool results come before what else their turn says.
pub(super) fn conversation<'a>(
    dialect: &Dialect,
    messages: &'a [Message],
    image_detail: bool,
) -> Result<Vec<ChatMessage<'a>>, Failure> {
    let mut conversation = Vec::with_capacity(messages.len() + 1);
    for turn in turns(messages) {
        match turn.role {
            Role::User => push_user(&turn, image_detail, &mut conversation)?,
            Role::Assistant => conversation.push(assistant(dialect, &turn)?),
        }
    }
    Ok(conversation)
}

fn push_user<'a>(
    turn: &Turn<'a>,
    image_detail: bool,
    messages: &mut Vec<ChatMessage<'a>>,
) -> Result<(), Failure> {
    let mut parts = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Text { text, .. } => parts.push(ContentPart::Text { text }),
            Part::Image(image) => parts.push(image_part(image, image_detail)),
            Part::ToolResult(result) => {
                messages
                    .push(ChatMessage::Tool { tool_call_id: &result.tool_call_id, content: &result.content });
            }
            Part::ToolCall(_) | Part::Reasoning(_) => {
                return Err(misplaced("a tool call or reasoning", "a user turn"));
            }
        }
    }
    if let Some(content) = content(parts) {
        messages.push(ChatMessage::User { content });
    }
    Ok(())
}

fn assistant<'a>(dialect: &Dialect, turn: &Turn<'a>) -> Result<ChatMessage<'a>, Failure> {
    let (mut parts, mut tool_calls, mut thoughts) = (Vec::new(), Vec::new(), String::new());
    for part in &turn.parts {
        match part {
            Part::Text { text, .. } => parts.push(ContentPart::Text { text }),
            Part::ToolCall(call) => {
                let function =
                    CalledFunction { name: &call.name, arguments: or_empty_object(&call.arguments) };
                tool_calls.push(Call { id: &call.id, kind: "function", function });
            }
            Part::Reasoning(reasoning) if dialect.reasoning_content && reasoning.vendor == dialect.name => {
                thoughts.push_str(&reasoning.text);
            }
            Part::Reasoning(_) => {}
            Part::Image(_) | Part::ToolResult(_) => {
                return Err(misplaced("an image or a tool result", "an assistant turn"));
            }
        }
    }
    let unsaid = || (tool_calls.is_empty() || !dialect.null_content).then_some(Content::Text(""));
    let content = content(parts).or_else(unsaid);
    // Models that think between tool calls go on from there; elsewhere it is refused by some and read by none.
    let reasoning_content = (!thoughts.is_empty() && !tool_calls.is_empty()).then_some(thoughts);
    Ok(ChatMessage::Assistant { content, reasoning_content, tool_calls })
}

fn content(parts: Vec<ContentPart<'_>>) -> Option<Content<'_>> {
    match parts.as_slice() {
        [] => None,
        [ContentPart::Text { text }] => Some(Content::Text(text)),
        _ => Some(Content::Parts(parts)),
    }
}

fn image_part(image: &Image, with_detail: bool) -> ContentPart<'_> {
    let detail = images::detail(image).filter(|_| with_detail);
    ContentPart::ImageUrl { image_url: ImageUrl { url: Address::of(image), detail } }
}

/// Some servers refuse a call without arguments in the history.
pub(super) fn or_empty_object(arguments: &str) -> &str {
    if arguments.trim().is_empty() { "{}" } else { arguments }
}

pub(super) fn misplaced(what: &str, place: &str) -> Failure {
    Failure::invalid("messages", format!("{what} cannot be in {place}"))
}
