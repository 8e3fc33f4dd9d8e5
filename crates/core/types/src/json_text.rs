//! JSON that is passed on as it was written.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::fmt;

/// Deepest nesting that is read; `serde_json`'s limit.
const DEEPEST: usize = 127;

/// A JSON value kept as its text: key order and number precision survive, and it is embedded in a vendor
/// request without being parsed again. Valid by construction, and never more than can be read as a value.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(Box<str>);

/// The text is not one JSON value, or one that is beyond what is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidJson(String);

impl JsonText {
    /// Checks that `text` is exactly one JSON value and keeps it.
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidJson> {
        let text = text.into();
        Self::check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }

    /// Checks that `text` is exactly one JSON value, of numbers and nesting that can be read.
    pub fn check(text: &str) -> Result<(), InvalidJson> {
        serde_json::from_str::<Readable>(text).map(drop).map_err(InvalidJson::from)
    }

    /// The text as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The parsed value, for dialects that must rewrite a schema. Fails only on what was made from a value nested
    /// deeper than text is read.
    pub fn to_value(&self) -> Result<serde_json::Value, InvalidJson> {
        serde_json::from_str(&self.0).map_err(InvalidJson::from)
    }
}

impl From<serde_json::Error> for InvalidJson {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        Self(if text.starts_with("recursion limit exceeded") {
            format!("is nested more than {DEEPEST} levels deep, at line {line} column {column}")
        } else if text.starts_with("number out of range") {
            format!("has a number beyond 1.8e308, at line {line} column {column}")
        } else {
            format!("not valid JSON: {text}")
        })
    }
}

/// Reads what `serde_json::Value` reads and keeps nothing of it. (`IgnoredAny` would skip, and see no limits.)
struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn what_is_taken_can_be_read() {
        let texts = [
            "null",
            " {\"a\": [1, -2, 1.5e300, 18446744073709551615, \"\\u00e9\\n\", true], \"a\": {}} ",
            "123456789012345678901234567890",
            &nested(DEEPEST),
        ];
        for text in texts {
            let json = JsonText::parse(text).unwrap();
            assert_eq!(json.as_str(), text);
            assert_eq!(json.to_value().unwrap(), serde_json::from_str::<serde_json::Value>(text).unwrap());
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_limit() {
        let problem = |text: &str| JsonText::parse(text).unwrap_err().to_string();
        assert_eq!(problem(r#"{"a":1e999}"#), "has a number beyond 1.8e308, at line 1 column 10");
        assert!(problem(&nested(DEEPEST + 1)).starts_with("is nested more than 127 levels deep, at line 1"));
        assert!(problem(&nested(100_000)).starts_with("is nested more than 127 levels deep"));
        for text in ["", "{", "1 2", r#"{"a" 1}"#, r#""\ud800""#, "nul", "[1,]"] {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err());
            assert!(problem(text).starts_with("not valid JSON: "), "{text}");
        }
    }
}
