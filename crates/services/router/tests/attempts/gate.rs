//! The quality gate, and what follows its verdict.

use crate::{
    adapter::{Deed, End, answers_after},
    world::{World, alias, tried},
};
use signalbox_api::{status::from_status, v1};
use signalbox_types::ErrorReason;
use std::time::Duration;

const SCHEMA: &str =
    r#"{"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}"#;
const GOOD: &str = r#"{"title": "Rain"}"#;

fn in_json() -> v1::GenerateRequest {
    let format = v1::JsonSchemaFormat { schema: SCHEMA.to_owned(), strict: true, ..Default::default() };
    let format = Some(v1::response_format::Format::JsonSchema(format));
    v1::GenerateRequest { response_format: Some(v1::ResponseFormat { format }), ..alias("pair") }
}

fn with_tool(tool_choice: v1::ToolChoice) -> v1::GenerateRequest {
    let tool = v1::Tool {
        name: "weather".to_owned(),
        parameters_schema: r#"{"type": "object"}"#.to_owned(),
        ..Default::default()
    };
    v1::GenerateRequest { tools: vec![tool], tool_choice: Some(tool_choice), ..alias("pair") }
}

fn ends_by(text: &'static str, finish: v1::FinishReason) -> Deed {
    Deed { after: Duration::ZERO, end: End::Answer(text, finish) }
}

#[tokio::test(start_paused = true)]
async fn json_between_other_words_is_recovered() {
    for text in
        ["```json\n{\"title\": \"Rain\"}\n```", "Sure! Here it is:\n{\"title\": \"Rain\"}\nAnything else?"]
    {
        let world = World::new();
        world.adapter.tell("openai", [answers_after(0, text)]);
        let answer = world.ask(in_json()).await.unwrap();
        assert_eq!((&*answer.text, answer.attempts()), (GOOD, vec!["openai FIRST_CHOICE".to_owned()]));
    }
}

#[tokio::test(start_paused = true)]
async fn an_invalid_answer_is_tried_once_elsewhere() {
    let world = World::new();
    world.adapter.tell("openai", [answers_after(0, r#"{"headline": "Rain"}"#)]);
    world.adapter.tell("anthropic", [answers_after(0, GOOD)]);
    let answer = world.ask(in_json()).await.unwrap();
    assert_eq!(answer.attempts(), ["openai FIRST_CHOICE OUTPUT_INVALID", "anthropic QUALITY"]);
    assert_eq!(answer.route.total_cost.unwrap().nano_eur, 2000, "both were paid for");
}

#[tokio::test(start_paused = true)]
async fn a_second_invalid_answer_is_told_in_the_validators_words() {
    let world = World::new();
    for vendor in ["openai", "anthropic"] {
        world.adapter.tell(vendor, [answers_after(0, r#"{"headline": "Rain"}"#)]);
    }
    let status = world.ask(v1::GenerateRequest { model: "all".to_owned(), ..in_json() }).await.unwrap_err();
    let failure = from_status(&status);
    assert_eq!(failure.reason, ErrorReason::OutputInvalid);
    assert!(failure.message.contains("title"), "{}", failure.message);
    assert_eq!(tried(&status).len(), 2, "no third is asked");
}

#[tokio::test(start_paused = true)]
async fn an_answer_cut_by_the_callers_own_limit_is_told_at_once() {
    let world = World::new();
    world.adapter.tell("openai", [ends_by("{\"title\": \"Ra", v1::FinishReason::Length)]);
    let asked = v1::GenerateRequest { max_output_tokens: Some(4), ..in_json() };
    let status = world.ask(asked).await.unwrap_err();
    let failure = from_status(&status);
    assert_eq!(failure.reason, ErrorReason::OutputInvalid);
    assert!(failure.message.contains("max_output_tokens of 4"), "{}", failure.message);
    assert_eq!(tried(&status), ["openai FIRST_CHOICE OUTPUT_INVALID"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_cut_by_the_models_own_limit_is_tried_elsewhere() {
    for own in [None, Some(i32::MAX)] {
        let world = World::new();
        world.adapter.tell("openai", [ends_by("{\"title\": \"Ra", v1::FinishReason::Length)]);
        world.adapter.tell("anthropic", [answers_after(0, GOOD)]);
        let asked = v1::GenerateRequest { max_output_tokens: own, ..in_json() };
        let answer = world.ask(asked).await.unwrap();
        assert_eq!(answer.attempts(), ["openai FIRST_CHOICE OUTPUT_INVALID", "anthropic QUALITY"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_leaves_out_a_tool_it_had_to_call_is_invalid() {
    use v1::tool_choice::Mode;
    for (mode, tool_name, word) in
        [(Mode::Required, "", "requires one"), (Mode::Tool, "weather", "`weather`")]
    {
        let choice = v1::ToolChoice { mode: mode as i32, tool_name: tool_name.to_owned() };
        let world = World::new();
        world.adapter.tell("openai", [answers_after(0, "It will rain.")]);
        world.adapter.tell("anthropic", [answers_after(0, "It will rain.")]);
        let status = world.ask(with_tool(choice)).await.unwrap_err();
        let failure = from_status(&status);
        assert_eq!(failure.reason, ErrorReason::OutputInvalid);
        assert!(failure.message.contains(word), "{}", failure.message);
        assert_eq!(
            tried(&status),
            ["openai FIRST_CHOICE OUTPUT_INVALID", "anthropic QUALITY OUTPUT_INVALID"]
        );
    }
}
