//! What an answer's metadata tells of rate limits.

use signalbox_ports::{RateLeft, RatesLeft};
use tonic::Response;

/// An answer that tells what is left, where anything is limited.
pub(crate) fn with<T>(rates: RatesLeft, answer: T) -> Response<T> {
    let mut answer = Response::new(answer);
    let metadata = answer.metadata_mut();
    if let Some(RateLeft { limit, remaining }) = rates.requests {
        metadata.insert("x-ratelimit-limit-requests", limit.into());
        metadata.insert("x-ratelimit-remaining-requests", remaining.into());
    }
    if let Some(RateLeft { limit, remaining }) = rates.tokens {
        metadata.insert("x-ratelimit-limit-tokens", limit.into());
        metadata.insert("x-ratelimit-remaining-tokens", remaining.into());
    }
    answer
}
