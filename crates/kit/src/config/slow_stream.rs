//! The file's section about streams that trickle.

use super::values::HumanDuration;
use schemars::JsonSchema;
use serde::Deserialize;

/// When a stream that has begun counts as a failure of its vendor although it goes on: nothing can take its place, but
/// the next requests can go elsewhere. Only time counts in which the vendor was waited for, not the reader.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlowStreamConfig {
    /// Tokens a second that a stream must give after its first words; 0 switches this off.
    #[schemars(range(min = 0, max = 1_000))]
    pub min_tokens_per_second: f64,
    /// For how long it must stay below that.
    pub window: HumanDuration,
}

impl Default for SlowStreamConfig {
    fn default() -> Self {
        Self { min_tokens_per_second: 1.0, window: HumanDuration::secs(10) }
    }
}
