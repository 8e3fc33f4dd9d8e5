//! The conversation as the vendors that answer by turns want it.

use signalbox_types::{Message, Part, Role, ToolCall, ToolResult};

/// One turn: neighbouring messages of one role as one, because every result of a turn's tool calls must come in one
/// turn, before anything else.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) role: Role,
    pub(crate) parts: Vec<&'a Part>,
}

/// The turns of a conversation.
pub(crate) fn turns(messages: &[Message]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::with_capacity(messages.len());
    for message in messages {
        match turns.last_mut() {
            Some(last) if last.role == message.role => last.parts.extend(&message.parts),
            _ => turns.push(Turn { role: message.role, parts: message.parts.iter().collect() }),
        }
    }
    for turn in &mut turns {
        // Stable: results among themselves, and the rest, stay in the caller's order.
        turn.parts.sort_by_key(|part| !matches!(part, Part::ToolResult(_)));
    }
    turns
}

/// The name of the tool whose result this is: the caller's word, else that of the call it answers.
pub(crate) fn tool_name<'a>(messages: &'a [Message], result: &'a ToolResult) -> &'a str {
    if !result.name.is_empty() {
        return &result.name;
    }
    let calls = messages.iter().rev().flat_map(|message| &message.parts).filter_map(as_call);
    calls.into_iter().find(|call| call.id == result.tool_call_id).map_or("", |call| &call.name)
}

fn as_call(part: &Part) -> Option<&ToolCall> {
    match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    }
}
