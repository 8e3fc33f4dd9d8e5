//! Whether structured output is what was asked for, how often a model's is, and what a tenant's rules say of content.
//!
//! Pure but for one process-wide cache of compiled schemas, [`Schemas::shared`].

pub mod content;
mod extract;
pub mod gate;
mod rules;
mod schemas;
mod validator;
mod verdicts;

pub use extract::{Extracted, NoJson, extract};
pub use schemas::Schemas;
pub use validator::Validator;
pub use verdicts::{PassRate, Verdicts};

use signalbox_types::JsonText;

/// Checks that a text is a JSON Schema that can be enforced, once for all requests that bring it. The error says where
/// it is not, for the caller to read.
pub fn check_schema(schema: &JsonText) -> Result<(), String> {
    Schemas::shared().check(schema)
}
