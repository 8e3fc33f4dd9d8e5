//! Anthropic messages (`/v1/messages`), in both live API versions.

mod batch;
mod blocks;
mod call_ids;
mod errors;
mod request;
mod response;
mod schema;
mod stream;
mod structured;
mod thinking;

use crate::batch::BatchCodec;
use crate::codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder};
use crate::draft::Draft;
use crate::json;
use crate::rate_limits::{self, ANTHROPIC_RATELIMIT};
use http::HeaderMap;
use signalbox_types::{EmbedRequest, EmbeddingAnswer, ErrorReason, Failure, Prompt};

/// Name in messages, and of the writer of a [`signalbox_types::Reasoning`].
const NAME: &str = "anthropic";

/// Anthropic's wire format.
#[derive(Debug)]
pub(crate) struct Anthropic;

impl Codec for Anthropic {
    fn default_base_url(&self) -> Option<&'static str> {
        Some("https://api.anthropic.com")
    }

    fn credentials(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn encode(&self, context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
        request::messages(context, prompt)
    }

    fn draft(&self, body: &[u8], json_tool: Option<&str>) -> Result<Draft, Failure> {
        response::answer(body, json_tool)
    }

    fn stream_decoder(&self, json_tool: Option<&str>) -> Box<dyn StreamDecoder> {
        Box::new(stream::Decoder::new(json_tool))
    }

    fn decode_failure(&self, head: ResponseHead<'_>, body: &[u8]) -> Failure {
        errors::failure(head, body)
    }

    fn quota_left(&self, headers: &HeaderMap) -> Option<f64> {
        rate_limits::quota_left(headers, &ANTHROPIC_RATELIMIT)
    }

    fn batches(&self) -> Option<&dyn BatchCodec> {
        Some(self)
    }

    fn encode_embed(
        &self,
        _context: EncodeContext<'_>,
        _request: &EmbedRequest,
    ) -> Result<EncodedCall, Failure> {
        Err(Failure::new(
            ErrorReason::NoCapableModel,
            "anthropic has no embeddings; use another vendor's model",
        ))
    }

    fn decode_embed(&self, _body: &[u8]) -> Result<EmbeddingAnswer, Failure> {
        Err(json::unreadable(NAME, "it has no embeddings"))
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
