//! OpenAI, and every server that speaks its chat completions.
//!
//! Two surfaces: chat completions, in this folder, and the responses API in [`responses`], which some models need
//! for tools. A request goes to the surface that the model's facts name; an answer says by itself what it is.

pub(crate) mod batch;
mod calls;
pub(crate) mod chat;
mod chat_stream;
pub(crate) mod dialect;
mod embed;
pub(crate) mod errors;
mod images;
mod messages;
mod parameters;
mod request;
mod response;
mod responses;
mod stream;
mod wire;

use crate::batch::BatchCodec;
use crate::codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder};
use crate::draft::Draft;
use crate::rate_limits::{self, X_RATELIMIT};
use dialect::Dialect;
use http::HeaderMap;
use signalbox_types::{EmbedRequest, EmbeddingAnswer, Failure, OpenAiEndpoint, Prompt};

/// OpenAI itself.
pub(crate) static OPENAI: OpenAi = OpenAi(&dialect::OPENAI);

/// vLLM, llama.cpp, Groq and so on: the common core, with nothing that only OpenAI takes.
pub(crate) static COMPATIBLE: OpenAi = OpenAi(&dialect::COMPATIBLE);

/// The translation for OpenAI or a server like it.
#[derive(Debug)]
pub(crate) struct OpenAi(&'static Dialect);

impl Codec for OpenAi {
    fn default_base_url(&self) -> Option<&'static str> {
        self.0.base_url
    }

    fn credentials(&self, key: &str) -> (&'static str, String) {
        chat::credentials(key)
    }

    fn encode(&self, context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
        match context.facts.parameters.openai_endpoint {
            OpenAiEndpoint::Responses => responses::encode(self.0, context, prompt),
            OpenAiEndpoint::ResponsesForTools if responses::needed(context.facts, prompt) => {
                responses::encode(self.0, context, prompt)
            }
            _ => chat::encode(self.0, context, prompt),
        }
    }

    fn draft(&self, body: &[u8], _json_tool: Option<&str>) -> Result<Draft, Failure> {
        match wire::Surface::of_answer(self.0.name, body)? {
            wire::Surface::Chat => chat::draft(self.0, body),
            wire::Surface::Responses => responses::draft(self.0, body),
        }
    }

    fn stream_decoder(&self, _json_tool: Option<&str>) -> Box<dyn StreamDecoder> {
        Box::new(stream::Decoder::new(self.0))
    }

    fn decode_failure(&self, head: ResponseHead<'_>, body: &[u8]) -> Failure {
        errors::of_response(self.0, head, body)
    }

    fn quota_left(&self, headers: &HeaderMap) -> Option<f64> {
        rate_limits::quota_left(headers, &X_RATELIMIT)
    }

    fn batches(&self) -> Option<&dyn BatchCodec> {
        Some(self)
    }

    fn encode_embed(
        &self,
        context: EncodeContext<'_>,
        request: &EmbedRequest,
    ) -> Result<EncodedCall, Failure> {
        embed::encode(self.0, context, request)
    }

    fn decode_embed(&self, body: &[u8]) -> Result<EmbeddingAnswer, Failure> {
        embed::decode(self.0.name, body)
    }

    fn encode_count_tokens(
        &self,
        context: EncodeContext<'_>,
        prompt: &Prompt,
    ) -> Result<Option<EncodedCall>, Failure> {
        if !self.0.counts_tokens {
            return Ok(None);
        }
        responses::encode_count(self.0, context, prompt).map(Some)
    }

    fn decode_count_tokens(&self, body: &[u8]) -> Result<u64, Failure> {
        responses::decode_count(self.0.name, body)
    }
}
