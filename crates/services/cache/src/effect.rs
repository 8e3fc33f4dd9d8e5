//! How a request met the cache, as its account tells it.

use crate::seal::hex;
use signalbox_api::{
    convert::{duration_from_proto, duration_to_proto},
    v1::{CacheEffect, CachedAnswer, cache_effect::Outcome},
};
use signalbox_ports::cache::Digest;
use std::time::Duration;

/// The name of an entry.
pub(crate) fn entry_id(key: Digest) -> String {
    hex(&key.0)
}

/// Nothing was served.
pub(crate) fn without_answer(outcome: Outcome, reason: &str) -> CacheEffect {
    CacheEffect { outcome: outcome.into(), reason: reason.to_owned(), ..Default::default() }
}

/// An answer was served, after `elapsed`.
pub(crate) fn with_answer(
    outcome: Outcome,
    answer: &CachedAnswer,
    entry_id: String,
    age: Duration,
    elapsed: Duration,
) -> CacheEffect {
    let took = answer.latency.and_then(duration_from_proto).unwrap_or_default();
    CacheEffect {
        outcome: outcome.into(),
        similarity: 0.0,
        age: Some(duration_to_proto(age)),
        reason: String::new(),
        saved: answer.cost.clone(),
        entry_id,
        saved_usage: answer.usage,
        saved_latency: Some(duration_to_proto(took.saturating_sub(elapsed))),
    }
}
