//! The vendors' wire formats, and the one HTTP client that speaks them.
//!
//! Each vendor is a [`Codec`]: pure translation between Signalbox's words and the vendor's bytes. [`HttpVendor`]
//! adds the connection pool, timeouts and bulkhead, and is the same for all. A new vendor is one folder with a codec.

mod anthropic;
mod codec;
mod framing;
mod gemini;
mod http;
mod ollama;
mod openai;
mod retry_after;
mod xai;

pub use codec::{Codec, EncodeContext, EncodedCall, ResponseHead, StreamDecoder, codec_for};
pub use framing::{Frame, NdjsonFrames, SseFrames};
pub use http::{ConfigureVendorError, HttpVendor, Timeouts, VendorConfig};
