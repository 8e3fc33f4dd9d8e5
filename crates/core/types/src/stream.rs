//! An answer as it arrives.

use crate::{FinishReason, TokenUsage};

/// One event of an answer. A good stream ends with exactly one [`StreamEvent::Done`].
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// More text; never empty.
    Text(String),
    /// More reasoning.
    Reasoning(ReasoningDelta),
    /// A piece of a tool call.
    ToolCall(ToolCallDelta),
    /// The end.
    Done(Completion),
}

impl StreamEvent {
    /// Whether sending this to the client ends the possibility of failover: the first content does, reasoning included.
    pub fn commits(&self) -> bool {
        matches!(self, Self::Text(_) | Self::ToolCall(_) | Self::Reasoning(_))
    }
}

/// A piece of reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReasoningDelta {
    /// More of the text; may be empty when the signature arrives alone.
    pub text: String,
    /// The block's opaque signature; it ends the block.
    pub signature: Option<String>,
    /// As [`crate::Reasoning::redacted`].
    pub redacted: bool,
    /// As [`crate::Reasoning::vendor`].
    pub vendor: String,
}

/// A piece of a tool call. The first piece of an index has `id` and `name`; `arguments` pieces concatenate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCallDelta {
    /// Which call: dense, from 0, in order of first appearance.
    pub index: u32,
    /// The call's id; on the first piece only.
    pub id: String,
    /// The tool's name; on the first piece only.
    pub name: String,
    /// More of the arguments' JSON text. A call whose vendor sent none gets one piece `{}`.
    pub arguments: String,
    /// As [`crate::ToolCall::signature`]; on one piece only.
    pub signature: Option<String>,
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// As [`crate::ModelAnswer::id`].
    pub id: String,
    /// As [`crate::ModelAnswer::model`].
    pub model: String,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// The vendor's own word for that.
    pub vendor_finish_reason: String,
    /// What the whole answer used.
    pub usage: TokenUsage,
}
