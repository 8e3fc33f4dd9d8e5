//! Ollama's own API (`/api/chat`), which has more controls than its OpenAI-like one.

mod embed;
mod errors;
mod messages;
mod request;
mod response;
mod stream;

use crate::codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder};
use crate::draft::Draft;
use crate::json;
use signalbox_types::{EmbedRequest, EmbeddingAnswer, Failure, Prompt};

/// Name in messages, and of the writer of a [`signalbox_types::Reasoning`].
const NAME: &str = "ollama";

/// Ollama's wire format.
#[derive(Debug)]
pub(crate) struct Ollama;

impl Codec for Ollama {
    fn default_base_url(&self) -> Option<&'static str> {
        Some("http://127.0.0.1:11434")
    }

    /// Only its cloud, or a proxy in front of it, asks for a key.
    fn credentials(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn encode(&self, context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
        request::chat(context, prompt)
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
        _context: EncodeContext<'_>,
        _prompt: &Prompt,
    ) -> Result<Option<EncodedCall>, Failure> {
        Ok(None)
    }

    fn decode_count_tokens(&self, _body: &[u8]) -> Result<u64, Failure> {
        Err(json::unreadable(NAME, "it counts no tokens"))
    }
}
