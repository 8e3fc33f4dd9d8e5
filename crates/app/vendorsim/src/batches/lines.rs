//! Input files as OpenAI has them: a request per line.

use super::batch::Trouble;
use super::item::Item;
use crate::json::text;
use crate::pipeline::split_suffix;
use bytes::Bytes;
use serde_json::Value;
use std::collections::HashSet;

/// Most requests of a file.
const MOST: usize = 50_000;

/// A line that can be read.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) url: &'a str,
    /// The model, without a fault suffix.
    pub(crate) model: &'a str,
}

impl Line<'_> {
    /// What is wrong with it.
    pub(crate) fn trouble(&self, code: &'static str, param: &'static str, message: String) -> Trouble {
        Trouble { code, message, line: Some(self.number), param: Some(param) }
    }
}

/// The items of a file, and what is wrong with it; `check` says what a vendor has against a line.
pub(crate) fn read(
    content: &Bytes,
    mut check: impl FnMut(&Line<'_>) -> Option<Trouble>,
) -> (Vec<Item>, Vec<Trouble>) {
    let (mut items, mut troubles, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    let lines = content.split(|byte| *byte == b'\n').enumerate();
    for (n, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
        match item(n + 1, line, &mut check) {
            Ok(item) if seen.insert(item.id.clone()) => items.push(item),
            Ok(_) => troubles.push(duplicate(n + 1)),
            Err(trouble) => troubles.push(trouble),
        }
    }
    let whole = |code, message: &str| Trouble { code, message: message.to_owned(), line: None, param: None };
    if items.is_empty() && troubles.is_empty() {
        troubles.push(whole("empty_file", "The batch input file is empty."));
    }
    if items.len() > MOST {
        let message = format!("The batch input file has more than {MOST} requests.");
        troubles.push(whole("too_many_requests", &message));
    }
    (items, troubles)
}

fn item(
    number: usize,
    line: &[u8],
    check: &mut impl FnMut(&Line<'_>) -> Option<Trouble>,
) -> Result<Item, Trouble> {
    let trouble =
        |code, param, message: &str| Trouble { code, message: message.to_owned(), line: Some(number), param };
    let read: Value = serde_json::from_slice(line)
        .map_err(|_| trouble("invalid_json_line", None, "This line is not parseable as valid JSON."))?;
    let missing = |param: &'static str| {
        trouble("missing_required_parameter", Some(param), &format!("Missing required parameter: '{param}'."))
    };
    let id = text(&read, "custom_id").filter(|id| !id.is_empty()).ok_or_else(|| missing("custom_id"))?;
    if text(&read, "method").ok_or_else(|| missing("method"))? != "POST" {
        return Err(trouble("invalid_method", Some("method"), "Invalid method. Only POST is supported."));
    }
    let url = text(&read, "url").ok_or_else(|| missing("url"))?;
    let body = read.get("body").filter(|body| body.is_object()).ok_or_else(|| missing("body"))?;
    let named = text(body, "model").unwrap_or_default();
    match check(&Line { number, url, model: split_suffix(named).0 }) {
        Some(trouble) => Err(trouble),
        None => Ok(Item::new(id, named, url, body)),
    }
}

fn duplicate(number: usize) -> Trouble {
    let message = "The custom_id for this request is a duplicate of another request. \
                   The custom_id parameter must be unique for each request in a batch.";
    let param = Some("custom_id");
    Trouble { code: "duplicate_custom_id", message: message.to_owned(), line: Some(number), param }
}
