//! What every recorded payload used and cost, as docs/accounting.md shows it.
//!
//! After a wanted change: `ACCOUNTING_UPDATE=1 cargo nextest run -p signalbox-vendors --test costs`, then read the
//! difference.
#![expect(clippy::unwrap_used, reason = "the steps of a test: a panic is its failure")]

mod support;

use signalbox_kit::{
    FixedClock,
    catalog::Catalog,
    config::{ConfigHandle, Environment},
};
use signalbox_ports::vendor_batch::{ItemOutcome, ItemResult};
use signalbox_pricing::{Day, SoFar};
use signalbox_types::{Failure, Lane, ModelRef, StreamEvent, TokenUsage, UsageSource, VendorKind};
use signalbox_vendors::codec_for;
use std::{fmt::Write as _, path::PathBuf, sync::Arc};
use support::{Fixture, Form, VENDORS, batch_results, fixtures, now, read_stream};

const BEGIN: &str =
    "<!-- What every recorded payload used and cost: written by tests/costs.rs of signalbox-vendors. -->\n";
const END: &str = "<!-- End of what is written by a test. -->\n";

/// Payloads that speak of usage and have no line.
const NO_LINE: [(&str, &str); 6] = [
    ("batch_completed.json", "the sum of a batch, whose results have lines of their own"),
    ("response_prompt_eval_count_missing.json", "half a count: the adapter estimates"),
    ("responses_api_stream_error.sse", "null"),
    ("stream_cut_no_done.sse", "null"),
    ("stream_error_mid.sse", "null"),
    ("stream_json_array_without_alt_sse.json", "a form that is never asked for"),
];

/// The price list's name for what a recording's own model is not listed as: dated ids, and models that are gone.
fn stand_in(vendor: VendorKind, model: &str) -> &'static str {
    match vendor {
        VendorKind::Openai if model.contains("embedding") => "text-embedding-3-small",
        VendorKind::Openai => "gpt-6-luna",
        VendorKind::Gemini if model.contains("embedding") => "gemini-embedding-001",
        VendorKind::Gemini => "gemini-4-argon",
        VendorKind::Xai => "grok-4.3",
        VendorKind::Anthropic => "claude-sonnet-5-5",
        VendorKind::Ollama if model.contains("embed") => "nomic-embed-text",
        VendorKind::Ollama | VendorKind::OpenaiCompatible => "gpt-oss:20b",
    }
}

/// One answer of a payload.
struct Used {
    usage: TokenUsage,
    lane: Lane,
}

/// Every answer of a payload that carries usage.
fn used(fixture: &Fixture) -> Vec<Used> {
    let codec = codec_for(fixture.vendor);
    let bytes = fixture.bytes.as_slice();
    let one = |usage: Option<TokenUsage>| usage.map(|usage| Used { usage, lane: Lane::Interactive });
    let found: Vec<Used> = match fixture.form() {
        Form::Answer => one(codec.decode(bytes, None).ok().map(|answer| answer.usage)).into_iter().collect(),
        Form::Stream => one(streamed(fixture)).into_iter().collect(),
        Form::Embeddings => {
            one(codec.decode_embed(bytes).ok().map(|answer| answer.usage)).into_iter().collect()
        }
        Form::Batch | Form::BatchResults(_) => batched(fixture),
        _ => Vec::new(),
    };
    found.into_iter().filter(|used| used.usage.source != UsageSource::Unknown).collect()
}

/// What a stream used: as its end says, or until it broke off, where the vendor had said something by then.
fn streamed(fixture: &Fixture) -> Option<TokenUsage> {
    let streamed = read_stream(fixture.vendor, [fixture.bytes.as_slice()]);
    let mut so_far = SoFar::default();
    for event in &streamed.events {
        match event {
            StreamEvent::Done(done) => return Some(done.usage),
            piece => _ = so_far.event(piece),
        }
    }
    so_far.reported(streamed.usage?);
    Some(so_far.used())
}

/// The answers in a batch's results.
fn batched(fixture: &Fixture) -> Vec<Used> {
    let answered = |result: Result<ItemResult, Failure>| match result.ok()?.outcome {
        ItemOutcome::Answer(answer) => Some(Used { usage: answer.usage, lane: Lane::Batch }),
        _ => None,
    };
    batch_results(fixture).into_iter().filter_map(answered).collect()
}

/// The model that a payload names.
fn model(fixture: &Fixture, catalog: &Catalog) -> ModelRef {
    let text = String::from_utf8_lossy(&fixture.bytes);
    let named = text.split(r#""model"#).nth(1).unwrap_or_default();
    let named = named.trim_start_matches("Version").split('"').nth(2).unwrap_or_default();
    let named = ModelRef::new(fixture.vendor.name(), named);
    let listed = catalog.models().iter().any(|listed| listed.reference == named);
    if listed { named } else { ModelRef::new(fixture.vendor.name(), stand_in(fixture.vendor, &named.model)) }
}

fn table() -> String {
    let clock = Arc::new(FixedClock(now()));
    let config = ConfigHandle::start(None, Environment::default(), clock).unwrap();
    let catalog = config.catalog();
    let (prices, day) = (catalog.prices(), Day::of(now()));
    let mut table = String::from(
        "| payload | priced as | input | cache read | cache write | for an hour | output | reasoning | source | nano-EUR |\n\
         |---|---|--:|--:|--:|--:|--:|--:|---|--:|\n",
    );
    for vendor in VENDORS {
        for fixture in fixtures(vendor) {
            for Used { usage, lane } in used(&fixture) {
                let model = model(&fixture, &catalog);
                let cost = prices.cost(&model, &usage, lane, day);
                let cost = cost.map_or_else(|| "unknown".to_owned(), |cost| cost.nano_eur().to_string());
                writeln!(
                    table,
                    "| `{vendor}/{}` | `{}` | {} | {} | {} | {} | {} | {} | {} | {cost} |",
                    fixture.name,
                    model.model,
                    usage.input,
                    usage.cache_read,
                    usage.cache_write,
                    usage.cache_write_1h,
                    usage.output,
                    usage.reasoning,
                    if usage.source == UsageSource::Vendor { "vendor" } else { "estimated" },
                )
                .unwrap();
            }
        }
    }
    table
}

#[test]
fn no_payload_that_carries_usage_is_left_out() {
    let words =
        ["usage", "usageMetadata", "eval_count", "prompt_eval_count"].map(|word| format!("\"{word}\""));
    for fixture in VENDORS.into_iter().flat_map(fixtures).filter(|it| it.form() != Form::Request) {
        let text = String::from_utf8_lossy(&fixture.bytes);
        let carries = words.iter().any(|word| text.contains(word));
        let excepted = NO_LINE.iter().any(|(name, _)| *name == fixture.name);
        assert!(!carries || excepted || !used(&fixture).is_empty(), "{}/{}", fixture.vendor, fixture.name);
    }
}

#[test]
fn the_page_on_accounting_shows_what_every_payload_used_and_cost() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/accounting.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has the mark where the table begins");
    let (shown, after) = rest.split_once(END).expect("the page has the mark where the table ends");
    let table = format!("\n{}\n", table());
    if std::env::var_os("ACCOUNTING_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    for (shown, made) in shown.lines().zip(table.lines()) {
        assert_eq!(shown, made);
    }
    assert_eq!(shown, table);
}
