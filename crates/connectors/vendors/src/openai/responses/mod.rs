//! The responses API, without state at the vendor: every turn is sent again, its encrypted reasoning included.

mod items;
mod request;
mod response;
mod stream;

pub(super) use response::draft;
pub(super) use stream::ResponsesStream;

use super::{dialect::Dialect, parameters};
use crate::adjust::Adjustments;
use crate::codec::{EncodeContext, EncodedCall};
use crate::json;
use serde::Deserialize;
use signalbox_types::{Failure, ModelFacts, Prompt};

/// Whether tools and reasoning meet: some models refuse that on chat completions.
pub(super) fn needed(facts: &ModelFacts, prompt: &Prompt) -> bool {
    let thinks = || parameters::reasoning(&facts.parameters, prompt, &mut Adjustments::default()).thinks;
    !prompt.tools.is_empty() && thinks()
}

/// The request for an answer.
pub(super) fn encode(
    dialect: &Dialect,
    context: EncodeContext<'_>,
    prompt: &Prompt,
) -> Result<EncodedCall, Failure> {
    let mut adjustments = Adjustments::default();
    let request = request::request(dialect, context, prompt, &mut adjustments)?;
    Ok(EncodedCall {
        path: "/v1/responses".to_owned(),
        body: json::write(&request)?,
        adjustments: adjustments.into_vec(),
        ..EncodedCall::default()
    })
}

/// The request for a token count.
pub(super) fn encode_count(
    dialect: &Dialect,
    context: EncodeContext<'_>,
    prompt: &Prompt,
) -> Result<EncodedCall, Failure> {
    let request = request::request(dialect, context, prompt, &mut Adjustments::default())?.only_what_counts();
    let path = "/v1/responses/input_tokens".to_owned();
    Ok(EncodedCall { path, body: json::write(&request)?, ..EncodedCall::default() })
}

/// Reads a token count.
pub(super) fn decode_count(vendor: &str, body: &[u8]) -> Result<u64, Failure> {
    #[derive(Deserialize)]
    struct Count {
        input_tokens: u64,
    }
    json::read::<Count>(vendor, body).map(|count| count.input_tokens)
}
