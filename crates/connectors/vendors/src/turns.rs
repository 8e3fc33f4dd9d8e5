//! The conversation as the vendors that answer by turns want it.

use signalbox_types::{Message, Part, Role, ToolCall, ToolResult};
use std::collections::HashMap;

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

/// Names of the tools that a conversation calls, by the id of the call; the latest call of an id counts.
#[derive(Debug, Default)]
pub(crate) struct ToolNames<'a>(HashMap<&'a str, &'a str>);

impl<'a> ToolNames<'a> {
    /// Those that results need: none where every result brings its name.
    pub(crate) fn needed(messages: &'a [Message]) -> Self {
        let parts = || messages.iter().flat_map(|message| &message.parts);
        if !parts().any(|part| matches!(part, Part::ToolResult(result) if result.name.is_empty())) {
            return Self::default();
        }
        Self(parts().filter_map(as_call).map(|call| (call.id.as_str(), call.name.as_str())).collect())
    }

    /// The name of the tool whose result this is: the caller's word, else that of the call it answers.
    pub(crate) fn of(&self, result: &'a ToolResult) -> &'a str {
        match result.name.as_str() {
            "" => self.0.get(result.tool_call_id.as_str()).copied().unwrap_or_default(),
            name => name,
        }
    }
}

fn as_call(part: &Part) -> Option<&ToolCall> {
    match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    }
}
