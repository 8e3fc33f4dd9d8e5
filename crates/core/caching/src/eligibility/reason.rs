//! Why not, in words that metrics and answers keep.

use std::fmt;

/// Why a request is not looked up, or its answer not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Nothing is kept for the task.
    Disabled,
    /// The client asked not to.
    Mode,
    /// It is sensitive.
    Sensitive,
    /// The model may call tools, which may do things.
    Tools,
    /// It asks for variety.
    Temperature,
    /// What it asks depends on when it is asked.
    TimeWords,
    /// It has an image at an address, where another may lie tomorrow.
    ImageUrl,
    /// It asks for the same answer to the same words.
    Seed,
    /// Nothing tells the instruction from the content, or it is in pieces around it.
    Instruction,
    /// The conversation is too long to be matched by meaning.
    History,
    /// The answer was cut, filtered or paused, or nobody knows why it ended.
    FinishReason,
    /// The answer calls a tool.
    ToolCall,
    /// The model declined.
    Refusal,
    /// The answer says nothing.
    Empty,
    /// The answer is too large.
    TooLarge,
    /// The answer has an image.
    Image,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 16] = [
        Self::Disabled,
        Self::Mode,
        Self::Sensitive,
        Self::Tools,
        Self::Temperature,
        Self::TimeWords,
        Self::ImageUrl,
        Self::Seed,
        Self::Instruction,
        Self::History,
        Self::FinishReason,
        Self::ToolCall,
        Self::Refusal,
        Self::Empty,
        Self::TooLarge,
        Self::Image,
    ];

    /// The word in metrics and in an answer's `route`. It does not change.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Mode => "mode",
            Self::Sensitive => "sensitive",
            Self::Tools => "tools",
            Self::Temperature => "temperature",
            Self::TimeWords => "time_words",
            Self::ImageUrl => "image_url",
            Self::Seed => "seed",
            Self::Instruction => "instruction",
            Self::History => "history",
            Self::FinishReason => "finish_reason",
            Self::ToolCall => "tool_call",
            Self::Refusal => "refusal",
            Self::Empty => "empty",
            Self::TooLarge => "too_large",
            Self::Image => "image",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
