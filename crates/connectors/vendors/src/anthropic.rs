//! stub
use crate::codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder};
use signalbox_types::{EmbedRequest, EmbeddingAnswer, Failure, ModelAnswer, Prompt};

#[derive(Debug)]
pub struct Anthropic;
impl Codec for Anthropic {
    fn default_base_url(&self) -> Option<&'static str> { None }
    fn credentials(&self, _key: &str) -> (&'static str, String) { todo!() }
    fn encode(&self, _c: EncodeContext<'_>, _p: &Prompt) -> Result<EncodedCall, Failure> { todo!() }
    fn decode(&self, _b: &[u8], _j: Option<&str>) -> Result<ModelAnswer, Failure> { todo!() }
    fn stream_decoder(&self, _j: Option<&str>) -> Box<dyn StreamDecoder> { todo!() }
    fn decode_failure(&self, _h: ResponseHead<'_>, _b: &[u8]) -> Failure { todo!() }
    fn encode_embed(&self, _c: EncodeContext<'_>, _r: &EmbedRequest) -> Result<EncodedCall, Failure> { todo!() }
    fn decode_embed(&self, _b: &[u8]) -> Result<EmbeddingAnswer, Failure> { todo!() }
    fn encode_count_tokens(&self, _c: EncodeContext<'_>, _p: &Prompt) -> Result<Option<EncodedCall>, Failure> { todo!() }
    fn decode_count_tokens(&self, _b: &[u8]) -> Result<u64, Failure> { todo!() }
}
