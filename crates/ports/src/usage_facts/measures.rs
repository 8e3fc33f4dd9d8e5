//! What an event adds to the sums of its group.

use super::{is_cache_hit, is_fallback};
use signalbox_api::v1::{Cost, TokenUsage, UsageEvent, token_usage::Source};
use std::time::Duration;

/// What an event adds to the sums of its group. Its outcome is one of the dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    /// Model calls.
    pub attempts: u64,
    /// Another candidate served than the first.
    pub fallback: bool,
    /// It was answered from the cache or by an identical request under way.
    pub cache_hit: bool,
    /// Tokens; the source is told by `certainty`.
    pub usage: TokenUsage,
    /// How far the token counts can be trusted.
    pub certainty: Certainty,
    /// The part of its cost that is known.
    pub cost_nano_eur: i64,
    /// Some of its cost is not known.
    pub cost_unknown: bool,
    /// What the cache saved.
    pub saved_nano_eur: i64,
    /// The cache saved something and nobody knows what.
    pub saved_unknown: bool,
    /// From arrival to end.
    pub latency: Option<Duration>,
    /// From arrival to the first content.
    pub time_to_first_token: Option<Duration>,
}

/// How far token counts can be trusted, the most certain first: sums have the greatest of their parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// No tokens were used, so there is nothing to be unsure of.
    NothingUsed = 0,
    /// The vendor reported them.
    Vendor = 1,
    /// Some are estimated.
    Estimated = 2,
    /// Some are not known.
    Unknown = 3,
}

impl Measures {
    /// Those of an event.
    pub fn of(event: &UsageEvent) -> Self {
        let cache_hit = is_cache_hit(event);
        let cost_unknown = is_unknown(event.cost.as_ref());
        let saved = event.cache.as_ref().and_then(|cache| cache.saved.as_ref());
        Self {
            attempts: event.attempts.len() as u64,
            fallback: is_fallback(event),
            cache_hit,
            usage: event.usage.unwrap_or_default(),
            certainty: certainty(event, cost_unknown),
            cost_nano_eur: event.cost.as_ref().map_or(0, |cost| cost.nano_eur),
            cost_unknown,
            saved_nano_eur: if cache_hit { saved.map_or(0, |saved| saved.nano_eur) } else { 0 },
            saved_unknown: cache_hit && is_unknown(saved),
            latency: event.latency.and_then(|latency| latency.try_into().ok()),
            time_to_first_token: event.time_to_first_token.and_then(|time| time.try_into().ok()),
        }
    }
}

/// Nothing said is not known, which is not the same as free.
fn is_unknown(cost: Option<&Cost>) -> bool {
    cost.is_none_or(|cost| cost.unknown)
}

fn certainty(event: &UsageEvent, cost_unknown: bool) -> Certainty {
    match event.usage.unwrap_or_default().source() {
        Source::Vendor => Certainty::Vendor,
        Source::Estimated => Certainty::Estimated,
        // A request that reached no vendor has no source either, and its cost is known to be nothing.
        Source::Unspecified if cost_unknown => Certainty::Unknown,
        Source::Unspecified => Certainty::NothingUsed,
    }
}

impl Certainty {
    /// The source that a sum of this certainty has.
    pub fn source(self) -> Source {
        match self {
            Self::Vendor => Source::Vendor,
            Self::Estimated => Source::Estimated,
            Self::NothingUsed | Self::Unknown => Source::Unspecified,
        }
    }

    /// The one with this number, as a store keeps it; the least certain for any other.
    pub fn from_number(number: i64) -> Self {
        let all = [Self::NothingUsed, Self::Vendor, Self::Estimated];
        all.into_iter().find(|certainty| *certainty as i64 == number).unwrap_or(Self::Unknown)
    }
}
