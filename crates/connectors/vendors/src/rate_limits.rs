//! What vendors tell of their rate limits in headers: how much is left, and when all of it is back.

use crate::retry_after::{text, wait};
use http::HeaderMap;
use std::time::{Duration, SystemTime};

/// The headers of one limit.
pub(crate) struct RateLimit {
    limit: &'static str,
    remaining: &'static str,
    reset: &'static str,
}

/// `x-ratelimit-*`, as OpenAI, xAI and most compatible servers send them.
pub(crate) const X_RATELIMIT: [RateLimit; 2] = [
    RateLimit {
        limit: "x-ratelimit-limit-requests",
        remaining: "x-ratelimit-remaining-requests",
        reset: "x-ratelimit-reset-requests",
    },
    RateLimit {
        limit: "x-ratelimit-limit-tokens",
        remaining: "x-ratelimit-remaining-tokens",
        reset: "x-ratelimit-reset-tokens",
    },
];

/// `anthropic-ratelimit-*`.
pub(crate) const ANTHROPIC_RATELIMIT: [RateLimit; 4] = [
    RateLimit {
        limit: "anthropic-ratelimit-requests-limit",
        remaining: "anthropic-ratelimit-requests-remaining",
        reset: "anthropic-ratelimit-requests-reset",
    },
    RateLimit {
        limit: "anthropic-ratelimit-tokens-limit",
        remaining: "anthropic-ratelimit-tokens-remaining",
        reset: "anthropic-ratelimit-tokens-reset",
    },
    RateLimit {
        limit: "anthropic-ratelimit-input-tokens-limit",
        remaining: "anthropic-ratelimit-input-tokens-remaining",
        reset: "anthropic-ratelimit-input-tokens-reset",
    },
    RateLimit {
        limit: "anthropic-ratelimit-output-tokens-limit",
        remaining: "anthropic-ratelimit-output-tokens-remaining",
        reset: "anthropic-ratelimit-output-tokens-reset",
    },
];

/// The share that is left of the scarcest limit, 0 to 1. A limit of nothing, or without its size, tells nothing.
pub(crate) fn quota_left(headers: &HeaderMap, limits: &[RateLimit]) -> Option<f64> {
    let share = |limit: &RateLimit| {
        let (remaining, limit) = (number(headers, limit.remaining)?, number(headers, limit.limit)?);
        (limit > 0.0).then(|| (remaining / limit).min(1.0))
    };
    limits.iter().filter_map(share).min_by(f64::total_cmp)
}

/// The wait that the headers of a rate limit ask for: until the last of the exhausted limits is whole again or,
/// where none says that it is exhausted, until the first is. Only of use with a 429.
pub(crate) fn reset_after(headers: &HeaderMap, limits: &[RateLimit], now: SystemTime) -> Option<Duration> {
    let resets =
        || limits.iter().filter_map(|limit| Some((limit.remaining, wait(text(headers, limit.reset)?, now)?)));
    let exhausted = resets().filter(|(remaining, _)| text(headers, remaining) == Some("0"));
    exhausted.map(|(_, wait)| wait).max().or_else(|| resets().map(|(_, wait)| wait).min())
}

/// A number that could be meant: neither negative nor infinite.
fn number(headers: &HeaderMap, name: &str) -> Option<f64> {
    let number = text(headers, name)?.trim().parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-29T12:00:00Z
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_953_600)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn the_exhausted_limit_decides_how_long_to_wait() {
        let requests = headers(&[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "120ms"),
            ("x-ratelimit-remaining-tokens", "29871"),
            ("x-ratelimit-reset-tokens", "6m0.258s"),
        ]);
        assert_eq!(reset_after(&requests, &X_RATELIMIT, now()), Some(Duration::from_millis(120)));
        let both = headers(&[
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-11-29T12:00:01Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-11-29T12:00:08Z"),
        ]);
        assert_eq!(reset_after(&both, &ANTHROPIC_RATELIMIT, now()), Some(Duration::from_secs(8)));
    }

    #[test]
    fn without_a_word_on_what_is_exhausted_the_first_reset_decides() {
        let headers = headers(&[("x-ratelimit-reset-requests", "2s"), ("x-ratelimit-reset-tokens", "1s")]);
        assert_eq!(reset_after(&headers, &X_RATELIMIT, now()), Some(Duration::from_secs(1)));
    }

    #[test]
    fn the_scarcest_limit_is_what_is_left() {
        let headers = headers(&[
            ("x-ratelimit-limit-requests", "500"),
            ("x-ratelimit-remaining-requests", "400"),
            ("x-ratelimit-limit-tokens", "30000"),
            ("x-ratelimit-remaining-tokens", "1500"),
        ]);
        assert_eq!(quota_left(&headers, &X_RATELIMIT), Some(0.05));
    }

    #[test]
    fn what_cannot_be_a_share_tells_nothing() {
        for (limit, remaining, left) in [
            ("0", "0", None),
            ("10", "", None),
            ("-5", "1", None),
            ("10", "-1", None),
            ("inf", "inf", None),
            ("NaN", "1", None),
            ("10", "12", Some(1.0)),
            ("10", "0", Some(0.0)),
        ] {
            let headers = headers(&[
                ("x-ratelimit-limit-requests", limit),
                ("x-ratelimit-remaining-requests", remaining),
            ]);
            assert_eq!(quota_left(&headers, &X_RATELIMIT), left, "{remaining} of {limit}");
        }
        assert_eq!(quota_left(&HeaderMap::new(), &X_RATELIMIT), None);
    }
}
