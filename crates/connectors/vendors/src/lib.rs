//! The vendors' wire formats, and the one HTTP client that speaks them.
//!
//! Each vendor is a [`Codec`]: pure translation between Signalbox's words and the vendor's bytes. [`HttpVendor`]
//! adds the connection pool, timeouts and bulkhead, and is the same for all. A new vendor is one folder with a codec.

mod adjust;
mod anthropic;
mod batch;
mod codec;
mod draft;
mod failures;
mod framing;
mod gemini;
mod http;
mod json;
mod mend;
mod ollama;
mod openai;
mod rate_limits;
mod retry_after;
mod turns;
mod urls;
mod xai;

pub use batch::{
    BatchCodec, BatchPage, ElementFrames, Finding, JsonTools, NewBatch, NewBatchCall, ResultSource,
};
pub use codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder, codec_for};
pub use draft::Draft;
pub use framing::{Frame, NdjsonFrames, SseFrames};
pub use http::{Bulkhead, ConfigureVendorError, HttpVendor, Timeouts, VendorConfig};
