//! The conversation as the items that go in.

use super::super::dialect::Dialect;
use super::super::images::{self, Address};
use super::super::messages::{misplaced, or_empty_object};
use crate::turns::{Turn, turns};
use serde::{Deserialize, Serialize};
use signalbox_types::{Failure, Message, Part, Reasoning, Role};

/// One item.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Item<'a> {
    Message { role: &'static str, content: Content<'a> },
    Typed(Typed<'a>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Parts(Vec<InputPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum InputPart<'a> {
    InputText {
        text: &'a str,
    },
    InputImage {
        image_url: Address<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'static str>,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Typed<'a> {
    FunctionCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: &'a str, output: &'a str },
    Reasoning { id: String, summary: Vec<Summary<'a>>, encrypted_content: String },
}

#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

/// A reasoning item's identity and content, as they travel in [`Reasoning::signature`].
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Signature {
    pub(super) id: String,
    pub(super) encrypted_content: String,
}

impl Signature {
    /// The text that travels; none where there is nothing to send back.
    pub(super) fn text(id: &str, encrypted_content: &str) -> Option<String> {
        if encrypted_content.is_empty() {
            return None;
        }
        let signature = Self { id: id.to_owned(), encrypted_content: encrypted_content.to_owned() };
        serde_json::to_string(&signature).ok()
    }
}

/// The conversation's items, in order: reasoning stays before the calls that it led to.
pub(super) fn conversation<'a>(
    dialect: &Dialect,
    messages: &'a [Message],
    image_detail: bool,
) -> Result<Vec<Item<'a>>, Failure> {
    let mut items = Vec::with_capacity(messages.len());
    for turn in turns(messages) {
        match turn.role {
            Role::User => push_user(&turn, image_detail, &mut items)?,
            Role::Assistant => push_assistant(dialect, &turn, &mut items)?,
        }
    }
    Ok(items)
}

fn push_user<'a>(turn: &Turn<'a>, image_detail: bool, items: &mut Vec<Item<'a>>) -> Result<(), Failure> {
    let mut parts = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Text { text, .. } => parts.push(InputPart::InputText { text }),
            Part::Image(image) => {
                let detail = images::detail(image).filter(|_| image_detail);
                parts.push(InputPart::InputImage { image_url: Address::of(image), detail });
            }
            Part::ToolResult(result) => items.push(Item::Typed(Typed::FunctionCallOutput {
                call_id: &result.tool_call_id,
                output: &result.content,
            })),
            Part::ToolCall(_) | Part::Reasoning(_) => {
                return Err(misplaced("a tool call or reasoning", "a user turn"));
            }
        }
    }
    if !parts.is_empty() {
        items.push(Item::Message { role: "user", content: Content::Parts(parts) });
    }
    Ok(())
}

fn push_assistant<'a>(dialect: &Dialect, turn: &Turn<'a>, items: &mut Vec<Item<'a>>) -> Result<(), Failure> {
    for part in &turn.parts {
        let item = match part {
            Part::Text { text, .. } => {
                Some(Item::Message { role: "assistant", content: Content::Text(text) })
            }
            Part::ToolCall(call) => Some(Item::Typed(Typed::FunctionCall {
                call_id: &call.id,
                name: &call.name,
                arguments: or_empty_object(&call.arguments),
            })),
            Part::Reasoning(reasoning) => thought(dialect, reasoning),
            Part::Image(_) | Part::ToolResult(_) => {
                return Err(misplaced("an image or a tool result", "an assistant turn"));
            }
        };
        items.extend(item);
    }
    Ok(())
}

/// The reasoning item, if this vendor wrote it.
fn thought<'a>(dialect: &Dialect, reasoning: &'a Reasoning) -> Option<Item<'a>> {
    if reasoning.vendor != dialect.name {
        return None;
    }
    let Signature { id, encrypted_content } = serde_json::from_str(reasoning.signature.as_deref()?).ok()?;
    let summary =
        (!reasoning.text.is_empty()).then_some(Summary { kind: "summary_text", text: &reasoning.text });
    Some(Item::Typed(Typed::Reasoning { id, summary: summary.into_iter().collect(), encrypted_content }))
}
