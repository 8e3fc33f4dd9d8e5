//! Embeddings, by the new endpoint and by the old one.

use super::{body, models};
use crate::call::Call;
use crate::json;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::{tokens, vectors};
use serde_json::{Value, json};

/// `POST /api/embed`.
pub(crate) fn embed(call: &Call<'_>) -> Result<Reply, Problem> {
    let body = body(call)?;
    let abilities = models::find(&call.model)?;
    let texts = json::strings(body.get("input"));
    let count: u64 = texts.iter().map(|text| tokens::count(text)).sum();
    let longest = texts.iter().map(|text| tokens::count(text)).max().unwrap_or(0);
    if body.get("truncate") == Some(&Value::Bool(false)) && longest > abilities.context {
        return Err(Problem::new(Kind::Context));
    }
    let asked = body.get("dimensions").and_then(Value::as_u64).and_then(|asked| usize::try_from(asked).ok());
    let dimensions =
        asked.filter(|asked| *asked > 0).unwrap_or(abilities.dimensions).min(abilities.dimensions);
    let embeddings: Vec<Vec<f32>> = texts.iter().map(|text| vectors::embed(text, dimensions)).collect();
    let mut answer = json!({
        "model": call.model, "embeddings": embeddings, "total_duration": 14_143_917, "load_duration": 1_019_500,
    });
    if !call.quirks.no_usage {
        answer["prompt_eval_count"] = count.into();
    }
    Ok(Reply::json(200, &answer))
}

/// `POST /api/embeddings`.
pub(crate) fn embed_legacy(call: &Call<'_>) -> Result<Reply, Problem> {
    let prompt = json::text(body(call)?, "prompt").unwrap_or_default();
    let abilities = models::find(&call.model)?;
    Ok(Reply::json(200, &json!({"embedding": vectors::embed(prompt, abilities.dimensions)})))
}
