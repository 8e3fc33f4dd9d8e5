//! The file's section about drills.

use schemars::JsonSchema;
use serde::Deserialize;

/// Faults that operators inject on purpose, to see whether users would notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrillsConfig {
    /// Whether drills may be started. Set it for the router and for its adapters; switched off, it ends those that run.
    pub enabled: bool,
}
