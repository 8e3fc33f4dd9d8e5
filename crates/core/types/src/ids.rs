//! Names of vendors and models.

use crate::shown;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, sync::Arc};

/// A model at a configured vendor: `vendor/model`, e.g. `openai/gpt-6-luna`.
///
/// `vendor` is the name of an entry under `vendors` in the catalogue, not a wire format; two entries may speak
/// the same format. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelRef {
    /// Name of the vendor entry in the catalogue.
    pub vendor: Arc<str>,
    /// The vendor's own model id; may itself contain slashes.
    pub model: Arc<str>,
}

impl ModelRef {
    /// A reference from its two halves.
    pub fn new(vendor: impl Into<Arc<str>>, model: impl Into<Arc<str>>) -> Self {
        Self { vendor: vendor.into(), model: model.into() }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.vendor, self.model)
    }
}

/// `text` is not of the form `vendor/model`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form vendor/model")]
pub struct ParseModelRefError(String);

impl FromStr for ModelRef {
    type Err = ParseModelRefError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((vendor, model)) if !vendor.is_empty() && !model.is_empty() => Ok(Self::new(vendor, model)),
            _ => Err(ParseModelRefError(shown(text).into_owned())),
        }
    }
}

/// The wire format a vendor entry speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VendorKind {
    /// OpenAI: chat completions, and responses where a model needs it.
    Openai,
    /// Anthropic messages.
    Anthropic,
    /// Gemini `generateContent` (Developer API).
    Gemini,
    /// xAI's dialect of chat completions.
    Xai,
    /// Ollama's native `/api/chat`.
    Ollama,
    /// Any server that speaks OpenAI chat completions: vLLM, llama.cpp, Groq and so on.
    OpenaiCompatible,
}

impl VendorKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Openai, Self::Anthropic, Self::Gemini, Self::Xai, Self::Ollama, Self::OpenaiCompatible];

    /// The name used in the catalogue and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Xai => "xai",
            Self::Ollama => "ollama",
            Self::OpenaiCompatible => "openai-compatible",
        }
    }

    /// `gen_ai.provider.name` of the OpenTelemetry GenAI conventions. `None` where the kind is only a protocol: then the
    /// name that the vendor was given says more.
    pub fn otel_name(self) -> Option<&'static str> {
        match self {
            Self::Openai => Some("openai"),
            Self::Anthropic => Some("anthropic"),
            Self::Gemini => Some("gcp.gemini"),
            Self::Xai => Some("x_ai"),
            Self::Ollama | Self::OpenaiCompatible => None,
        }
    }
}

impl fmt::Display for VendorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
