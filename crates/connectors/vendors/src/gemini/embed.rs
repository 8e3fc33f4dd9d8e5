//! Vectors, always by the batch method, which takes one text as well as many.

use super::NAME;
use super::response::UsageMetadata;
use crate::codec::{EncodeContext, EncodedCall};
use crate::json;
use serde::{Deserialize, Serialize};
use signalbox_types::{EmbedRequest, Embedding, EmbeddingAnswer, ErrorReason, Failure, FieldViolation};

/// Most texts in one batch; one more is refused by the vendor.
const MOST_TEXTS: usize = 100;

#[derive(Debug, Serialize)]
struct Batch<'a> {
    requests: Vec<One<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct One<'a> {
    model: &'a str,
    content: super::contents::Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimensionality: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    embeddings: Vec<Vector>,
    embedding: Option<Vector>,
    usage_metadata: Option<UsageMetadata>,
}

#[derive(Debug, Deserialize)]
struct Vector {
    values: Embedding,
}

/// The request for vectors.
pub(super) fn request(context: EncodeContext<'_>, request: &EmbedRequest) -> Result<EncodedCall, Failure> {
    if request.inputs.len() > MOST_TEXTS {
        return Err(too_many());
    }
    let model = super::full_name(context.model);
    let requests = request.inputs.iter().map(|input| One {
        model: &model,
        content: super::contents::system(input),
        output_dimensionality: request.dimensions,
    });
    Ok(EncodedCall {
        path: super::path(context.model, "batchEmbedContents"),
        body: json::write(&Batch { requests: requests.collect() })?,
        ..EncodedCall::default()
    })
}

fn too_many() -> Failure {
    let description = format!("{NAME} takes at most {MOST_TEXTS} texts in one call; send several");
    let mut failure = Failure::new(ErrorReason::RequestTooLarge, format!("inputs: {description}"));
    failure.violations.push(FieldViolation { field: "inputs".to_owned(), description });
    failure
}

/// Reads vectors, of one text or of many. Older models report no usage.
pub(super) fn answer(body: &[u8]) -> Result<EmbeddingAnswer, Failure> {
    let answer = json::read::<Answer>(NAME, body)?;
    let vectors = answer.embeddings.into_iter().chain(answer.embedding);
    let embeddings = vectors.map(|vector| vector.values).collect::<Vec<_>>();
    if embeddings.is_empty() {
        return Err(json::unreadable(NAME, "no embeddings"));
    }
    let usage = answer.usage_metadata.map(|usage| usage.tokens()).unwrap_or_default();
    Ok(EmbeddingAnswer { model: String::new(), embeddings, usage })
}
