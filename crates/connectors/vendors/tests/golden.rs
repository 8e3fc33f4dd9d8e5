//! Every recorded payload, read through its vendor's codec, gives exactly the committed result.
//!
//! After a wanted change: `INSTA_UPDATE=always cargo nextest run -p signalbox-vendors --test golden`, then read the
//! difference against the vendor's documentation.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

#[path = "support/render.rs"]
mod render;
mod support;

use serde_json::{Value, json};
use signalbox_types::VendorKind;
use signalbox_vendors::{ElementFrames, codec_for};
use support::{Fixture, Form, Streamed, batch_results, fixtures, read_error, read_stream, streams};

/// What the codec makes of a payload; none where there is nothing to read.
fn read(fixture: &Fixture) -> Option<Value> {
    let codec = codec_for(fixture.vendor);
    let bytes = fixture.bytes.as_slice();
    let value = match fixture.form() {
        Form::Answer => either(codec.decode(bytes, None).map(|answer| render::answer(&answer))),
        Form::Stream => render::streamed(&read_stream(fixture.vendor, [bytes])),
        Form::Error => render::failure(&read_error(fixture)),
        Form::Embeddings => either(codec.decode_embed(bytes).map(|answer| render::embeddings(&answer))),
        Form::TokenCount => either(codec.decode_count_tokens(bytes).map(|count| json!({ "tokens": count }))),
        Form::Batch => {
            let codec = codec.batches().unwrap();
            either(codec.decode(bytes).map(|batch| {
                let sources = render::sources(&codec.results(&batch.id, bytes).unwrap());
                let in_place = codec.bulk().map(|key| elements(fixture, key));
                json!({ "batch": render::batch(&batch), "results": sources, "in_place": in_place })
            }))
        }
        Form::BatchPage => either(codec.batches().unwrap().decode_list(bytes).map(|page| {
            let batches = page.batches.iter();
            let batches = batches.map(|(name, batch)| json!({ "name": name, "batch": render::batch(batch) }));
            json!({ "batches": batches.collect::<Value>(), "next": page.next })
        })),
        Form::BatchResults(None) => results(fixture),
        Form::BatchResults(Some(key)) => elements(fixture, key),
        Form::Request | Form::Skipped => return None,
    };
    Some(value)
}

fn results(fixture: &Fixture) -> Value {
    batch_results(fixture)
        .into_iter()
        .map(|result| either(result.map(|result| render::result(&result))))
        .collect()
}

/// The results within a document, and where the next page of them is.
fn elements(fixture: &Fixture, key: &'static str) -> Value {
    let mut frames = ElementFrames::new(key);
    frames.push(&fixture.bytes).unwrap();
    let codec = codec_for(fixture.vendor).batches().unwrap();
    let next = codec.next_page("b-1", &frames.into_rest().unwrap()).unwrap();
    json!({ "results": results(fixture), "next": next })
}

fn either(result: Result<Value, signalbox_types::Failure>) -> Value {
    result.unwrap_or_else(|failure| json!({ "failure": render::failure(&failure) }))
}

fn compare(vendor: VendorKind) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("snapshots/{vendor}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for fixture in fixtures(vendor) {
        if let Some(value) = read(&fixture) {
            settings.bind(|| insta::assert_json_snapshot!(fixture.name.clone(), value));
        }
    }
}

#[test]
fn openai_payloads_are_read_as_committed() {
    compare(VendorKind::Openai);
}

#[test]
fn xai_payloads_are_read_as_committed() {
    compare(VendorKind::Xai);
}

#[test]
fn anthropic_payloads_are_read_as_committed() {
    compare(VendorKind::Anthropic);
}

#[test]
fn gemini_payloads_are_read_as_committed() {
    compare(VendorKind::Gemini);
}

#[test]
fn ollama_payloads_are_read_as_committed() {
    compare(VendorKind::Ollama);
}

#[test]
fn a_compatible_server_is_read_like_openai() {
    for fixture in streams(VendorKind::Openai) {
        let read = |vendor| read_stream(vendor, [fixture.bytes.as_slice()]);
        let (openai, compatible) = (read(VendorKind::Openai), read(VendorKind::OpenaiCompatible));
        let reason = |streamed: &Streamed| streamed.failure.as_ref().map(|failure| failure.reason);
        assert_eq!(reason(&compatible), reason(&openai), "{}", fixture.name);
        assert_eq!(compatible.usage, openai.usage, "{}", fixture.name);
        assert_eq!(compatible.events.len(), openai.events.len(), "{}", fixture.name);
    }
}
