//! Chat completions, for every dialect of them.

use super::{dialect::Dialect, request, response, stream::Decoder};
use crate::codec::{EncodeContext, EncodedCall, StreamDecoder};
use crate::{adjust::Adjustments, draft::Draft, json};
use signalbox_types::{Failure, Prompt};

/// The header that carries the key.
pub(crate) fn credentials(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}

/// The request for an answer.
pub(crate) fn encode(
    dialect: &Dialect,
    context: EncodeContext<'_>,
    prompt: &Prompt,
) -> Result<EncodedCall, Failure> {
    let mut adjustments = Adjustments::default();
    let request = request::request(dialect, context, prompt, &mut adjustments)?;
    Ok(EncodedCall {
        path: "/v1/chat/completions".to_owned(),
        body: json::write(&request)?,
        adjustments: adjustments.into_vec(),
        ..EncodedCall::default()
    })
}

/// Reads a whole answer.
pub(crate) fn draft(dialect: &Dialect, body: &[u8]) -> Result<Draft, Failure> {
    response::draft(dialect, body)
}

/// A reader for a streamed answer.
pub(crate) fn stream_decoder(dialect: &'static Dialect) -> Box<dyn StreamDecoder> {
    Box::new(Decoder::new(dialect))
}
