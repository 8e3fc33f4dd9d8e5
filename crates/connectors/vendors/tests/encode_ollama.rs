//! Prompts as Ollama requests, against the example requests.

mod encode;

use encode::{
    adjusted, assistant, call, encode_stream, example, facts, json, pixel, prompt, result, text, tool, user,
    without,
};
use serde_json::{Value, json};
use signalbox_types::{
    EmbedRequest, ErrorReason, Image, ImageDetail, ImageSource, ModelFacts, Part, Prompt, Reasoning,
    ReasoningEffort, ReasoningStyle, ResponseFormat, Sampling, ToolChoice, VendorKind,
};
use signalbox_vendors::{EncodeContext, EncodedCall, codec_for};

const WEATHER: &str =
    r#"{"type":"object","required":["town"],"properties":{"town":{"type":"string","description":"Town"}}}"#;
const SUBJECT: &str =
    r#"{"type":"object","properties":{"subject":{"type":"string"}},"required":["subject"]}"#;

fn encode(model: &str, facts: &ModelFacts, prompt: &Prompt) -> (EncodedCall, Value) {
    encode::encode(VendorKind::Ollama, model, facts, prompt)
}

fn thinks(reasoning: ReasoningStyle) -> ModelFacts {
    let mut facts = facts();
    facts.parameters.reasoning = reasoning;
    facts
}

fn question() -> Prompt {
    prompt([user([text("17*23")])])
}

/// The example, with the switches that keep the server from dropping text without a word.
fn expected(name: &str) -> Value {
    let mut body = example("ollama", name);
    body["truncate"] = json!(false);
    body["shift"] = json!(false);
    body
}

#[test]
fn the_full_example_is_what_is_sent() {
    let mut expected = without(expected("request_chat_full.json"), &["/options/num_ctx", "/keep_alive"]);
    let prompt = Prompt {
        system: "Be brief.".to_owned(),
        sampling: Sampling {
            temperature: Some(0.2),
            top_p: Some(0.9),
            top_k: Some(40),
            seed: Some(7),
            ..Sampling::default()
        },
        max_output_tokens: Some(256),
        stop: serde_json::from_value(expected["options"]["stop"].clone()).unwrap(),
        response_format: ResponseFormat::JsonSchema {
            name: "s".to_owned(),
            schema: json(SUBJECT),
            strict: true,
        },
        ..prompt([user([text("What is this?"), pixel()])])
    };
    let (call, body) = encode("llama3.2-vision:11b", &facts(), &prompt);
    assert_eq!(body, expected);
    assert_eq!(call.path, "/api/chat");
    assert_eq!(call.adjustments, []);

    let (_, body) = encode(
        "llama3.2-vision:11b",
        &facts(),
        &Prompt { response_format: ResponseFormat::JsonObject, ..prompt },
    );
    expected["format"] = json!("json");
    assert_eq!(body, expected);
}

#[test]
fn thinking_is_a_level_or_a_switch() {
    let prompt = |effort| Prompt { reasoning_effort: Some(effort), ..question() };
    let (call, body) =
        encode("gpt-oss:20b", &thinks(ReasoningStyle::OllamaThinkLevel), &prompt(ReasoningEffort::Low));
    assert_eq!(body, expected("request_think.json"));
    assert_eq!(call.adjustments, []);

    let switch = thinks(ReasoningStyle::OllamaThink);
    let (call, body) = encode("qwen3:8b", &switch, &prompt(ReasoningEffort::High));
    assert_eq!((&body["think"], adjusted(&call)), (&json!(true), vec!["reasoning_effort"]));
    let (call, body) = encode("qwen3:8b", &switch, &prompt(ReasoningEffort::None));
    assert_eq!((&body["think"], adjusted(&call)), (&json!(false), vec![]));

    // A model that cannot think answers 400 to either.
    let (call, body) = encode("llama3.1:8b", &facts(), &prompt(ReasoningEffort::High));
    assert_eq!((body.get("think"), adjusted(&call)), (None, vec!["reasoning_effort"]));
    let (call, body) = encode("llama3.1:8b", &facts(), &prompt(ReasoningEffort::None));
    assert_eq!((body.get("think"), adjusted(&call)), (None, vec![]));
}

#[test]
fn calls_thoughts_and_results_go_back() {
    let thought =
        Reasoning { text: "Two lookups.".to_owned(), vendor: "ollama".to_owned(), ..Reasoning::default() };
    let foreign = Reasoning { text: "hm".to_owned(), vendor: "anthropic".to_owned(), ..Reasoning::default() };
    let prompt = Prompt {
        tools: vec![tool("lookup_weather", "Current weather for a town", Some(WEATHER))],
        ..prompt([
            user([text("Weather in Lyon and Oslo?")]),
            assistant([
                Part::Reasoning(thought),
                Part::Reasoning(foreign),
                Part::ToolCall(call("call_a", "lookup_weather", r#"{"town":"Lyon"}"#)),
                Part::ToolCall(call("call_b", "lookup_weather", r#"{"town":"Oslo"}"#)),
            ]),
            user([
                Part::ToolResult(result("call_a", "lookup_weather", "14 C")),
                Part::ToolResult(result("call_b", "", "-3 C")),
            ]),
        ])
    };
    let (call, body) = encode("qwen3:8b", &thinks(ReasoningStyle::OllamaThink), &prompt);
    assert_eq!(body, expected("request_tool_roundtrip.json"));
    assert_eq!(call.adjustments, []);
}

#[test]
fn tools_are_offered_but_never_forced() {
    let tools = vec![tool("lookup_weather", "Current weather for a town", Some(WEATHER))];
    let prompt = |tool_choice| Prompt {
        tools: tools.clone(),
        tool_choice,
        ..prompt([user([text("Weather in Oslo?")])])
    };
    let (call, body) = encode_stream(VendorKind::Ollama, "llama3.1:8b", &facts(), &prompt(ToolChoice::Auto));
    assert_eq!(body, example("ollama", "request_tools_stream.json"));
    assert_eq!(call.adjustments, []);
    let (call, body) = encode("llama3.1:8b", &facts(), &prompt(ToolChoice::Required));
    assert_eq!((body["tools"].as_array().unwrap().len(), adjusted(&call)), (1, vec!["tool_choice"]));
    let (call, body) = encode("llama3.1:8b", &facts(), &prompt(ToolChoice::None));
    assert_eq!((body.get("tools"), adjusted(&call)), (None, vec![]));
}

#[test]
fn results_come_before_what_the_user_adds_and_failed_ones_say_so() {
    let mut failed = result("call_0", "t", "timeout");
    failed.is_error = true;
    let messages = [
        assistant([text("one"), text("two"), Part::ToolCall(call("call_0", "t", ""))]),
        user([text("Go on."), Part::ToolResult(failed)]),
    ];
    let (_, body) = encode("m", &facts(), &prompt(messages));
    let call = json!({"id": "call_0", "function": {"index": 0, "name": "t", "arguments": {}}});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "assistant", "content": "one\n\ntwo", "tool_calls": [call]},
            {"role": "tool", "content": "error: timeout", "tool_name": "t", "tool_call_id": "call_0"},
            {"role": "user", "content": "Go on."},
        ])
    );
}

#[test]
fn an_image_at_an_address_is_refused() {
    let facts = facts();
    let context = EncodeContext { model: "m", facts: &facts, stream: false };
    let source = ImageSource::Url("https://example.org/a.png".to_owned());
    let image = Part::Image(Image { source, detail: ImageDetail::Auto });
    let failure = codec_for(VendorKind::Ollama).encode(context, &prompt([user([image])])).unwrap_err();
    assert_eq!(failure.reason, ErrorReason::InvalidRequest);
    assert_eq!(failure.violations[0].field, "messages.image.url");
}

#[test]
fn what_the_vendor_has_no_word_for_is_reported() {
    let mut strict = tool("t", "", None);
    strict.strict = Some(true);
    let prompt = Prompt {
        tools: vec![strict],
        parallel_tool_calls: Some(false),
        end_user: "u".to_owned(),
        metadata: [("team".to_owned(), "news".to_owned())].into(),
        ..question()
    };
    let (call, body) = encode("m", &facts(), &prompt);
    assert_eq!(body["tools"][0]["function"]["parameters"], json!({"type": "object", "properties": {}}));
    assert_eq!(adjusted(&call), ["tools.strict", "parallel_tool_calls", "metadata", "end_user"]);
}

#[test]
fn texts_are_embedded_whole_or_not_at_all() {
    let facts = facts();
    let context = EncodeContext { model: "nomic-embed-text", facts: &facts, stream: false };
    let inputs = vec!["first text".to_owned(), "zweiter Text".to_owned()];
    let codec = codec_for(VendorKind::Ollama);
    let call = codec.encode_embed(context, &EmbedRequest { inputs, dimensions: Some(4) }).unwrap();
    assert_eq!(call.path, "/api/embed");
    let mut expected = example("ollama", "embed_request.json");
    expected["truncate"] = json!(false);
    assert_eq!(serde_json::from_slice::<Value>(&call.body).unwrap(), expected);
    assert_eq!(codec.encode_count_tokens(context, &question()), Ok(None));
}
