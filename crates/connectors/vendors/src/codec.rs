//! What a vendor's translation must do. Pure: no I/O and no clock, so that `signalbox encode`, `signalbox decode`
//! and the golden files run exactly what production runs.

use crate::batch::BatchCodec;
use crate::draft::{self, Draft};
use crate::{anthropic, gemini, mend, ollama, openai, xai};
use signalbox_pricing::{arrived_in_part, arrived_whole};
use signalbox_types::{
    Adjustment, Arrived, EmbedRequest, EmbeddingAnswer, Failure, ModelAnswer, ModelFacts, Prompt,
    StreamEvent, TokenUsage, VendorKind,
};
use std::time::SystemTime;

/// What a translation is made for.
#[derive(Debug, Clone, Copy)]
pub struct EncodeContext<'a> {
    /// The vendor's own model id.
    pub model: &'a str,
    /// What is known of the model.
    pub facts: &'a ModelFacts,
    /// Whether the answer is to come as a stream.
    pub stream: bool,
}

/// An HTTP request to a vendor, without host and credentials.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncodedCall {
    /// Path and query below the vendor's base URL, as in `/v1/chat/completions`.
    pub path: String,
    /// Headers besides content type and credentials.
    pub headers: Vec<(&'static str, String)>,
    /// The JSON body.
    pub body: Vec<u8>,
    /// What had to be changed, for the answer's `route`.
    pub adjustments: Vec<Adjustment>,
    /// The answer's JSON comes as the arguments of this tool (schema output by forced tool); give it to the decoder.
    pub json_tool: Option<String>,
}

/// Status and headers of a failed response.
#[derive(Debug, Clone, Copy)]
pub struct ResponseHead<'a> {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: &'a ::http::HeaderMap,
    /// Wall time of arrival, for `Retry-After` dates and reset instants.
    pub now: SystemTime,
}

/// One vendor's wire format.
pub trait Codec: Send + Sync + std::fmt::Debug {
    /// Where the vendor lives, as in `https://api.openai.com`. `None` where that must be configured.
    fn default_base_url(&self) -> Option<&'static str>;

    /// The header that carries the key, with its value made from it.
    fn credentials(&self, key: &str) -> (&'static str, String);

    /// The request for an answer. Fails only where the prompt cannot be said to this vendor at all.
    fn encode(&self, context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure>;

    /// Reads a whole answer as far as it is one; fails where it cannot be read. `json_tool` as in the [`EncodedCall`].
    fn draft(&self, body: &[u8], json_tool: Option<&str>) -> Result<Draft, Failure>;

    /// Reads a whole answer that can be used. The failure says what had come of one that cannot.
    fn decode(&self, body: &[u8], json_tool: Option<&str>) -> Result<ModelAnswer, Failure> {
        match self.draft(body, json_tool) {
            Ok(draft) => draft.into_answer(),
            Err(failure) => Err(failure.after(self.arrived(body, json_tool))),
        }
    }

    /// What had come of an answer whose body broke off, or cannot be read.
    fn arrived(&self, body: &[u8], json_tool: Option<&str>) -> Arrived {
        let Some(mended) = mend::closed(body) else { return Arrived::default() };
        match self.draft(&mended, json_tool) {
            // Nothing had to be left out, as where a last bracket is missing.
            Ok(draft) if mended.starts_with(body.trim_ascii_end()) => arrived_whole(&draft.answer),
            Ok(draft) => arrived_in_part(&draft.answer),
            Err(_) => draft::arrived_unread(body),
        }
    }

    /// A reader for a streamed answer.
    fn stream_decoder(&self, json_tool: Option<&str>) -> Box<dyn StreamDecoder>;

    /// Reads a failure: any status but 2xx.
    fn decode_failure(&self, head: ResponseHead<'_>, body: &[u8]) -> Failure;

    /// Share of the quota that is left by the headers of any answer, 0 to 1, of the scarcest kind. `None` where the
    /// vendor does not tell.
    fn quota_left(&self, _headers: &::http::HeaderMap) -> Option<f64> {
        None
    }

    /// The wire format of its batch endpoint; `None` where it has none.
    fn batches(&self) -> Option<&dyn BatchCodec> {
        None
    }

    /// The request for vectors.
    fn encode_embed(
        &self,
        context: EncodeContext<'_>,
        request: &EmbedRequest,
    ) -> Result<EncodedCall, Failure>;

    /// Reads vectors.
    fn decode_embed(&self, body: &[u8]) -> Result<EmbeddingAnswer, Failure>;

    /// The request for a token count; `None` where the vendor has no such endpoint.
    fn encode_count_tokens(
        &self,
        context: EncodeContext<'_>,
        prompt: &Prompt,
    ) -> Result<Option<EncodedCall>, Failure>;

    /// Reads a token count.
    fn decode_count_tokens(&self, body: &[u8]) -> Result<u64, Failure>;
}

/// Reads one streamed answer, however its bytes are cut.
///
/// Events come out the same whatever the chunk boundaries. Exactly one of: a `Done` event, or an `Err` from `feed`
/// or `finish`. After either, the decoder is spent.
pub trait StreamDecoder: Send {
    /// Reads more bytes and appends what they complete to `events`; what was appended before an `Err` is good.
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), Failure>;

    /// The body has ended. `Err(StreamTruncated)` unless the vendor had said why the answer ended.
    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure>;

    /// What the vendor has reported so far.
    fn usage(&self) -> Option<TokenUsage>;
}

/// The translation for a kind of vendor.
pub fn codec_for(kind: VendorKind) -> &'static dyn Codec {
    match kind {
        VendorKind::Openai => &openai::OPENAI,
        VendorKind::OpenaiCompatible => &openai::COMPATIBLE,
        VendorKind::Anthropic => &anthropic::Anthropic,
        VendorKind::Gemini => &gemini::Gemini,
        VendorKind::Xai => &xai::Xai,
        VendorKind::Ollama => &ollama::Ollama,
    }
}
