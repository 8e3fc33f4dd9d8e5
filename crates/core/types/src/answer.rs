//! What a model gave back.

use crate::{Part, TokenUsage};

/// The answer of one model call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelAnswer {
    /// The vendor's id of the answer; empty where it gives none.
    pub id: String,
    /// The model that the vendor says answered (often a dated id); empty where it does not say.
    pub model: String,
    /// Text, tool calls and reasoning, in order. May be empty.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// The vendor's own word for that.
    pub vendor_finish_reason: String,
    /// What it used.
    pub usage: TokenUsage,
}

/// What had come of an answer that cannot be used: it may have to be paid for all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arrived {
    /// What the vendor reported.
    pub usage: Option<TokenUsage>,
    /// About how many tokens of the answer came; none where the report is of the whole answer.
    pub answer_tokens: u64,
}

/// Why an answer ended. Never invented: an answer without one is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FinishReason {
    /// The vendor gave a word we do not know; see `vendor_finish_reason`.
    #[default]
    Unknown,
    /// The model was done.
    Stop,
    /// One of the request's stop texts was met.
    StopSequence,
    /// The output limit cut it.
    Length,
    /// It wants tools called.
    ToolCalls,
    /// The vendor's filter cut it.
    ContentFilter,
    /// The model declined.
    Refusal,
    /// The context window was full.
    ContextExceeded,
    /// The vendor paused a long turn; send it back to go on.
    Pause,
    /// The model made a tool call that the vendor could not read.
    MalformedToolCall,
}

/// The answer to an embedding request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbeddingAnswer {
    /// The model that the vendor says answered.
    pub model: String,
    /// One vector for each input, in the inputs' order.
    pub embeddings: Vec<Embedding>,
    /// What it used.
    pub usage: TokenUsage,
}

/// One vector.
pub type Embedding = Vec<f32>;

/// Something the translation to a vendor changed, told in the answer's `route`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adjustment {
    /// The request's field, as in `sampling.temperature`.
    pub field: std::borrow::Cow<'static, str>,
    /// What was done and why, as in `dropped: refused by this model`.
    pub description: std::borrow::Cow<'static, str>,
}
