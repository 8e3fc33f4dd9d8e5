//! Which items travel together.

use serde::{Deserialize, Serialize};

/// How a vendor is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// By its batch endpoint, at batch prices.
    Batch,
    /// As usual, call by call: it has no batch endpoint.
    Usual,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An answer.
    Generate,
    /// Vectors.
    Embed,
}

/// Who may serve an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target {
    /// Vendor entry.
    pub vendor: String,
    /// Model.
    pub model: String,
    /// How it is asked.
    pub lane: Lane,
}

/// What the items of a window have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowKey {
    /// Who is to serve them.
    pub target: Target,
    /// What they ask for: no vendor takes both in one batch.
    pub kind: Kind,
}
