//! Numbers with a range, where they are the values of a map.

use schemars::JsonSchema;
use serde::Deserialize;

/// A share from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Share(#[schemars(range(min = 0, max = 1))] pub f64);

/// A power of two on a score: 1 doubles it, -1 halves it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Power(#[schemars(range(min = -3, max = 3))] pub f64);
