//! Prompts as xAI requests, against the example requests.

mod encode;

use encode::{
    PIXEL, adjusted, assistant, call, encode_stream, example, facts, json, pixel, prompt, result, text, tool,
    user, without,
};
use serde_json::Value;
use signalbox_types::{
    EmbedRequest, ErrorReason, Image, ImageDetail, ImageSource, MaxTokensField, ModelFacts, Parameter,
    ParameterRules, Part, Prompt, Reasoning, ReasoningEffort, ReasoningStyle, ResponseFormat, Sampling, Tool,
    VendorKind,
};
use signalbox_vendors::{EncodeContext, EncodedCall, codec_for};

const WEATHER: &str = r#"{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#;

fn encode(model: &str, facts: &ModelFacts, prompt: &Prompt) -> (EncodedCall, Value) {
    encode::encode(VendorKind::Xai, model, facts, prompt)
}

fn rules(parameters: ParameterRules) -> ModelFacts {
    ModelFacts { parameters, ..facts() }
}

fn reasoner() -> ModelFacts {
    rules(ParameterRules {
        refused: vec![Parameter::Stop, Parameter::PresencePenalty, Parameter::FrequencyPenalty],
        reasoning: ReasoningStyle::Effort,
        reasoning_efforts: vec![ReasoningEffort::Low, ReasoningEffort::Medium, ReasoningEffort::High],
        default_effort: Some(ReasoningEffort::High),
        ..ParameterRules::default()
    })
}

fn weather() -> Tool {
    tool("lookup_weather", "Current weather for a town", Some(WEATHER))
}

#[test]
fn the_full_example_is_what_is_sent() {
    let expected = without(example("xai", "request_chat_full.json"), &["/tool_choice"]);
    let source = ImageSource::Url("https://example.org/a.jpg".to_owned());
    let image = Part::Image(Image { source, detail: ImageDetail::High });
    let prompt = Prompt {
        system: "Answer in the language of the question.".to_owned(),
        tools: vec![weather()],
        parallel_tool_calls: Some(true),
        sampling: Sampling {
            temperature: Some(0.7),
            top_p: Some(0.95),
            seed: Some(7),
            ..Sampling::default()
        },
        max_output_tokens: Some(800),
        response_format: ResponseFormat::JsonSchema {
            name: "report".to_owned(),
            schema: json(&expected["response_format"]["json_schema"]["schema"].to_string()),
            strict: true,
        },
        end_user: "u-5f1c".to_owned(),
        ..prompt([user([text("What is this?"), image])])
    };
    let (call, body) = encode_stream(VendorKind::Xai, "grok-4.3", &facts(), &prompt);
    assert_eq!(body, expected);
    assert!(call.adjustments.is_empty(), "{:?}", call.adjustments);
}

#[test]
fn a_tool_round_trip_takes_its_reasoning_with_it() {
    let expected = example("xai", "request_tool_roundtrip.json");
    let thought = |text: &str, vendor: &str| {
        Part::Reasoning(Reasoning {
            text: text.to_owned(),
            vendor: vendor.to_owned(),
            ..Reasoning::default()
        })
    };
    let messages = [
        user([text("Weather in Lyon?")]),
        assistant([
            thought("One lookup.", "xai"),
            thought("Not for xAI.", "openai"),
            Part::ToolCall(call("call_11", "lookup_weather", r#"{"town":"Lyon"}"#)),
        ]),
        user([Part::ToolResult(result("call_11", "", r#"{"c":14}"#))]),
    ];
    let prompt = Prompt { tools: vec![weather()], ..prompt(messages) };
    assert_eq!(encode("grok-4.7", &facts(), &prompt).1, expected);
}

#[test]
fn the_reasoning_example_is_what_is_sent() {
    let prompt = Prompt {
        reasoning_effort: Some(ReasoningEffort::Low),
        max_output_tokens: Some(4000),
        ..prompt([user([text("Plan a rollback.")])])
    };
    let (_, body) = encode("grok-4.7", &reasoner(), &prompt);
    assert_eq!(body, example("xai", "request_reasoning.json"));
}

#[test]
fn stop_texts_go_to_models_that_do_not_reason() {
    let expected = example("xai", "request_non_reasoning_stop.json");
    let prompt = Prompt {
        stop: serde_json::from_value(expected["stop"].clone()).unwrap(),
        max_output_tokens: Some(64),
        ..prompt([user([text("List the parts.")])])
    };
    let parameters =
        ParameterRules { max_tokens_field: MaxTokensField::MaxTokens, ..ParameterRules::default() };
    assert_eq!(encode("grok-4.20-0309-non-reasoning", &rules(parameters), &prompt).1, expected);
    let (call, body) = encode("grok-4.7", &reasoner(), &prompt);
    assert_eq!(adjusted(&call), ["stop"]);
    assert!(body.get("stop").is_none());
}

#[test]
fn what_xai_has_no_field_for_is_told() {
    let prompt = Prompt {
        tools: vec![Tool { strict: Some(true), ..weather() }],
        metadata: [("a".to_owned(), "b".to_owned())].into(),
        sampling: Sampling { top_k: Some(1), ..Sampling::default() },
        ..prompt([user([text("x")])])
    };
    let (call, body) = encode("m", &facts(), &prompt);
    assert_eq!(adjusted(&call), ["sampling.top_k", "tools.strict", "metadata"]);
    assert!(body["tools"][0]["function"].get("strict").is_none());
    assert!(body.get("metadata").is_none() && body.get("store").is_none() && body.get("top_k").is_none());
}

#[test]
fn a_call_without_arguments_goes_back_as_an_empty_object() {
    let prompt = prompt([assistant([Part::ToolCall(call("a", "now", ""))])]);
    let (_, body) = encode("m", &facts(), &prompt);
    assert_eq!(body["messages"][0]["tool_calls"][0]["function"]["arguments"], "{}");
}

#[test]
fn an_inline_image_is_a_data_url() {
    let (_, body) = encode("m", &facts(), &prompt([user([pixel()])]));
    let url = format!("data:image/png;base64,{PIXEL}");
    assert_eq!(body["messages"][0]["content"][0]["image_url"]["url"], url);
}

#[test]
fn there_are_neither_vectors_nor_token_counts() {
    let facts = facts();
    let context = EncodeContext { model: "m", facts: &facts, stream: false };
    let codec = codec_for(VendorKind::Xai);
    assert_eq!(codec.encode_count_tokens(context, &Prompt::default()).unwrap(), None);
    let failure = codec.encode_embed(context, &EmbedRequest::default()).unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Unimplemented);
}
