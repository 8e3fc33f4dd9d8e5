//! Vectors by `/api/embed`.

use super::NAME;
use crate::codec::{EncodeContext, EncodedCall};
use crate::json;
use serde::{Deserialize, Serialize};
use signalbox_types::{EmbedRequest, Embedding, EmbeddingAnswer, Failure, TokenUsage, UsageSource};

#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    /// The server's default is to cut long texts without a word.
    truncate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    model: String,
    #[serde(default)]
    embeddings: Vec<Embedding>,
    /// The answer of the older `/api/embeddings`.
    embedding: Option<Embedding>,
    prompt_eval_count: Option<u64>,
}

/// The request for vectors.
pub(super) fn request(context: EncodeContext<'_>, request: &EmbedRequest) -> Result<EncodedCall, Failure> {
    let body = Request {
        model: context.model,
        input: &request.inputs,
        truncate: false,
        dimensions: request.dimensions,
    };
    Ok(EncodedCall { path: "/api/embed".to_owned(), body: json::write(&body)?, ..EncodedCall::default() })
}

/// Reads vectors.
pub(super) fn answer(body: &[u8]) -> Result<EmbeddingAnswer, Failure> {
    let answer = json::read::<Answer>(NAME, body)?;
    let embeddings = answer.embeddings.into_iter().chain(answer.embedding).collect::<Vec<_>>();
    if embeddings.is_empty() {
        return Err(json::unreadable(NAME, "no embeddings"));
    }
    let counted = |input| TokenUsage { input, source: UsageSource::Vendor, ..TokenUsage::default() };
    let usage = answer.prompt_eval_count.map(counted).unwrap_or_default();
    Ok(EmbeddingAnswer { model: answer.model, embeddings, usage })
}
