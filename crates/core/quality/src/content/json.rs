//! The strings and numbers of a JSON text, rewritten in place.

use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

/// Whether a text is a JSON object or array. A lone string or number is text like any other.
pub(super) fn is_container(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// The text with what `change` gives in the place of its strings and numbers; `None` where nothing changed. Layout,
/// order and everything else stay. `change` is told which strings are names of members. The text must be valid JSON.
pub(super) fn rewrite(text: &str, mut change: impl FnMut(&str, bool) -> Option<String>) -> Option<String> {
    let (mut rewritten, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(start) = text[at..].find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let start = at + start;
        let end = start + length_of_scalar(&text[start..]);
        let written = &text[start..end];
        let is_name = text[end..].trim_start().starts_with(':');
        if let Some(changed) = change(&read(written), is_name) {
            rewritten.push_str(&text[kept..start]);
            rewritten.push_str(&serde_json::Value::from(changed).to_string());
            kept = end;
        }
        at = end;
    }
    if kept == 0 {
        return None;
    }
    rewritten.push_str(&text[kept..]);
    Some(rewritten)
}

/// The names of members in a text, so that none that is put in the place of another is there already.
pub(super) struct Names<'a> {
    text: &'a str,
    taken: Option<HashSet<String>>,
    given: HashMap<String, String>,
}

impl<'a> Names<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, taken: None, given: HashMap::new() }
    }

    /// What takes a name's place: the same for the same name, and different from all others.
    pub(super) fn unique(&mut self, name: &str, redacted: String) -> String {
        if let Some(given) = self.given.get(name) {
            return given.clone();
        }
        let taken = self.taken.get_or_insert_with(|| all_names(self.text));
        let mut unique = redacted.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{redacted}_{number}");
            number += 1;
        }
        self.given.insert(name.to_owned(), unique.clone());
        unique
    }
}

fn all_names(text: &str) -> HashSet<String> {
    let mut names = HashSet::new();
    rewrite(text, |scalar, is_name| {
        if is_name {
            names.insert(scalar.to_owned());
        }
        None
    });
    names
}

fn length_of_scalar(text: &str) -> usize {
    if !text.starts_with('"') {
        let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        return text.bytes().take_while(|byte| is_number(*byte)).count();
    }
    let mut escaped = false;
    let closes = |byte: u8| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    };
    text.bytes().skip(1).position(closes).map_or(text.len(), |closing| closing + 2)
}

fn read(written: &str) -> Cow<'_, str> {
    match written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if !inside.contains('\\') => Cow::Borrowed(inside),
        // An escape of half a character cannot be read; as written it is looked at all the same.
        Some(inside) => serde_json::from_str(written).map_or(Cow::Borrowed(inside), Cow::Owned),
        None => Cow::Borrowed(written),
    }
}
