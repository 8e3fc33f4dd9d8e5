//! Structured output is what was asked for, or the caller is told that it is not.

use serde_json::{Value, json};
use signalbox_api::v1::{GenerateRequest, attempt::Cause};
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, ask, json_schema, open, request},
    both_topologies,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use tonic::Code;

const SCHEMA: &str = r#"{"type": "object", "required": ["title"], "additionalProperties": false,
    "properties": {"title": {"type": "string"}}}"#;

fn pair() -> Value {
    json!({"aliases": {"pair": {"targets": ["openai/gpt-6-luna", "anthropic/claude-haiku-5-5"]}}})
}

/// An answer of two tokens is no JSON object.
fn cut_short() -> GenerateRequest {
    GenerateRequest {
        response_format: Some(json_schema(SCHEMA)),
        max_output_tokens: Some(2),
        ..request("pair", "A title, please.")
    }
}

async fn output_cut_by_the_callers_own_limit_is_told_at_once(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let refusal = Refusal::from(ask(&mut world.client(), Mode::Unary, cut_short()).await.unwrap_err());
    assert_eq!((refusal.code, refusal.reason), (Code::Unavailable, "OUTPUT_INVALID"), "{refusal:?}");
    assert!(refusal.message.contains("cut at the output limit"), "{refusal:?}");
    assert!(refusal.message.contains("max_output_tokens of 2"), "{refusal:?}");
    assert_eq!(refusal.attempts, ["openai: OUTPUT_INVALID"]);
    let calls = (world.calls(Vendor::Openai).len(), world.calls(Vendor::Anthropic).len());
    assert_eq!(calls, (1, 0));
}

async fn a_stream_that_breaks_its_schema_ends_with_a_status(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let events = open(&mut world.client(), cut_short()).await.unwrap();
    let streamed = signalbox_testkit::ask::Streamed::read(events).await;
    assert!(!streamed.text().is_empty());
    let refusal = Refusal::from(streamed.end.unwrap_err());
    assert_eq!((refusal.code, refusal.reason), (Code::Unavailable, "OUTPUT_INVALID"), "{refusal:?}");
    assert_eq!(world.calls(Vendor::Anthropic).len(), 0);
}

async fn what_an_invalid_answer_cost_is_part_of_the_total(topology: Topology) {
    let world = World::start(topology, pair()).await;
    // Only the first vendor's answer is spoilt: its reply breaks off in the middle of the JSON.
    world.fault(Vendor::Openai, "no-finish");
    let asked = GenerateRequest { max_output_tokens: None, ..cut_short() };
    let answer = ask(&mut world.client(), Mode::Unary, asked).await.unwrap();
    let title = serde_json::from_str::<Value>(&answer.text()).unwrap();
    assert!(title["title"].is_string(), "{title}");
    assert!(answer.route.attempts.iter().all(|attempt| attempt.cause() != Cause::Unspecified));
    let attempts: i64 =
        answer.route.attempts.iter().filter_map(|attempt| Some(attempt.cost.as_ref()?.nano_eur)).sum();
    assert_eq!(answer.route.total_cost.unwrap().nano_eur, attempts);
}

both_topologies!(
    output_cut_by_the_callers_own_limit_is_told_at_once,
    a_stream_that_breaks_its_schema_ends_with_a_status,
    what_an_invalid_answer_cost_is_part_of_the_total,
);
