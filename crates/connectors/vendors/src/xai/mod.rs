//! xAI: chat completions in its own dialect.
//!
//! What differs from OpenAI: flat errors whose code is a sentence, reasoning tokens beside the completion's, the cost
//! in the usage, `reasoning_content`, and no `strict`. The shared reader of chat completions knows all shapes; this
//! folder says what xAI takes and what its errors mean.

mod batch;
mod errors;

use crate::batch::BatchCodec;
use crate::codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder};
use crate::draft::Draft;
use crate::openai::dialect::{Dialect, EndUserField};
use crate::openai::{chat, errors as error_objects};
use crate::rate_limits::{self, X_RATELIMIT};
use http::HeaderMap;
use signalbox_types::{EmbedRequest, EmbeddingAnswer, ErrorReason, Failure, Prompt};

static DIALECT: Dialect = Dialect {
    name: "xai",
    base_url: Some("https://api.x.ai"),
    end_user: EndUserField::User,
    metadata: false,
    store: false,
    strict: false,
    top_k: false,
    most_stops: 4,
    null_content: false,
    reasoning_content: true,
    json_word: false,
    counts_tokens: false,
    vectors: "float",
    classify: errors::classify,
};

/// The translation for xAI.
#[derive(Debug)]
pub(crate) struct Xai;

impl Codec for Xai {
    fn default_base_url(&self) -> Option<&'static str> {
        DIALECT.base_url
    }

    fn credentials(&self, key: &str) -> (&'static str, String) {
        chat::credentials(key)
    }

    fn encode(&self, context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
        chat::encode(&DIALECT, context, prompt)
    }

    fn draft(&self, body: &[u8], _json_tool: Option<&str>) -> Result<Draft, Failure> {
        chat::draft(&DIALECT, body)
    }

    fn stream_decoder(&self, _json_tool: Option<&str>) -> Box<dyn StreamDecoder> {
        chat::stream_decoder(&DIALECT)
    }

    fn decode_failure(&self, head: ResponseHead<'_>, body: &[u8]) -> Failure {
        error_objects::of_response(&DIALECT, head, body)
    }

    fn quota_left(&self, headers: &HeaderMap) -> Option<f64> {
        rate_limits::quota_left(headers, &X_RATELIMIT)
    }

    fn batches(&self) -> Option<&dyn BatchCodec> {
        Some(self)
    }

    fn encode_embed(
        &self,
        _context: EncodeContext<'_>,
        _request: &EmbedRequest,
    ) -> Result<EncodedCall, Failure> {
        Err(no_embeddings())
    }

    fn decode_embed(&self, _body: &[u8]) -> Result<EmbeddingAnswer, Failure> {
        Err(no_embeddings())
    }

    fn encode_count_tokens(
        &self,
        _context: EncodeContext<'_>,
        _prompt: &Prompt,
    ) -> Result<Option<EncodedCall>, Failure> {
        Ok(None)
    }

    fn decode_count_tokens(&self, _body: &[u8]) -> Result<u64, Failure> {
        Err(Failure::new(ErrorReason::Unimplemented, "xai: counts the tokens of texts, not of conversations"))
    }
}

fn no_embeddings() -> Failure {
    Failure::new(ErrorReason::Unimplemented, "xai: offers no embedding model")
}
