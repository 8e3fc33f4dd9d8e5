//! In what the speakers of chat completions differ.

use super::errors::{self, VendorError};
use signalbox_types::ErrorReason;

/// One speaker of chat completions.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// [`signalbox_types::VendorKind::name`].
    pub(crate) name: &'static str,
    /// Where it lives, where it lives in one place.
    pub(crate) base_url: Option<&'static str>,
    /// The field for the application's end user.
    pub(crate) end_user: EndUserField,
    /// Takes `metadata`.
    pub(crate) metadata: bool,
    /// Takes `store` and `stream_options.include_obfuscation`: OpenAI alone keeps answers and pads chunks.
    pub(crate) store: bool,
    /// Takes `strict` on tools and schemas.
    pub(crate) strict: bool,
    /// Takes `top_k`.
    pub(crate) top_k: bool,
    /// Most stop texts it takes.
    pub(crate) most_stops: usize,
    /// `content` of an assistant turn of nothing but tool calls is null, not an empty text.
    pub(crate) null_content: bool,
    /// Shows `reasoning_content` without being asked, and wants it back with its tool calls.
    pub(crate) reasoning_content: bool,
    /// Refuses JSON mode unless the prompt has the word in it.
    pub(crate) json_word: bool,
    /// Counts the tokens of a prompt.
    pub(crate) counts_tokens: bool,
    /// Form of the vectors asked for.
    pub(crate) vectors: &'static str,
    /// What kind of failure an error object means; the status is known only outside of streams.
    pub(crate) classify: fn(Option<u16>, &VendorError) -> ErrorReason,
}

/// The field for the application's end user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndUserField {
    /// OpenAI's `safety_identifier`.
    SafetyIdentifier,
    /// The older `user`.
    User,
    /// There is none.
    None,
}

pub(super) static OPENAI: Dialect = Dialect {
    name: "openai",
    base_url: Some("https://api.openai.com"),
    end_user: EndUserField::SafetyIdentifier,
    metadata: true,
    store: true,
    strict: true,
    top_k: false,
    most_stops: 4,
    null_content: true,
    reasoning_content: false,
    json_word: true,
    counts_tokens: true,
    vectors: "base64",
    classify: errors::classify,
};

/// Strict servers refuse fields that they do not know; `top_k` is known to those that run models themselves.
pub(super) static COMPATIBLE: Dialect = Dialect {
    name: "openai-compatible",
    base_url: None,
    end_user: EndUserField::None,
    metadata: false,
    store: false,
    strict: true,
    top_k: true,
    most_stops: usize::MAX,
    null_content: true,
    reasoning_content: true,
    json_word: false,
    counts_tokens: false,
    vectors: "float",
    classify: errors::classify,
};
