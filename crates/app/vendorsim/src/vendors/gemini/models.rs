//! Gemini's models, as far as its rules tell them apart.

use crate::call::Call;
use crate::problem::{Kind, Problem};
use serde_json::{Value, json};

/// Input tokens of every model that generates.
pub(crate) const CONTEXT: u64 = 1_048_576;
/// Dimensions of every embedding model.
pub(crate) const DIMENSIONS: usize = 3072;

/// Families that are served, by the start of their ids.
const SERVED: [&str; 4] = ["gemini-2.5-", "gemini-3", "gemini-4-", "gemini-embedding-"];
const RETIRED: [&str; 1] = ["gemini-3-pro-preview"];
const LISTED: [&str; 12] = [
    "gemini-4-argon",
    "gemini-4-hydrogen",
    "gemini-3.8-flash",
    "gemini-3.7-flash",
    "gemini-3.6-flash",
    "gemini-3.5-flash",
    "gemini-3.5-flash-lite",
    "gemini-3.1-pro-preview",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-embedding-001",
];

/// What a model allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits {
    /// From generation 3 on: ids on calls, thought signatures, thinking levels, JSON together with tools.
    pub(crate) signs: bool,
    pub(crate) embeds: bool,
}

/// The traits of a model that is served.
pub(crate) fn find(model: &str) -> Result<Traits, Problem> {
    let served = SERVED.iter().any(|family| model.starts_with(family)) && !RETIRED.contains(&model);
    if !served {
        return Err(Problem::new(Kind::NoModel));
    }
    let embeds = model.starts_with("gemini-embedding-");
    Ok(Traits { signs: !embeds && !model.starts_with("gemini-2"), embeds })
}

/// Whether calls of the model carry ids and signatures.
pub(crate) fn signs(model: &str) -> bool {
    find(model).is_ok_and(|traits| traits.signs)
}

/// One model of the list.
pub(crate) fn entry(model: &str) -> Value {
    let embeds = find(model).is_ok_and(|traits| traits.embeds);
    let methods: &[&str] = if embeds {
        &["embedContent", "countTokens"]
    } else {
        &["generateContent", "countTokens", "createCachedContent"]
    };
    json!({
        "name": format!("models/{model}"), "version": "001", "displayName": model,
        "inputTokenLimit": if embeds { 2048 } else { CONTEXT }, "outputTokenLimit": if embeds { 1 } else { 65_536 },
        "supportedGenerationMethods": methods, "thinking": !embeds,
    })
}

/// A page of the list; the token is the place of the next model.
pub(crate) fn list(call: &Call<'_>) -> Value {
    let from = call.parameter("pageToken").and_then(|token| token.parse().ok()).unwrap_or(0_usize);
    let size = call.parameter("pageSize").and_then(|size| size.parse().ok()).unwrap_or(50_usize).max(1);
    let page: Vec<Value> = LISTED.iter().skip(from).take(size).map(|model| entry(model)).collect();
    let next = from + page.len();
    let mut body = json!({"models": page});
    if next < LISTED.len() {
        body["nextPageToken"] = next.to_string().into();
    }
    body
}
