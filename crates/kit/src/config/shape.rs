//! Checks a tree against the file's own JSON Schema and makes the typed value's JSON on the way.
//!
//! The schema is derived from the Rust types, so the published schema, the reader and the types cannot drift apart.
//! Knows what schemars emits for those types, and reports every fault it meets rather than the first.

use super::{
    nearest::did_you_mean,
    problem::Problem,
    tree::{Cursor, Value as Yaml},
    values::Form,
};
use serde_json::{Map, Number, Value};

pub(super) struct Shape<'s, 'p> {
    definitions: Option<&'s Value>,
    problems: &'p mut Vec<Problem>,
}

/// The JSON of a tree; meaningful only where no problem was added.
pub(super) fn convert(root: &Cursor<'_>, schema: &Value, problems: &mut Vec<Problem>) -> Value {
    Shape { definitions: schema.get("$defs"), problems }.value(root, schema)
}

impl<'s> Shape<'s, '_> {
    fn value(&mut self, cursor: &Cursor<'_>, schema: &'s Value) -> Value {
        let schema = self.resolve(schema);
        let Some(node) = cursor.node else { return Value::Null };
        if let Some(branch) = self.branch(&node.value, schema) {
            return self.value(cursor, branch);
        }
        match &node.value {
            Yaml::Null => self.wrong(cursor, schema, "nothing"),
            Yaml::Scalar(text) => self.scalar(cursor, text, schema),
            Yaml::List(items) => self.list(cursor, items.len(), schema),
            Yaml::Map(_) => self.map(cursor, schema),
        }
    }

    fn resolve(&self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        // A definition that refers to itself would be a bug in the types; the bound keeps it from hanging.
        for _ in 0..8 {
            let name =
                schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
            match name.and_then(|name| self.definitions?.get(name)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// Of several possible shapes, the one that a value of this kind can have.
    fn branch(&self, value: &Yaml, schema: &'s Value) -> Option<&'s Value> {
        let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
        if branches.iter().all(|branch| branch.get("const").is_some() || branch.get("enum").is_some()) {
            return None;
        }
        let wanted: &[&str] = match value {
            Yaml::Null => &["null"],
            Yaml::Scalar(_) => &["string", "number", "integer", "boolean"],
            Yaml::List(_) => &["array"],
            Yaml::Map(_) => &["object"],
        };
        let fits = |branch: &&Value| {
            let resolved = self.resolve(branch);
            kinds(resolved).any(|kind| wanted.contains(&kind))
                || (matches!(value, Yaml::Scalar(_)) && words(resolved).next().is_some())
        };
        branches
            .iter()
            .find(fits)
            .or_else(|| branches.iter().find(|branch| kinds(self.resolve(branch)).all(|kind| kind != "null")))
    }

    fn scalar(&mut self, cursor: &Cursor<'_>, text: &str, schema: &'s Value) -> Value {
        if let Some(form) = Form::of(schema) {
            return self.told(cursor, form.read(text));
        }
        let words: Vec<&str> = words(schema).collect();
        if !words.is_empty() {
            return match words.contains(&text) {
                true => Value::from(text),
                false => {
                    let hint = did_you_mean(text, words.iter().copied());
                    self.fault(cursor, format!("`{text}` is not one of {}{hint}", words.join(", ")))
                }
            };
        }
        match kinds(schema).find(|kind| *kind != "null") {
            Some("string") => self.text(cursor, text, schema),
            Some("boolean") => match text {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => self.fault(cursor, format!("`{text}` is neither true nor false")),
            },
            Some("integer") => self.integer(cursor, text, schema),
            Some("number") => self.number(cursor, text, schema),
            _ => self.wrong(cursor, schema, &format!("`{text}`")),
        }
    }

    fn text(&mut self, cursor: &Cursor<'_>, text: &str, schema: &Value) -> Value {
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or_default();
        if least > 0 && text.trim().is_empty() {
            return self.fault(cursor, "is empty");
        }
        Value::from(text)
    }

    fn integer(&mut self, cursor: &Cursor<'_>, text: &str, schema: &Value) -> Value {
        match text.parse::<i64>() {
            Ok(number) => {
                #[expect(clippy::cast_precision_loss, reason = "bounds of the file are far below 2^53")]
                let in_range = self.in_range(cursor, text, number as f64, schema);
                if in_range { Value::from(number) } else { Value::Null }
            }
            Err(_) => self.fault(cursor, format!("`{text}` is not a whole number")),
        }
    }

    fn number(&mut self, cursor: &Cursor<'_>, text: &str, schema: &Value) -> Value {
        let number = text.parse::<f64>().ok().and_then(|number| Some((number, Number::from_f64(number)?)));
        match number {
            Some((value, number)) if self.in_range(cursor, text, value, schema) => Value::Number(number),
            Some(_) => Value::Null,
            None => self.fault(cursor, format!("`{text}` is not a number")),
        }
    }

    fn in_range(&mut self, cursor: &Cursor<'_>, text: &str, number: f64, schema: &Value) -> bool {
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        let (least, most) = (bound("minimum"), bound("maximum"));
        let good = least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
        if !good {
            let range = match (least, most) {
                (Some(least), Some(most)) => format!("from {least} to {most}"),
                (Some(least), None) => format!("at least {least}"),
                (None, most) => format!("at most {}", most.unwrap_or_default()),
            };
            self.problems.push(cursor.problem(format!("{text} is out of range: must be {range}")));
        }
        good
    }

    fn list(&mut self, cursor: &Cursor<'_>, length: usize, schema: &'s Value) -> Value {
        let Some(item) = schema.get("items") else { return self.wrong(cursor, schema, "a list") };
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or_default();
        if (length as u64) < least {
            return self.fault(cursor, "is an empty list; it needs at least one entry");
        }
        (0..length).map(|index| self.value(&cursor.index(index), item)).collect()
    }

    fn map(&mut self, cursor: &Cursor<'_>, schema: &'s Value) -> Value {
        if !kinds(schema).any(|kind| kind == "object") {
            return self.wrong(cursor, schema, "a mapping");
        }
        let Some(Yaml::Map(entries)) = cursor.node.map(|node| &node.value) else { return Value::Null };
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let mut map = Map::new();
        for (key, entry) in entries {
            let inner = cursor.key(key);
            match properties.and_then(|known| known.get(key)).or(others) {
                Some(schema) => {
                    let value = self.value(&inner, schema);
                    map.insert(key.clone(), value);
                }
                None => {
                    let known = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                    let hint = did_you_mean(key, known.clone());
                    let message =
                        format!("unknown field{hint}; known here: {}", known.collect::<Vec<_>>().join(", "));
                    self.problems.push(Problem { at: entry.key_at, field: inner.path, message });
                }
            }
        }
        for name in
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            if !map.contains_key(name) {
                self.problems.push(cursor.problem(format!("`{name}` is missing")));
            }
        }
        Value::Object(map)
    }

    fn wrong(&mut self, cursor: &Cursor<'_>, schema: &Value, found: &str) -> Value {
        let hint = schema.get("x-hint").and_then(Value::as_str);
        let wanted = match kinds(schema).find(|kind| *kind != "null") {
            Some("object") => "a mapping",
            Some("array") => "a list",
            Some("string") => "a text",
            Some("boolean") => "true or false",
            Some("integer") => "a whole number",
            Some("number") => "a number",
            _ => "something else",
        };
        // What was written may be a secret in the wrong place, so it is not repeated then.
        self.fault(cursor, hint.map_or_else(|| format!("must be {wanted}, not {found}"), str::to_owned))
    }

    fn told(&mut self, cursor: &Cursor<'_>, read: Result<Value, String>) -> Value {
        read.unwrap_or_else(|message| self.fault(cursor, message))
    }

    fn fault(&mut self, cursor: &Cursor<'_>, message: impl Into<String>) -> Value {
        self.problems.push(cursor.problem(message));
        Value::Null
    }
}

/// The JSON types a schema allows.
fn kinds(schema: &Value) -> impl Iterator<Item = &str> {
    let kind = schema.get("type");
    let many = kind.and_then(Value::as_array).into_iter().flatten();
    kind.into_iter().chain(many).filter_map(Value::as_str)
}

/// The words an enumeration allows.
fn words(schema: &Value) -> impl Iterator<Item = &str> {
    let list = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
    let single = list("oneOf").filter_map(|branch| branch.get("const"));
    let grouped = list("oneOf").filter_map(|branch| branch.get("enum")?.as_array()).flatten();
    list("enum").chain(single).chain(grouped).filter_map(Value::as_str)
}
