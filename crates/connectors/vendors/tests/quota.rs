//! What each vendor's headers tell of the quota that is left.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

use http::HeaderMap;
use signalbox_types::VendorKind;
use signalbox_vendors::codec_for;

fn left(vendor: VendorKind, headers: &[(&'static str, &str)]) -> Option<f64> {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    codec_for(vendor).quota_left(&headers)
}

const X: [(&str, &str); 4] = [
    ("x-ratelimit-limit-requests", "500"),
    ("x-ratelimit-remaining-requests", "499"),
    ("x-ratelimit-limit-tokens", "30000"),
    ("x-ratelimit-remaining-tokens", "7500"),
];

const ANTHROPIC: [(&str, &str); 8] = [
    ("anthropic-ratelimit-requests-limit", "1000"),
    ("anthropic-ratelimit-requests-remaining", "999"),
    ("anthropic-ratelimit-tokens-limit", "96000"),
    ("anthropic-ratelimit-tokens-remaining", "90000"),
    ("anthropic-ratelimit-input-tokens-limit", "80000"),
    ("anthropic-ratelimit-input-tokens-remaining", "78000"),
    ("anthropic-ratelimit-output-tokens-limit", "16000"),
    ("anthropic-ratelimit-output-tokens-remaining", "4000"),
];

#[test]
fn the_scarcest_kind_counts_with_every_vendor_that_tells() {
    for vendor in [VendorKind::Openai, VendorKind::OpenaiCompatible, VendorKind::Xai] {
        assert_eq!(left(vendor, &X), Some(0.25), "{vendor}");
    }
    assert_eq!(left(VendorKind::Anthropic, &ANTHROPIC), Some(0.25));
}

#[test]
fn a_vendor_without_such_headers_tells_nothing() {
    for vendor in [VendorKind::Gemini, VendorKind::Ollama] {
        assert_eq!(left(vendor, &X), None, "{vendor}");
    }
    for vendor in VendorKind::ALL {
        assert_eq!(left(vendor, &[]), None, "{vendor}");
    }
    assert_eq!(left(VendorKind::Openai, &ANTHROPIC), None);
}

#[test]
fn one_kind_alone_is_enough_and_a_limit_without_what_remains_is_not() {
    assert_eq!(left(VendorKind::Xai, &X[..2]), Some(0.998));
    assert_eq!(left(VendorKind::Openai, &[X[0], X[2]]), None);
}
