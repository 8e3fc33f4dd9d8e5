//! Vectors.

use super::dialect::Dialect;
use super::wire::{Usage, Word};
use crate::codec::{EncodeContext, EncodedCall};
use crate::json;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use signalbox_types::{EmbedRequest, Embedding, EmbeddingAnswer, Failure};

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    model: Word<'a>,
    data: Vec<Datum>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Datum {
    index: Option<usize>,
    embedding: Vector,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Vector {
    Numbers(Embedding),
    /// Little-endian `f32`s.
    Base64(String),
}

/// The request for vectors.
pub(super) fn encode(
    dialect: &Dialect,
    context: EncodeContext<'_>,
    request: &EmbedRequest,
) -> Result<EncodedCall, Failure> {
    let body = json::write(&Request {
        model: context.model,
        input: &request.inputs,
        dimensions: request.dimensions,
        encoding_format: dialect.vectors,
    })?;
    Ok(EncodedCall { path: "/v1/embeddings".to_owned(), body, ..EncodedCall::default() })
}

/// Reads vectors, in the order of their indexes.
pub(super) fn decode(vendor: &str, body: &[u8]) -> Result<EmbeddingAnswer, Failure> {
    let Answer { model, mut data, usage } = json::read(vendor, body)?;
    data.sort_by_key(|datum| datum.index);
    let in_order = data.iter().enumerate().all(|(at, datum)| datum.index.is_none_or(|index| index == at));
    if data.is_empty() || !in_order {
        return Err(json::unreadable(vendor, "vectors are missing"));
    }
    Ok(EmbeddingAnswer {
        model: model.as_str().to_owned(),
        embeddings: data
            .into_iter()
            .map(|datum| numbers(vendor, datum.embedding))
            .collect::<Result<_, _>>()?,
        usage: usage.map(Into::into).unwrap_or_default(),
    })
}

fn numbers(vendor: &str, vector: Vector) -> Result<Embedding, Failure> {
    let text = match vector {
        Vector::Numbers(numbers) => return Ok(numbers),
        Vector::Base64(text) => text,
    };
    let bytes = STANDARD.decode(text).map_err(|error| json::unreadable(vendor, error))?;
    let (numbers, []) = bytes.as_chunks::<4>() else {
        return Err(json::unreadable(vendor, "a vector that is no list of floats"));
    };
    Ok(numbers.iter().copied().map(f32::from_le_bytes).collect())
}
