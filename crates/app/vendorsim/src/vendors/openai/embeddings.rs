//! `POST /v1/embeddings`.

use crate::call::Call;
use crate::json::{present, text};
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::{tokens, vectors};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The response of a model with this many dimensions; `None` for a model that has no embeddings.
pub(crate) fn answer(call: &Call<'_>, dimensions: Option<usize>) -> Result<Reply, Problem> {
    let body = call.json()?;
    let full = dimensions.ok_or_else(|| Problem::new(Kind::NoModel))?;
    let dimensions = match present(body, "dimensions") {
        None => full,
        Some(wanted) => wanted.as_u64().filter(|n| (1..=full as u64).contains(n)).ok_or_else(|| {
            let message =
                format!("Invalid value for 'dimensions' = {wanted}. Must be less than or equal to {full}.");
            Problem::field("dimensions", message)
        })? as usize,
    };
    let texts = inputs(body)?;
    let base64 = text(body, "encoding_format") == Some("base64");
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let vector = vectors::embed(text, dimensions);
            let embedding = if base64 { little_endian(&vector).into() } else { json!(vector) };
            json!({"object": "embedding", "index": index, "embedding": embedding})
        })
        .collect();
    let count: u64 = texts.iter().map(|text| tokens::count(text).max(1)).sum();
    let usage = json!({"prompt_tokens": count, "total_tokens": count});
    Ok(Reply::json(200, &json!({"object": "list", "data": data, "model": call.model, "usage": usage})))
}

/// Texts, or lists of token numbers written out.
fn inputs(body: &Value) -> Result<Vec<String>, Problem> {
    let invalid = |message: &str| Problem::field("input", message.to_owned());
    let text_of = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Array(numbers) if !numbers.is_empty() => Ok(value.to_string()),
        _ => Err(invalid(
            "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.",
        )),
    };
    match body.get("input") {
        Some(Value::Array(items)) if items.len() > 2048 => {
            Err(invalid("'$.input' is invalid: an array of at most 2048 items is expected."))
        }
        Some(Value::Array(items)) if items.iter().all(Value::is_number) && !items.is_empty() => {
            Ok(vec![Value::Array(items.clone()).to_string()])
        }
        Some(Value::Array(items)) if !items.is_empty() => items.iter().map(text_of).collect(),
        Some(one) => Ok(vec![text_of(one)?]),
        None => Err(invalid("Missing required parameter: 'input'.").coded("missing_required_parameter")),
    }
}

fn little_endian(vector: &[f32]) -> String {
    STANDARD.encode(vector.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}
