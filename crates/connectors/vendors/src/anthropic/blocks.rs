//! The conversation as Anthropic's messages and content blocks.

use super::NAME;
use super::call_ids::CallIds;
use crate::json::{self, Base64};
use crate::turns;
use serde::Serialize;
use serde_json::value::RawValue;
use signalbox_types::{Failure, Image, ImageSource, Message, Part, Reasoning, Role};
use std::borrow::Cow;

/// One message.
#[derive(Debug, Serialize)]
pub(super) struct Turn<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: Base64<'a> },
    Url { url: &'a str },
}

/// The conversation's messages. Turns of which nothing can be said to this vendor are left out.
pub(super) fn conversation(messages: &[Message]) -> Result<Vec<Turn<'_>>, Failure> {
    let mut conversation = Vec::with_capacity(messages.len());
    let mut ids = CallIds::default();
    for turn in turns::turns(messages) {
        let blocks = turn.parts.into_iter().filter_map(|part| block(part, &mut ids).transpose());
        let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
        let role = match turn.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let content = match blocks.as_slice() {
            [] => continue,
            [Block::Text { text }] => Content::Text(text),
            _ => Content::Blocks(blocks),
        };
        conversation.push(Turn { role, content });
    }
    Ok(conversation)
}

/// Whether the last turn of the model calls tools without the thinking that led to them, as after a failover from
/// another vendor. Models that think by budget refuse to go on from there thinking.
pub(super) fn calls_without_thinking(messages: &[Message]) -> bool {
    let last = turns::turns(messages).into_iter().rfind(|turn| turn.role == Role::Assistant);
    last.is_some_and(|turn| {
        let calls = turn.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        let thinks = turn
            .parts
            .iter()
            .any(|part| matches!(part, Part::Reasoning(reasoning) if thought(reasoning).is_some()));
        calls && !thinks
    })
}

fn block<'a>(part: &'a Part, ids: &mut CallIds<'a>) -> Result<Option<Block<'a>>, Failure> {
    Ok(match part {
        // Empty text blocks are refused.
        Part::Text { text, .. } if text.is_empty() => None,
        Part::Text { text, .. } => Some(Block::Text { text }),
        Part::Image(image) => Some(Block::Image { source: source(image) }),
        Part::ToolCall(call) => {
            let input = json::object_arguments(call)?;
            Some(Block::ToolUse { id: ids.of_call(&call.id), name: &call.name, input })
        }
        Part::ToolResult(result) => Some(Block::ToolResult {
            tool_use_id: ids.of_result(&result.tool_call_id),
            content: &result.content,
            is_error: result.is_error,
        }),
        Part::Reasoning(reasoning) => thought(reasoning),
    })
}

/// Thinking goes back unchanged, and only to the vendor that signed it.
fn thought(reasoning: &Reasoning) -> Option<Block<'_>> {
    let signature = reasoning.signature.as_deref().filter(|_| reasoning.vendor == NAME)?;
    Some(if reasoning.redacted {
        Block::RedactedThinking { data: signature }
    } else {
        Block::Thinking { thinking: &reasoning.text, signature }
    })
}

fn source(image: &Image) -> Source<'_> {
    match &image.source {
        ImageSource::Inline { media_type, data } => Source::Base64 { media_type, data: Base64(data) },
        ImageSource::Url(url) => Source::Url { url },
    }
}
