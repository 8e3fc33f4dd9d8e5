//! JSON of the vendors: read into what we know of it, passed on where it is the caller's.

use base64::{display::Base64Display, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{error::Category, value::RawValue};
use signalbox_types::{ErrorReason, Failure, ToolCall};

/// Reads a vendor's JSON.
pub(crate) fn read<'a, T: Deserialize<'a>>(vendor: &str, body: &'a [u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| unreadable(vendor, problem(&error)))
}

/// Where it is wrong, and not what is there: that may be a part of the answer.
fn problem(error: &serde_json::Error) -> String {
    let problem = match error.classify() {
        Category::Data => "a field is missing or of another type",
        Category::Eof => "it ends too early",
        Category::Syntax | Category::Io => "it is no JSON",
    };
    format!("{problem}, at line {} column {}", error.line(), error.column())
}

/// An answer that is not what the vendor's format promises.
pub(crate) fn unreadable(vendor: &str, problem: impl std::fmt::Display) -> Failure {
    Failure::new(ErrorReason::VendorBadResponse, format!("{vendor}: unreadable answer: {problem}"))
}

/// Writes a request.
pub(crate) fn write(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(value)
        .map_err(|error| Failure::new(ErrorReason::Internal, format!("cannot write request: {error}")))
}

/// JSON text without the blanks between its tokens, every number and key as it was.
pub(crate) fn compact(raw: &RawValue) -> String {
    let text = raw.get();
    let mut compact = String::with_capacity(text.len());
    let (mut in_string, mut escaped, mut kept_from) = (false, false, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\t' | b'\r' | b'\n' if !in_string => {
                compact.push_str(text.get(kept_from..at).unwrap_or_default());
                kept_from = at + 1;
            }
            _ => {}
        }
    }
    compact.push_str(text.get(kept_from..).unwrap_or_default());
    compact
}

/// Tool arguments as a vendor sent them: an object, nothing, or (by some servers) a string that holds one.
pub(crate) fn arguments(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
        return "{}".to_owned();
    };
    let text = match serde_json::from_str::<String>(raw.get()) {
        Ok(text) => text,
        Err(_) => compact(raw),
    };
    if text.trim().is_empty() { "{}".to_owned() } else { text }
}

/// The arguments of an earlier call, for a vendor that wants them as an object.
pub(crate) fn object_arguments(call: &ToolCall) -> Result<&RawValue, Failure> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
    serde_json::from_str::<&RawValue>(text).ok().filter(|raw| raw.get().starts_with('{')).ok_or_else(|| {
        let problem = format!("arguments of call `{}` to `{}` must be a JSON object", call.id, call.name);
        Failure::invalid("messages.tool_call.arguments", problem)
    })
}

/// Bytes, written as base64 without a copy in between.
#[derive(Debug)]
pub(crate) struct Base64<'a>(pub(crate) &'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn compacting_changes_nothing_inside_strings_and_numbers() {
        let pretty = raw("{\n  \"a b\": [1.50, 2e3 ],\t\"q\\\" \\\\\" : \" x \" }");
        assert_eq!(compact(&pretty), r#"{"a b":[1.50,2e3],"q\" \\":" x "}"#);
    }

    #[test]
    fn arguments_come_as_an_object_as_a_string_or_not_at_all() {
        assert_eq!(arguments(Some(&raw(r#"{ "a": 1 }"#))), r#"{"a":1}"#);
        assert_eq!(arguments(Some(&raw(r#""{\"a\":1}""#))), r#"{"a":1}"#);
        for empty in [None, Some(raw("null")), Some(raw("\"\"")), Some(raw("{ }"))] {
            assert_eq!(arguments(empty.as_deref()), "{}");
        }
    }
}
