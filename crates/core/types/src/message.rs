//! What a conversation is made of.

use bytes::Bytes;

/// Who speaks. System text is not a message: see [`crate::Prompt::system`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The application or its user; tool results are user turns too.
    User,
    /// The model, in an earlier turn.
    Assistant,
}

/// One turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order; never empty.
    pub parts: Vec<Part>,
}

/// One piece of a turn or of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text, and what it is for.
    Text {
        /// The text.
        text: String,
        /// Whether this is the instruction or the material it is applied to.
        purpose: Purpose,
    },
    /// An image for the model to look at.
    Image(Image),
    /// A call the model wants made (assistant turns and answers only).
    ToolCall(ToolCall),
    /// What a call gave (user turns only).
    ToolResult(ToolResult),
    /// The model's reasoning, kept so that a vendor that demands it gets it back.
    Reasoning(Reasoning),
}

impl Part {
    /// Plain text, for which no purpose was given.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), purpose: Purpose::Unspecified }
    }
}

/// Whether a text is the instruction ("write a headline") or the content it is applied to (the article).
/// Caching matches content exactly and only the instruction by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Not said.
    #[default]
    Unspecified,
    /// What to do.
    Instruction,
    /// What to do it with.
    Content,
}

/// An image.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Where the bytes are.
    pub source: ImageSource,
    /// How closely the model should look, where a vendor has such a switch.
    pub detail: ImageDetail,
}

/// Where an image's bytes are.
#[derive(Debug, Clone, PartialEq)]
pub enum ImageSource {
    /// Here.
    Inline {
        /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        media_type: String,
        /// The file's bytes (not base64).
        data: Bytes,
    },
    /// At an `https` address that the vendor fetches.
    Url(String),
}

/// How closely to look at an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageDetail {
    /// The vendor's default.
    #[default]
    Auto,
    /// Cheaper and coarser.
    Low,
    /// Dearer and finer.
    High,
}

/// A call the model wants made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Unique in its turn; made up as `call_<index>` where a vendor gives none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text. A vendor's empty arguments are `{}`; what is not valid JSON is kept as it came.
    pub arguments: String,
    /// Opaque state that must go back with the call to the vendor named in it.
    pub signature: Option<String>,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// [`ToolCall::id`] of the call answered.
    pub tool_call_id: String,
    /// The tool's name; filled in from the call where the caller left it out.
    pub name: String,
    /// The result as text (often JSON).
    pub content: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A piece of the model's reasoning. Goes back only to the vendor kind that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reasoning {
    /// Readable reasoning or its summary; may be empty.
    pub text: String,
    /// The vendor's opaque proof or encrypted form, byte for byte.
    pub signature: Option<String>,
    /// The vendor withheld the text and `signature` holds its encrypted form.
    pub redacted: bool,
    /// [`crate::VendorKind::name`] of the writer.
    pub vendor: String,
}
