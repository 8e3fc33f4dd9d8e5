//! The vendors' recorded payloads, and how they are read through the codecs.

#![expect(dead_code, reason = "each test binary uses its part")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

use http::HeaderMap;
use serde_json::Value;
use signalbox_ports::vendor_batch::ItemResult;
use signalbox_types::{Failure, StreamEvent, TokenUsage, VendorKind};
use signalbox_vendors::{ElementFrames, JsonTools, ResponseHead, codec_for};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Vendors with payloads of their own.
pub(crate) const VENDORS: [VendorKind; 5] =
    [VendorKind::Openai, VendorKind::Xai, VendorKind::Anthropic, VendorKind::Gemini, VendorKind::Ollama];

/// What a payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Answer,
    Stream,
    Error,
    Embeddings,
    TokenCount,
    /// A batch as the vendor tells of it.
    Batch,
    /// A page of the list of batches.
    BatchPage,
    /// Results of a batch, one in each line, or in the array of this name.
    BatchResults(Option<&'static str>),
    /// What we send: compared where the encoders are tested.
    Request,
    /// Read by no codec: see [`SKIPPED`].
    Skipped,
}

/// Payloads that no codec reads.
const SKIPPED: &[&str] = &[
    // Answers to what is never asked: deferred calls, an older endpoint, a stream that is no event stream.
    "deferred_accepted.json",
    "embeddings_legacy_response.json",
    "stream_json_array_without_alt_sse.json",
    "tokenize_response.json",
    // About models and servers.
    "language_models_list.json",
    "models_list.json",
    "ps_response.json",
    "show_response_excerpt.json",
    "tags_list.json",
    "version_response.json",
];

/// One file.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) vendor: VendorKind,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Fixture {
    /// What it is, by its name. A payload that nobody reads is a fault of the harness.
    pub(crate) fn form(&self) -> Form {
        let name = self.name.as_str();
        let has = |word: &str| name.starts_with(word) || name.contains(&format!("_{word}"));
        match name {
            _ if SKIPPED.contains(&name) => Form::Skipped,
            _ if has("request") || has("batch_input") => Form::Request,
            "batch_list_page.json" => Form::BatchPage,
            "batch_results_page.json" => Form::BatchResults(Some("results")),
            _ if has("batch_") && name.ends_with(".ndjson") => Form::BatchResults(None),
            _ if has("batch_") && !has("embed_") => Form::Batch,
            _ if has("error_") && !has("stream_error") => Form::Error,
            _ if has("stream_") => Form::Stream,
            _ if has("embed") => Form::Embeddings,
            _ if has("count_tokens") || has("count_response") => Form::TokenCount,
            _ if has("response_") => Form::Answer,
            _ => panic!("{}/{name}: say in the harness how this is read", self.vendor),
        }
    }
}

/// Every payload of a vendor, in order of names.
pub(crate) fn fixtures(vendor: VendorKind) -> Vec<Fixture> {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/vendors").join(vendor.name());
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut fixtures: Vec<Fixture> = entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            Fixture { vendor, name, bytes: std::fs::read(entry.path()).unwrap() }
        })
        .collect();
    fixtures.sort_by(|one, other| one.name.cmp(&other.name));
    fixtures
}

/// The payloads of a vendor that are streams.
pub(crate) fn streams(vendor: VendorKind) -> Vec<Fixture> {
    let mut streams = fixtures(vendor);
    streams.retain(|fixture| fixture.form() == Form::Stream);
    streams
}

/// The wall time of every test: 2026-11-29T12:00:00Z.
pub(crate) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_953_600)
}

/// What came out of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Streamed {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) failure: Option<Failure>,
    pub(crate) usage: Option<TokenUsage>,
}

/// Reads a stream that arrives in `chunks`.
pub(crate) fn read_stream<'a>(vendor: VendorKind, chunks: impl IntoIterator<Item = &'a [u8]>) -> Streamed {
    let mut decoder = codec_for(vendor).stream_decoder(None);
    let mut events = Vec::new();
    let fed = chunks.into_iter().try_for_each(|chunk| decoder.feed(chunk, &mut events));
    let failure = fed.and_then(|()| decoder.finish(&mut events)).err();
    Streamed { events, failure, usage: decoder.usage() }
}

/// Reads the results of a batch that stand in a payload.
pub(crate) fn batch_results(fixture: &Fixture) -> Vec<Result<ItemResult, Failure>> {
    let codec = codec_for(fixture.vendor).batches().unwrap();
    let read = |result: &[u8]| codec.decode_result(result, &JsonTools::new());
    let key = match fixture.form() {
        Form::Batch => codec.bulk(),
        Form::BatchResults(key) => key,
        form => panic!("{form:?} has no results"),
    };
    match (key, fixture.form()) {
        (Some(key), _) => {
            let mut frames = ElementFrames::new(key);
            frames.push(&fixture.bytes).unwrap();
            std::iter::from_fn(|| frames.next_element()).map(|element| read(&element)).collect()
        }
        (None, Form::BatchResults(_)) => {
            let lines = fixture.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines.map(read).collect()
        }
        (None, _) => Vec::new(),
    }
}

/// Reads a failed response.
pub(crate) fn read_failure(
    vendor: VendorKind,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Failure {
    let parsed = |(name, value): &(&str, &str)| {
        (name.parse::<http::HeaderName>().unwrap(), value.parse::<http::HeaderValue>().unwrap())
    };
    let headers: HeaderMap = headers.iter().map(parsed).collect();
    codec_for(vendor).decode_failure(ResponseHead { status, headers: &headers, now: now() }, body)
}

/// Reads an `error_*` payload: status, headers, and a body that is JSON or text.
pub(crate) fn read_error(fixture: &Fixture) -> Failure {
    let recorded: Value = serde_json::from_slice(&fixture.bytes).unwrap();
    let body = match recorded["body_text"].as_str() {
        Some(text) => text.to_owned(),
        None => recorded["body"].to_string(),
    };
    let headers = recorded["headers"].as_object().unwrap().iter();
    let headers: Vec<(&str, &str)> =
        headers.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
    let status = recorded["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap();
    read_failure(fixture.vendor, status, &headers, body.as_bytes())
}
