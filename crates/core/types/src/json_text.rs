//! JSON that is passed on as it was written.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;

/// A JSON value kept as its text: key order and number precision survive, and it is embedded in a vendor
/// request without being parsed again. Valid by construction.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Box<str>);

/// The text is not one JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON: {0}")]
pub struct InvalidJson(String);

impl JsonText {
    /// Checks that `text` is exactly one JSON value and keeps it.
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidJson> {
        let text = text.into();
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(_) => Ok(Self(text.into_boxed_str())),
            Err(error) => Err(InvalidJson(error.to_string())),
        }
    }

    /// The text as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The parsed value, for dialects that must rewrite a schema.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl From<&serde_json::Value> for JsonText {
    fn from(value: &serde_json::Value) -> Self {
        Self(value.to_string().into_boxed_str())
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}
