//! Gemini's field names: lowerCamelCase, taken in snake_case too, and nothing else.

use crate::problem::Problem;
use serde_json::Value;
use std::borrow::Cow;

/// The field `name`, by either spelling; null counts as absent.
pub(crate) fn get<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let found = value.get(name).or_else(|| value.get(snake(name).as_ref()));
    found.filter(|found| !found.is_null())
}

/// The string in the field `name`.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    get(value, name).and_then(Value::as_str)
}

/// The list in the field `name`; empty where there is none.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    get(value, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Refuses a field that is not in `known`; `at` is the place for the message.
pub(crate) fn check(value: &Value, at: &str, known: &[&str]) -> Result<(), Problem> {
    let names = value.as_object().into_iter().flat_map(|members| members.keys());
    match names
        .into_iter()
        .find(|name| !known.iter().any(|known| known == name || snake(known) == name.as_str()))
    {
        None => Ok(()),
        Some(name) => {
            let place = if at.is_empty() { String::new() } else { format!(" at '{at}'") };
            let message =
                format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field.");
            Err(Problem::field(at, message))
        }
    }
}

fn snake(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    Cow::Owned(snake)
}
