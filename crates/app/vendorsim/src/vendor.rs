//! The vendors that are simulated.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A simulated vendor. Its name is also the first segment of its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vendor {
    /// OpenAI, below `/openai`.
    Openai,
    /// Anthropic, below `/anthropic`.
    Anthropic,
    /// Google Gemini, below `/gemini`.
    Gemini,
    /// xAI, below `/xai`.
    Xai,
    /// Ollama, below `/ollama`.
    Ollama,
    /// Any server that speaks OpenAI's chat completions, below `/compatible`.
    Compatible,
}

impl Vendor {
    /// Every vendor.
    pub const ALL: [Self; 6] =
        [Self::Openai, Self::Anthropic, Self::Gemini, Self::Xai, Self::Ollama, Self::Compatible];

    /// Name, as in paths.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Xai => "xai",
            Self::Ollama => "ollama",
            Self::Compatible => "compatible",
        }
    }
}

/// No vendor has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVendor(pub String);

impl std::fmt::Display for UnknownVendor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no simulated vendor is called `{}`", self.0)
    }
}

impl std::error::Error for UnknownVendor {}

impl FromStr for Vendor {
    type Err = UnknownVendor;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let name =
            if name.starts_with("openai") && name.ends_with("compatible") { "compatible" } else { name };
        Self::ALL
            .into_iter()
            .find(|vendor| vendor.name() == name)
            .ok_or_else(|| UnknownVendor(name.to_owned()))
    }
}
