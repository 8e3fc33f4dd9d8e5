//! The smallest sensible instance of a JSON Schema, always the same one.

use serde_json::{Map, Number, Value};

/// Below this depth a recursive schema takes its way out: `null`, or as few members as it allows.
const DEEP: usize = 6;
/// Below this depth nothing is generated at all.
const BOTTOM: usize = 24;
/// What a free string says. Not all ASCII, so that a reader which splits bytes carelessly is found out.
const WORDS: &str = "simulated ✓";

/// An instance of `schema`. `salt` tells several instances of one schema apart where the schema leaves room.
pub(crate) fn instance(schema: &Value, salt: usize) -> Value {
    Generator { root: schema, salt }.value(schema, 0)
}

struct Generator<'a> {
    root: &'a Value,
    salt: usize,
}

impl<'a> Generator<'a> {
    fn value(&self, schema: &'a Value, depth: usize) -> Value {
        if depth > BOTTOM {
            return Value::Null;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return target.map_or(Value::Null, |target| self.value(target, depth + 1));
        }
        if let Some(fixed) = schema.get("const") {
            return fixed.clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return choices.get(self.salt % choices.len().max(1)).cloned().unwrap_or(Value::Null);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(variants) = schema.get(key).and_then(Value::as_array) {
                return self.merged(schema, self.variant(variants, depth), depth);
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return parts
                .iter()
                .fold(self.own_members(schema, depth), |whole, part| self.merged_into(whole, part, depth));
        }
        self.typed(schema, depth)
    }

    fn variant(&self, variants: &'a [Value], depth: usize) -> Option<&'a Value> {
        let is_null = |variant: &&Value| variant.get("type").and_then(Value::as_str) == Some("null");
        let way_out = (depth >= DEEP).then(|| variants.iter().find(is_null)).flatten();
        way_out.or_else(|| variants.first())
    }

    /// A variant together with what the schema demands beside its `anyOf`.
    fn merged(&self, schema: &'a Value, variant: Option<&'a Value>, depth: usize) -> Value {
        let Some(variant) = variant else { return Value::Null };
        self.merged_into(self.own_members(schema, depth), variant, depth)
    }

    fn merged_into(&self, whole: Value, part: &'a Value, depth: usize) -> Value {
        match (whole, self.value(part, depth + 1)) {
            (Value::Object(mut whole), Value::Object(part)) => {
                whole.extend(part);
                Value::Object(whole)
            }
            (_, part) => part,
        }
    }

    fn own_members(&self, schema: &'a Value, depth: usize) -> Value {
        if schema.get("properties").is_some() {
            self.object(schema, depth)
        } else {
            Value::Object(Map::new())
        }
    }

    fn typed(&self, schema: &'a Value, depth: usize) -> Value {
        match type_of(schema).as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" => self.integer(schema).into(),
            "number" => number(schema, self.salt),
            "boolean" => Value::Bool(self.salt.is_multiple_of(2)),
            "null" => Value::Null,
            _ => Value::String(string(schema, self.salt)),
        }
    }

    fn object(&self, schema: &'a Value, depth: usize) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        // A schema that demands nothing is met by `{}`, but an answer that says something is of more use.
        let show_all = required.is_empty() && depth == 0;
        let mut object = Map::new();
        for (name, property) in properties.into_iter().flatten() {
            if show_all || required.contains(&name.as_str()) {
                object.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        for name in required {
            if !object.contains_key(name) {
                object.insert(name.to_owned(), self.extra(schema, depth));
            }
        }
        let least = size(schema, "minProperties").unwrap_or(0);
        for n in 1.. {
            if object.len() >= least {
                break;
            }
            object.insert(format!("extra_{n}"), self.extra(schema, depth));
        }
        Value::Object(object)
    }

    /// The value of a member that has no schema of its own.
    fn extra(&self, schema: &'a Value, depth: usize) -> Value {
        match schema.get("additionalProperties").filter(|extra| extra.is_object()) {
            Some(extra) => self.value(extra, depth + 1),
            None => Value::String(WORDS.to_owned()),
        }
    }

    fn array(&self, schema: &'a Value, depth: usize) -> Value {
        let fixed = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let least = size(schema, "minItems").unwrap_or(0);
        let wanted = if depth >= DEEP || schema.get("items").is_none() { least } else { least.max(1) };
        let count = wanted.max(fixed.len()).min(size(schema, "maxItems").unwrap_or(usize::MAX));
        let element = |n: usize| match fixed.get(n).or_else(|| schema.get("items")) {
            Some(items) => Generator { root: self.root, salt: self.salt + n }.value(items, depth + 1),
            None => Value::String(WORDS.to_owned()),
        };
        Value::Array((0..count).map(element).collect())
    }

    fn integer(&self, schema: &Value) -> i64 {
        let step = schema.get("multipleOf").and_then(Value::as_i64).filter(|step| *step > 0).unwrap_or(1);
        let from = limit(schema, "minimum").map(f64::ceil);
        let above = limit(schema, "exclusiveMinimum").map(|bound| bound.floor() + 1.0);
        let least = from.into_iter().chain(above).fold(f64::NEG_INFINITY, f64::max);
        let upto = limit(schema, "maximum").map(f64::floor);
        let below = limit(schema, "exclusiveMaximum").map(|bound| bound.ceil() - 1.0);
        let most = upto.into_iter().chain(below).fold(f64::INFINITY, f64::min);
        let start = if least.is_finite() { least as i64 } else { (most.min(1.0)) as i64 };
        let first = start + (step - start.rem_euclid(step)).rem_euclid(step);
        let salted = first + step * self.salt as i64;
        if (salted as f64) <= most { salted } else { first }
    }
}

/// The first type that is not null, or what the keywords suggest. Gemini writes types in capitals.
fn type_of(schema: &Value) -> String {
    let named = match schema.get("type") {
        Some(Value::String(one)) => Some(one.as_str()),
        Some(Value::Array(several)) => {
            let mut names = several.iter().filter_map(Value::as_str);
            names.clone().find(|name| !name.eq_ignore_ascii_case("null")).or_else(|| names.next())
        }
        _ => None,
    };
    let inferred = || {
        let has = |key: &str| schema.get(key).is_some();
        if has("properties") || has("required") || has("additionalProperties") {
            "object"
        } else if has("items") || has("prefixItems") || has("minItems") {
            "array"
        } else if has("minimum") || has("maximum") || has("multipleOf") {
            "number"
        } else {
            "string"
        }
    };
    named.unwrap_or_else(inferred).to_ascii_lowercase()
}

fn number(schema: &Value, salt: usize) -> Value {
    if let Some(step) = limit(schema, "multipleOf").filter(|step| *step > 0.0) {
        let least = limit(schema, "minimum").or_else(|| limit(schema, "exclusiveMinimum")).unwrap_or(0.0);
        return float(((least / step).floor() + 1.0) * step);
    }
    let least =
        limit(schema, "minimum").or_else(|| limit(schema, "exclusiveMinimum").map(|bound| bound + 0.5));
    let most =
        limit(schema, "maximum").or_else(|| limit(schema, "exclusiveMaximum").map(|bound| bound - 0.5));
    match (least, most) {
        (Some(least), Some(most)) => float(if least <= most { least } else { f64::midpoint(least, most) }),
        (Some(least), None) => float(least + salt as f64),
        (None, Some(most)) => float(most.min(1.5)),
        (None, None) => float(1.5 + salt as f64),
    }
}

fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn string(schema: &Value, salt: usize) -> String {
    let formatted = match schema.get("format").and_then(Value::as_str) {
        Some("date") => Some("2026-11-29"),
        Some("date-time") => Some("2026-11-29T08:00:00Z"),
        Some("time") => Some("08:00:00Z"),
        Some("duration") => Some("PT1H"),
        Some("email") => Some("simulated@example.org"),
        Some("uri" | "url") => Some("https://example.org/simulated"),
        Some("hostname") => Some("example.org"),
        Some("ipv4") => Some("192.0.2.1"),
        Some("ipv6") => Some("2001:db8::1"),
        Some("uuid") => Some("00000000-0000-4000-8000-000000000001"),
        _ => None,
    };
    if let Some(formatted) = formatted {
        return formatted.to_owned();
    }
    let mut words = if salt == 0 { WORDS.to_owned() } else { format!("{WORDS} {}", salt + 1) };
    while size(schema, "minLength").is_some_and(|least| words.chars().count() < least) {
        words.push('.');
    }
    match size(schema, "maxLength") {
        Some(most) => words.chars().take(most).collect(),
        None => words,
    }
}

fn limit(schema: &Value, key: &str) -> Option<f64> {
    schema.get(key).and_then(Value::as_f64)
}

/// A count in a schema. Gemini writes them as strings, too.
fn size(schema: &Value, key: &str) -> Option<usize> {
    let value = schema.get(key)?;
    let count = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    usize::try_from(count).ok()
}

#[cfg(test)]
mod tests;
