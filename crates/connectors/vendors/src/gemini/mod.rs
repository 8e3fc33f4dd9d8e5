//! Gemini's Developer API (`generateContent`).

mod batch;
mod contents;
mod embed;
mod errors;
mod generation;
mod request;
mod response;
mod stream;

use crate::batch::BatchCodec;
use crate::codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder};
use crate::draft::Draft;
use signalbox_types::{EmbedRequest, EmbeddingAnswer, Failure, Prompt};

/// Name in messages, and of the writer of a [`signalbox_types::Reasoning`].
const NAME: &str = "gemini";

/// Set before a signature that travels with a tool call, so that only this vendor gets it back.
const SIGNATURE_PREFIX: &str = "gemini:";

/// Gemini's wire format.
#[derive(Debug)]
pub(crate) struct Gemini;

impl Codec for Gemini {
    fn default_base_url(&self) -> Option<&'static str> {
        Some("https://generativelanguage.googleapis.com")
    }

    fn credentials(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn encode(&self, context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
        request::generate(context, prompt)
    }

    /// Always whole JSON: a schema is a switch of its own here, never a tool.
    fn draft(&self, body: &[u8], _json_tool: Option<&str>) -> Result<Draft, Failure> {
        response::answer(body)
    }

    fn stream_decoder(&self, _json_tool: Option<&str>) -> Box<dyn StreamDecoder> {
        Box::new(stream::Decoder::default())
    }

    fn decode_failure(&self, head: ResponseHead<'_>, body: &[u8]) -> Failure {
        errors::failure(head, body)
    }

    fn batches(&self) -> Option<&dyn BatchCodec> {
        Some(self)
    }

    fn encode_embed(
        &self,
        context: EncodeContext<'_>,
        request: &EmbedRequest,
    ) -> Result<EncodedCall, Failure> {
        embed::request(context, request)
    }

    fn decode_embed(&self, body: &[u8]) -> Result<EmbeddingAnswer, Failure> {
        embed::answer(body)
    }

    fn encode_count_tokens(
        &self,
        context: EncodeContext<'_>,
        prompt: &Prompt,
    ) -> Result<Option<EncodedCall>, Failure> {
        request::count_tokens(context, prompt).map(Some)
    }

    fn decode_count_tokens(&self, body: &[u8]) -> Result<u64, Failure> {
        response::token_count(body)
    }
}

/// The path of a model's method.
fn path(model: &str, method: &str) -> String {
    format!("/v1beta/{}:{method}", full_name(model))
}

/// `models/…`, as bodies and paths want it; other collections (`tunedModels/…`) are named by the caller.
fn full_name(model: &str) -> String {
    if model.contains('/') { model.to_owned() } else { format!("models/{model}") }
}
