//! Embeddings, one by one and several at once.

use super::fields::{get, list, text};
use super::models;
use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::vectors;
use serde_json::{Value, json};

/// `:embedContent`.
pub(crate) fn one(call: &Call<'_>) -> Result<Reply, Problem> {
    check_model(call)?;
    Ok(Reply::json(200, &json!({"embedding": {"values": values(call.json()?)?}})))
}

/// `:batchEmbedContents`; every request repeats the model of the path.
pub(crate) fn batch(call: &Call<'_>) -> Result<Reply, Problem> {
    check_model(call)?;
    let path_model = format!("models/{}", call.model);
    let embed = |(n, request): (usize, &Value)| {
        if text(request, "model").is_none_or(|model| model.split('~').next() != Some(&path_model)) {
            return Err(Problem::invalid(format!(
                "* BatchEmbedContentsRequest.requests[{n}].model: the model must match the model in the request path.\n"
            )));
        }
        Ok(json!({"values": values(request)?}))
    };
    let embeddings: Vec<Value> =
        list(call.json()?, "requests").iter().enumerate().map(embed).collect::<Result<_, _>>()?;
    Ok(Reply::json(200, &json!({"embeddings": embeddings})))
}

fn check_model(call: &Call<'_>) -> Result<(), Problem> {
    if models::find(&call.model)?.embeds {
        return Ok(());
    }
    Err(Problem::new(Kind::NoModel).saying(format!(
        "models/{} is not found for API version v1beta, or is not supported for embedContent.",
        call.model
    )))
}

fn values(request: &Value) -> Result<Vec<f32>, Problem> {
    let content = get(request, "content")
        .ok_or_else(|| Problem::invalid("* EmbedContentRequest.content: content is not specified\n"))?;
    let text: String = list(content, "parts").iter().filter_map(|part| text(part, "text")).collect();
    let config = get(request, "embedContentConfig").unwrap_or(request);
    let asked = get(config, "outputDimensionality")
        .and_then(Value::as_u64)
        .and_then(|asked| usize::try_from(asked).ok());
    let dimensions = asked.unwrap_or(models::DIMENSIONS);
    if dimensions == 0 || dimensions > models::DIMENSIONS {
        return Err(Problem::invalid(
            "* EmbedContentRequest.output_dimensionality: must be between 1 and 3072\n",
        ));
    }
    Ok(vectors::embed(&text, dimensions))
}
