//! An answer from the wire, as far as it decides whether it may be kept.

use signalbox_api::{
    convert::finish_reason_from_proto,
    v1::{CachedAnswer, part::Part as Wire},
};
use signalbox_types::{FinishReason, Part, Reasoning, ToolCall, ToolResult};

/// Its parts, and why it ended.
pub(super) fn read(answer: &CachedAnswer) -> (Vec<Part>, FinishReason) {
    let parts = answer.content.iter().filter_map(|part| part.part.as_ref()).map(part).collect();
    (parts, finish_reason_from_proto(answer.finish_reason()))
}

fn part(part: &Wire) -> Part {
    match part {
        Wire::Text(text) => Part::text(text),
        Wire::Reasoning(reasoning) => Part::Reasoning(Reasoning {
            text: reasoning.text.clone(),
            signature: Some(reasoning.signature.clone()).filter(|signature| !signature.is_empty()),
            redacted: reasoning.redacted,
            vendor: reasoning.vendor.clone(),
        }),
        // Of the others it matters only that they are there.
        Wire::ToolCall(call) => Part::ToolCall(ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: String::new(),
            signature: None,
        }),
        Wire::Image(_) | Wire::ToolResult(_) => Part::ToolResult(ToolResult {
            tool_call_id: String::new(),
            name: String::new(),
            content: String::new(),
            is_error: false,
        }),
    }
}
