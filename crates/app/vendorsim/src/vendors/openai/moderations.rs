//! `POST /v1/moderations`. A text that holds `moderate:CATEGORY` is flagged for that category.

use crate::call::Call;
use crate::json::strings;
use crate::problem::Problem;
use crate::reply::Reply;
use serde_json::{Map, Value, json};

/// Some of the categories.
const CATEGORIES: [&str; 6] = ["harassment", "hate", "self-harm", "sexual", "violence", "violence/graphic"];
const MARK: &str = "moderate:";

pub(crate) fn answer(call: &Call<'_>) -> Result<Reply, Problem> {
    let texts = strings(call.json()?.get("input"));
    if texts.is_empty() {
        return Err(Problem::field("input", "'$.input' is invalid: a text or a list of texts is expected."));
    }
    let results: Vec<Value> = texts.iter().map(|text| judge(text)).collect();
    let id = call.seed.id("modr-", 0);
    Ok(Reply::json(200, &json!({"id": id, "model": call.model, "results": results})))
}

fn judge(text: &str) -> Value {
    let found = |category: &str| {
        text.match_indices(MARK).any(|(at, mark)| {
            let after = text.get(at + mark.len()..).and_then(|rest| rest.strip_prefix(category));
            after.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/'))
        })
    };
    let of_each = |value: &dyn Fn(bool) -> Value| -> Map<String, Value> {
        CATEGORIES.iter().map(|category| ((*category).to_owned(), value(found(category)))).collect()
    };
    json!({
        "flagged": CATEGORIES.iter().any(|category| found(category)),
        "categories": of_each(&|found| found.into()),
        "category_scores": of_each(&|found| if found { 0.97.into() } else { 0.0002.into() }),
        "category_applied_input_types": of_each(&|found| if found { json!(["text"]) } else { json!([]) }),
    })
}
