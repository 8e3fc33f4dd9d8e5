//! What lies sealed in an entry.

use prost::Message;
use signalbox_api::v1::{CachedAnswer, TokenUsage, part};
use std::time::{Duration, SystemTime};

/// An answer, and what is needed to find out whether it fits another request.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Kept {
    #[prost(message, optional, tag = "1")]
    pub(crate) answer: Option<CachedAnswer>,
    /// The instruction it was made for.
    #[prost(string, tag = "2")]
    pub(crate) instruction: String,
    #[prost(string, tag = "3")]
    pub(crate) task_type: String,
    #[prost(string, tag = "4")]
    pub(crate) locale: String,
}

/// How old an answer is; one from a clock that is ahead is new.
pub(crate) fn age(answer: &CachedAnswer, now: SystemTime) -> Duration {
    let stored = answer.stored_at.and_then(|stored| SystemTime::try_from(stored).ok());
    stored.and_then(|stored| now.duration_since(stored).ok()).unwrap_or_default()
}

/// The text of an answer.
pub(crate) fn text(answer: &CachedAnswer) -> String {
    let texts = answer.content.iter().filter_map(|part| match &part.part {
        Some(part::Part::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// What keeping an answer is worth, in nano-EUR. Where it cost nothing, or nobody knows, its tokens stand for it.
pub(crate) fn worth(answer: &CachedAnswer) -> i64 {
    let cost = answer.cost.as_ref().map_or(0, |cost| cost.nano_eur);
    let tokens = answer.usage.as_ref().map_or(0, all_tokens);
    cost.max(i64::try_from(tokens).unwrap_or(i64::MAX)).max(1)
}

fn all_tokens(usage: &TokenUsage) -> u64 {
    let TokenUsage {
        input_tokens,
        cache_read_tokens,
        cache_write_tokens,
        cache_write_1h_tokens,
        output_tokens,
        reasoning_tokens,
        source: _,
    } = usage;
    [
        input_tokens,
        cache_read_tokens,
        cache_write_tokens,
        cache_write_1h_tokens,
        output_tokens,
        reasoning_tokens,
    ]
    .into_iter()
    .fold(0_u64, |sum, tokens| sum.saturating_add(*tokens))
}
