//! A JSON Schema as Anthropic's schema mode takes it: every object closed, and no limits on numbers, texts and
//! lists. Both are refused otherwise (`platform.claude.com/docs/en/build-with-claude/structured-outputs`). Limits
//! are told in the descriptions instead, where the model reads them. Key order, which is the order of the answer,
//! stays as it is.

use crate::adjust::Adjustments;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;
use signalbox_types::JsonText;
use std::borrow::Cow;

const FIELD: &str = "response_format.schema";

/// Deeper parts stay as they are: no schema that a vendor takes is so deep.
const DEEPEST: usize = 64;

/// The schema, changed where it must be.
pub(super) fn fitted<'a>(schema: &'a JsonText, adjustments: &mut Adjustments) -> Cow<'a, JsonText> {
    let Ok(raw) = serde_json::from_str::<&RawValue>(schema.as_str()) else { return Cow::Borrowed(schema) };
    let mut node = Node::read(raw, 0);
    let mut changes = Changes::default();
    node.fit(&mut changes);
    if changes.closed {
        adjustments
            .note(FIELD, "objects closed (additionalProperties: false): this vendor takes no open ones");
    }
    if changes.limits {
        adjustments.note(FIELD, "limits moved into descriptions: this vendor enforces none");
    }
    let changed = changes.closed || changes.limits;
    let text = changed.then(|| serde_json::to_string(&node).ok()).flatten();
    text.and_then(|text| JsonText::parse(text).ok()).map_or(Cow::Borrowed(schema), Cow::Owned)
}

#[derive(Debug, Default)]
struct Changes {
    closed: bool,
    limits: bool,
}

/// JSON whose objects keep their order.
#[derive(Debug)]
enum Node<'a> {
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
    Array(Vec<Node<'a>>),
    Leaf(&'a RawValue),
    Text(String),
    False,
}

impl<'a> Node<'a> {
    fn read(raw: &'a RawValue, depth: usize) -> Self {
        let text = raw.get();
        let child = |raw| Self::read(raw, depth + 1);
        match text.as_bytes().first() {
            Some(b'{') if depth < DEEPEST => serde_json::from_str(text).ok().map(|Pairs(pairs)| {
                Self::Object(pairs.into_iter().map(|(key, raw)| (key, child(raw))).collect())
            }),
            Some(b'[') if depth < DEEPEST => serde_json::from_str::<Vec<&RawValue>>(text)
                .ok()
                .map(|items| Self::Array(items.into_iter().map(child).collect())),
            _ => None,
        }
        .unwrap_or(Self::Leaf(raw))
    }

    /// Fits a schema and the schemas inside it.
    fn fit(&mut self, changes: &mut Changes) {
        let Self::Object(fields) = self else { return };
        changes.limits |= tell_limits(fields);
        if is_open_object(fields) {
            fields.push((Cow::Borrowed("additionalProperties"), Self::False));
            changes.closed = true;
        }
        for (key, value) in fields {
            match (key.as_ref(), value) {
                ("properties" | "$defs" | "definitions", Self::Object(schemas)) => {
                    schemas.iter_mut().for_each(|(_, schema)| schema.fit(changes));
                }
                ("anyOf" | "oneOf" | "prefixItems", Self::Array(schemas)) => {
                    schemas.iter_mut().for_each(|schema| schema.fit(changes));
                }
                ("items", schema) => schema.fit(changes),
                // The parts of an `allOf` see only their own properties: closed, they would refuse each other's.
                _ => {}
            }
        }
    }

    fn is_word(&self, word: &str) -> bool {
        match self {
            Self::Leaf(raw) => raw.get().trim_matches('"') == word,
            Self::Array(items) => items.iter().any(|item| item.is_word(word)),
            _ => false,
        }
    }
}

fn is_open_object(fields: &[(Cow<'_, str>, Node<'_>)]) -> bool {
    let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let is_object = get("type").is_some_and(|kind| kind.is_word("object"));
    is_object && get("additionalProperties").is_none()
}

/// Moves limits into the description; whether there were any.
fn tell_limits(fields: &mut Vec<(Cow<'_, str>, Node<'_>)>) -> bool {
    let mut told = Vec::new();
    fields.retain(|(key, value)| match value {
        Node::Leaf(limit) if is_refused(key, limit.get()) => {
            told.push(format!("{key}: {}", limit.get()));
            false
        }
        _ => true,
    });
    if told.is_empty() {
        return false;
    }
    let told = told.join(", ");
    match fields.iter_mut().find(|(key, _)| key == "description") {
        Some((_, description)) => {
            let Node::Leaf(raw) = description else { return true };
            let before = serde_json::from_str::<String>(raw.get()).unwrap_or_default();
            *description = Node::Text(format!("{before} ({told})"));
        }
        None => fields.push((Cow::Borrowed("description"), Node::Text(told))),
    }
    true
}

fn is_refused(key: &str, value: &str) -> bool {
    match key {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength"
        | "maxLength" | "maxItems" | "uniqueItems" => true,
        "minItems" => !matches!(value, "0" | "1"),
        _ => false,
    }
}

/// An object's fields as they came.
struct Pairs<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Leaf(raw) => raw.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::False => serializer.serialize_bool(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(schema: &str) -> (String, usize) {
        let mut adjustments = Adjustments::default();
        let schema = JsonText::parse(schema).unwrap();
        let fitted = fitted(&schema, &mut adjustments).as_str().to_owned();
        (fitted, adjustments.into_vec().len())
    }

    #[test]
    fn a_schema_that_fits_is_sent_as_it_was_written() {
        let schema =
            r#"{ "type": "object", "additionalProperties": false, "properties": {"n": {"type": "number"}} }"#;
        assert_eq!(fit(schema), (schema.to_owned(), 0));
        for odd in ["true", "[]", "{}", "1.50", r#"{"type":"object","additionalProperties":true}"#] {
            assert_eq!(fit(odd), (odd.to_owned(), 0));
        }
    }

    #[test]
    fn every_object_is_closed_and_order_is_kept() {
        let (schema, adjustments) = fit(
            r##"{"type":"object","properties":{"z":{"type":["object","null"],"properties":{}},"a":{"type":"array",
            "items":{"type":"object"}},"m":{"anyOf":[{"$ref":"#/$defs/d"},{"type":"object"}]}},
            "required":["z"],"$defs":{"d":{"type":"object"}},"default":{"type":"object"}}"##,
        );
        let expected = r##"{"type":"object","properties":{"z":{"type":["object","null"],"properties":{},"additionalProperties":false},"a":{"type":"array","items":{"type":"object","additionalProperties":false}},"m":{"anyOf":[{"$ref":"#/$defs/d"},{"type":"object","additionalProperties":false}]}},"required":["z"],"$defs":{"d":{"type":"object","additionalProperties":false}},"default":{"type":"object"},"additionalProperties":false}"##;
        assert_eq!((schema.as_str(), adjustments), (expected, 1));
    }

    #[test]
    fn limits_are_told_where_the_model_reads_them() {
        let (schema, adjustments) = fit(
            r#"{"type":"object","additionalProperties":false,"properties":{"headline":{"type":"string","maxLength":80,"description":"Of the article"},"maxLength":{"type":"integer","minimum":1,"maximum":2.50},"tags":{"type":"array","minItems":1,"maxItems":5}}}"#,
        );
        let expected = r#"{"type":"object","additionalProperties":false,"properties":{"headline":{"type":"string","description":"Of the article (maxLength: 80)"},"maxLength":{"type":"integer","description":"minimum: 1, maximum: 2.50"},"tags":{"type":"array","minItems":1,"description":"maxItems: 5"}}}"#;
        assert_eq!((schema.as_str(), adjustments), (expected, 1));
    }

    #[test]
    fn depth_does_no_harm() {
        let deep = format!("{}1{}", r#"{"items":"#.repeat(127), "}".repeat(127));
        assert_eq!(fit(&deep), (deep.clone(), 0));
    }
}
