//! What a model can do.

use serde::{Deserialize, Serialize};

/// One thing a model can do. A request that needs it never reaches a model that does not declare it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Text in, text out.
    Text,
    /// Answers as a stream.
    Streaming,
    /// Looks at images.
    ImageInput,
    /// Calls tools.
    Tools,
    /// Calls several tools in one turn.
    ParallelTools,
    /// Can be made to call a tool.
    ForcedTools,
    /// Answers with a JSON object when asked to.
    JsonObject,
    /// Answers with JSON that matches a schema.
    JsonSchema,
    /// Thinks before it answers.
    Reasoning,
    /// Turns texts into vectors.
    Embeddings,
    /// Takes work through the vendor's batch endpoint.
    Batch,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Self; 11] = [
        Self::Text,
        Self::Streaming,
        Self::ImageInput,
        Self::Tools,
        Self::ParallelTools,
        Self::ForcedTools,
        Self::JsonObject,
        Self::JsonSchema,
        Self::Reasoning,
        Self::Embeddings,
        Self::Batch,
    ];

    /// The name used in the catalogue and in error messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Streaming => "streaming",
            Self::ImageInput => "image_input",
            Self::Tools => "tools",
            Self::ParallelTools => "parallel_tools",
            Self::ForcedTools => "forced_tools",
            Self::JsonObject => "json_object",
            Self::JsonSchema => "json_schema",
            Self::Reasoning => "reasoning",
            Self::Embeddings => "embeddings",
            Self::Batch => "batch",
        }
    }
}

/// A set of capabilities, as bits: comparing two sets is one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities(u32);

impl Capabilities {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// This set and `capability`.
    #[must_use]
    pub fn with(self, capability: Capability) -> Self {
        Self(self.0 | 1 << capability as u32)
    }

    /// Both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is here and not in `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether `capability` is here.
    pub fn has(self, capability: Capability) -> bool {
        self.0 & (1 << capability as u32) != 0
    }

    /// Whether all of `other` is here.
    pub fn contains(self, other: Self) -> bool {
        other.without(self) == Self::NONE
    }

    /// The members, in the order of [`Capability::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |capability| self.has(*capability))
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(items: I) -> Self {
        items.into_iter().fold(Self::NONE, Self::with)
    }
}
