//! Prompts as OpenAI requests, against the example requests.

mod encode;

use encode::{
    adjusted, assistant, call, encode_stream, example, facts, json, pixel, prompt, result, text, tool, user,
    without,
};
use serde_json::{Value, json};
use signalbox_types::{
    EmbedRequest, ErrorReason, Image, ImageDetail, ImageSource, MaxTokensField, ModelFacts, OpenAiEndpoint,
    Parameter, ParameterRules, Part, Prompt, Reasoning, ReasoningEffort, ReasoningStyle, ResponseFormat,
    Sampling, Tool, ToolChoice, VendorKind,
};
use signalbox_vendors::{EncodeContext, EncodedCall, codec_for};

const WEATHER: &str = r#"{"type":"object","properties":{"town":{"type":"string"},"unit":{"type":"string","enum":["c","f"]}},"required":["town","unit"],"additionalProperties":false}"#;

fn encode(model: &str, facts: &ModelFacts, prompt: &Prompt) -> (EncodedCall, Value) {
    encode::encode(VendorKind::Openai, model, facts, prompt)
}

fn compatible(prompt: &Prompt) -> (EncodedCall, Value) {
    encode::encode(VendorKind::OpenaiCompatible, "m", &facts(), prompt)
}

fn rules(parameters: ParameterRules) -> ModelFacts {
    ModelFacts { parameters, ..facts() }
}

/// A model such as gpt-6: it thinks by default, and takes tools beside that only as responses.
fn thinker() -> ParameterRules {
    use ReasoningEffort::{High, Low, Medium, None};
    ParameterRules {
        openai_endpoint: OpenAiEndpoint::ResponsesForTools,
        reasoning: ReasoningStyle::Effort,
        reasoning_efforts: vec![None, Low, Medium, High],
        default_effort: Some(Medium),
        sampling_needs_no_reasoning: true,
        ..ParameterRules::default()
    }
}

fn weather(strict: Option<bool>) -> Tool {
    Tool { strict, ..tool("lookup_weather", "Current weather for a town", Some(WEATHER)) }
}

fn question() -> Prompt {
    prompt([user([text("Weather in Oslo?")])])
}

fn with_tools() -> Prompt {
    Prompt { tools: vec![weather(None)], ..question() }
}

#[test]
fn the_full_chat_example_is_what_is_sent() {
    // A name for the speaker, caching and tier are nothing that a request can say; the tools may be called anyway.
    let unsaid = ["/messages/1/name", "/prompt_cache_key", "/service_tier", "/tool_choice"];
    let expected = without(example("openai", "request_chat_full.json"), &unsaid);
    let Part::Image(pixel) = pixel() else { panic!("a pixel is an image") };
    let image = Part::Image(Image { detail: ImageDetail::Low, ..pixel });
    let messages = [user([text("What is in this picture, and is it raining in Nîmes?"), image])];
    let prompt = Prompt {
        system: "Answer in the language of the question.".to_owned(),
        tools: vec![
            weather(Some(true)),
            Tool { strict: None, ..tool("server_clock", "Time on the server", Some(CLOCK)) },
        ],
        parallel_tool_calls: Some(true),
        sampling: Sampling { temperature: Some(0.2), top_p: Some(0.9), seed: Some(7), ..Sampling::default() },
        max_output_tokens: Some(800),
        stop: vec!["\n\nEND".to_owned()],
        response_format: ResponseFormat::JsonSchema {
            name: "picture_report".to_owned(),
            schema: json(&expected["response_format"]["json_schema"]["schema"].to_string()),
            strict: true,
        },
        metadata: [("tenant", "acme"), ("task", "triage")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        end_user: "u-5f1c".to_owned(),
        ..prompt(messages)
    };
    let (call, body) = encode_stream(VendorKind::Openai, "gpt-4.1-mini", &facts(), &prompt);
    assert_eq!(body, expected);
    assert_eq!(call.path, "/v1/chat/completions");
    assert!(call.adjustments.is_empty(), "{:?}", call.adjustments);
}

const CLOCK: &str = r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#;

#[test]
fn a_tool_round_trip_is_one_message_for_each_result_before_the_rest() {
    let mut expected = example("openai", "request_tool_roundtrip.json");
    expected["store"] = json!(false);
    let calls = [
        call("call_a1", "lookup_weather", r#"{"town":"Lyon","unit":"c"}"#),
        call("call_a2", "lookup_weather", r#"{"town":"Oslo","unit":"c"}"#),
    ];
    let results = [result("call_a1", "", r#"{"c":14}"#), result("call_a2", "", "upstream timeout")];
    let messages = [
        user([text("Weather in Lyon and Oslo?")]),
        assistant(calls.map(Part::ToolCall)),
        user([Part::ToolResult(results[0].clone())]),
        user([text("And now?"), Part::ToolResult(results[1].clone())]),
    ];
    expected["messages"].as_array_mut().unwrap().push(json!({ "role": "user", "content": "And now?" }));
    let prompt = Prompt { tools: vec![weather(Some(true))], ..prompt(messages) };
    assert_eq!(encode("gpt-4o", &facts(), &prompt).1, expected);
}

#[test]
fn the_reasoning_example_is_what_is_sent() {
    // The developer role is the system role by another name.
    let mut expected = without(example("openai", "request_reasoning.json"), &["/verbosity"]);
    expected["messages"][0]["role"] = json!("system");
    expected["store"] = json!(false);
    let prompt = Prompt {
        system: "Be brief.".to_owned(),
        reasoning_effort: Some(ReasoningEffort::Low),
        max_output_tokens: Some(4000),
        ..prompt([user([text("Plan a 3 step rollback.")])])
    };
    assert_eq!(encode("gpt-6-sol", &rules(thinker()), &prompt).1, expected);
}

#[test]
fn stop_texts_and_the_old_name_of_the_limit_are_sent_as_they_are() {
    let expected = example("openai", "request_long_stop_sequences.json");
    let prompt = Prompt {
        stop: serde_json::from_value(expected["stop"].clone()).unwrap(),
        max_output_tokens: Some(64),
        ..prompt([user([text("List the parts.")])])
    };
    let parameters =
        ParameterRules { max_tokens_field: MaxTokensField::MaxTokens, ..ParameterRules::default() };
    let (_, body) = encode::encode(VendorKind::OpenaiCompatible, "gpt-4o-mini", &rules(parameters), &prompt);
    assert_eq!(body, expected);
}

#[test]
fn tools_beside_reasoning_go_to_the_responses_surface() {
    let unsaid = ["/tool_choice", "/text"];
    let mut expected = without(example("openai", "request_reasoning_tools_responses_api.json"), &unsaid);
    let signature = r#"{"id":"rs_01","encrypted_content":"gAAAA-opaque"}"#.to_owned();
    let reasoning = |vendor: &str| {
        let (vendor, signature) = (vendor.to_owned(), Some(signature.clone()));
        Part::Reasoning(Reasoning { text: String::new(), signature, redacted: false, vendor })
    };
    let messages = [
        user([text("Weather in Oslo?")]),
        assistant([
            reasoning("openai"),
            reasoning("anthropic"),
            Part::ToolCall(call("call_h1", "lookup_weather", r#"{"town":"Oslo","unit":"c"}"#)),
        ]),
        user([Part::ToolResult(result("call_h1", "", r#"{"c":-3}"#))]),
    ];
    // Reasoning goes back before the call that it led to, and only to its writer.
    let item =
        json!({ "type": "reasoning", "id": "rs_01", "summary": [], "encrypted_content": "gAAAA-opaque" });
    expected["input"].as_array_mut().unwrap().insert(1, item);
    let prompt = Prompt {
        system: "Be brief.".to_owned(),
        tools: vec![weather(Some(true))],
        reasoning_effort: Some(ReasoningEffort::Medium),
        max_output_tokens: Some(2000),
        ..prompt(messages)
    };
    let (call, body) = encode_stream(VendorKind::Openai, "gpt-6-sol", &rules(thinker()), &prompt);
    assert_eq!(body, expected);
    assert_eq!(call.path, "/v1/responses");
}

#[test]
fn only_tools_beside_reasoning_need_the_responses_surface() {
    let facts = rules(thinker());
    let path = |prompt: &Prompt| encode("m", &facts, prompt).0.path;
    assert_eq!(path(&question()), "/v1/chat/completions");
    assert_eq!(path(&with_tools()), "/v1/responses", "it thinks by default");
    let quiet = Prompt { reasoning_effort: Some(ReasoningEffort::None), ..with_tools() };
    assert_eq!(path(&quiet), "/v1/chat/completions");
    assert_eq!(encode("m", &facts, &quiet).1["reasoning_effort"], "none");

    let always = ParameterRules { openai_endpoint: OpenAiEndpoint::Responses, ..ParameterRules::default() };
    assert_eq!(encode("m", &rules(always), &question()).0.path, "/v1/responses");
    let never = ParameterRules { openai_endpoint: OpenAiEndpoint::Chat, ..thinker() };
    assert_eq!(encode("m", &rules(never), &with_tools()).0.path, "/v1/chat/completions");
}

#[test]
fn tools_without_reasoning_say_so_where_the_model_has_the_word() {
    let parameters = ParameterRules { default_effort: None, ..thinker() };
    let (call, body) = encode("m", &rules(parameters), &with_tools());
    assert_eq!((call.path.as_str(), &body["reasoning_effort"]), ("/v1/chat/completions", &json!("none")));
    assert!(encode("m", &facts(), &with_tools()).1.get("reasoning_effort").is_none());
}

#[test]
fn an_effort_that_a_model_does_not_know_becomes_the_nearest() {
    let effort = |wish, parameters: ParameterRules| {
        let prompt = Prompt { reasoning_effort: Some(wish), ..question() };
        let (call, body) = encode("m", &rules(parameters), &prompt);
        (body.get("reasoning_effort").cloned(), !call.adjustments.is_empty())
    };
    let minimal = || ParameterRules {
        reasoning_efforts: vec![ReasoningEffort::Minimal, ReasoningEffort::High],
        ..thinker()
    };
    assert_eq!(effort(ReasoningEffort::Xhigh, thinker()), (Some(json!("high")), true));
    assert_eq!(effort(ReasoningEffort::Minimal, thinker()), (Some(json!("low")), true));
    assert_eq!(effort(ReasoningEffort::None, minimal()), (Some(json!("minimal")), true));
    assert_eq!(effort(ReasoningEffort::High, minimal()), (Some(json!("high")), false));
    assert_eq!(effort(ReasoningEffort::High, ParameterRules::default()), (None, true));
    assert_eq!(effort(ReasoningEffort::None, ParameterRules::default()), (None, false));
}

#[test]
fn what_a_model_refuses_is_dropped_and_told() {
    let refused = [
        Parameter::Temperature,
        Parameter::TopP,
        Parameter::PresencePenalty,
        Parameter::FrequencyPenalty,
        Parameter::Seed,
        Parameter::Stop,
        Parameter::ParallelToolCalls,
        Parameter::Metadata,
        Parameter::EndUser,
        Parameter::Strict,
        Parameter::ImageDetail,
    ];
    let parameters = ParameterRules { refused: refused.to_vec(), ..ParameterRules::default() };
    let image =
        Image { source: ImageSource::Url("https://example.org/a.jpg".to_owned()), detail: ImageDetail::High };
    let prompt = Prompt {
        sampling: Sampling {
            temperature: Some(1.0),
            top_p: Some(1.0),
            top_k: None,
            presence_penalty: Some(0.0),
            frequency_penalty: Some(0.0),
            seed: Some(1),
        },
        stop: vec!["x".to_owned()],
        tools: vec![weather(Some(true))],
        parallel_tool_calls: Some(false),
        metadata: [("a".to_owned(), "b".to_owned())].into(),
        end_user: "u".to_owned(),
        ..prompt([user([Part::Image(image)])])
    };
    let (call, body) = encode("m", &rules(parameters), &prompt);
    let mut told = adjusted(&call);
    let mut fields = refused.map(Parameter::field);
    told.sort_unstable();
    fields.sort_unstable();
    assert_eq!(told, fields);
    let image = json!([{ "type": "image_url", "image_url": { "url": "https://example.org/a.jpg" } }]);
    let function = json!({ "name": "lookup_weather", "description": "Current weather for a town",
        "parameters": serde_json::from_str::<Value>(WEATHER).unwrap() });
    let expected = json!({
        "model": "m",
        "messages": [{ "role": "user", "content": image }],
        "tools": [{ "type": "function", "function": function }],
        "store": false,
    });
    assert_eq!(body, expected);
}

#[test]
fn sampling_is_taken_only_while_not_thinking_where_a_model_says_so() {
    let with = |effort| Prompt {
        sampling: Sampling { temperature: Some(0.3), top_p: Some(0.5), ..Sampling::default() },
        reasoning_effort: effort,
        ..question()
    };
    let (call, body) = encode("m", &rules(thinker()), &with(None));
    assert_eq!(adjusted(&call), ["sampling.temperature", "sampling.top_p"]);
    assert!(body.get("temperature").is_none());
    let (call, body) = encode("m", &rules(thinker()), &with(Some(ReasoningEffort::None)));
    assert!(call.adjustments.is_empty());
    assert_eq!((&body["temperature"], &body["reasoning_effort"]), (&json!(0.3), &json!("none")));
}

#[test]
fn limits_of_the_vendor_are_kept_and_told() {
    let prompt = Prompt {
        stop: ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec(),
        metadata: [("k".to_owned(), "v".repeat(513)), ("ok".to_owned(), "ü".repeat(512))].into(),
        end_user: "u".repeat(129),
        sampling: Sampling { top_k: Some(4), ..Sampling::default() },
        max_output_tokens: Some(1_000_000),
        ..question()
    };
    let (call, body) = encode("m", &facts(), &prompt);
    let told = ["sampling.top_k", "max_output_tokens", "end_user", "stop", "metadata"];
    assert_eq!(adjusted(&call), told);
    assert_eq!(body["stop"], json!(["a", "b", "c", "d"]));
    assert_eq!(body["metadata"], json!({ "ok": "ü".repeat(512) }));
    assert_eq!(body["max_completion_tokens"], 64_000);
}

#[test]
fn json_mode_always_has_its_word_in_the_prompt() {
    let wish = |messages| Prompt { response_format: ResponseFormat::JsonObject, ..messages };
    let (call, body) = encode("m", &facts(), &wish(question()));
    assert_eq!(body["messages"][0], json!({ "role": "system", "content": "Answer with a JSON object." }));
    assert_eq!(body["response_format"], json!({ "type": "json_object" }));
    assert_eq!(adjusted(&call), ["response_format"]);
    let (call, body) = encode("m", &facts(), &wish(prompt([user([text("As Json, please")])])));
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    assert!(call.adjustments.is_empty());
}

#[test]
fn every_tool_choice_has_its_word() {
    let choices = [
        (ToolChoice::Auto, Value::Null, Value::Null),
        (ToolChoice::None, json!("none"), json!("none")),
        (ToolChoice::Required, json!("required"), json!("required")),
        (
            ToolChoice::Named("f".to_owned()),
            json!({ "type": "function", "function": { "name": "f" } }),
            json!({ "type": "function", "name": "f" }),
        ),
    ];
    for (tool_choice, chat, responses) in choices {
        let prompt = Prompt { tool_choice, ..with_tools() };
        assert_eq!(encode("m", &facts(), &prompt).1.get("tool_choice").unwrap_or(&Value::Null), &chat);
        let body = encode("m", &rules(thinker()), &prompt).1;
        assert_eq!(body.get("tool_choice").unwrap_or(&Value::Null), &responses);
    }
    let prompt = Prompt { tool_choice: ToolChoice::Required, parallel_tool_calls: Some(true), ..question() };
    let (_, body) = encode("m", &facts(), &prompt);
    assert!(
        body.get("tool_choice").is_none() && body.get("parallel_tool_calls").is_none(),
        "refused without tools"
    );
}

#[test]
fn the_responses_surface_tells_what_it_cannot_take() {
    let prompt = Prompt {
        sampling: Sampling {
            temperature: None,
            top_p: None,
            top_k: None,
            presence_penalty: Some(0.5),
            frequency_penalty: Some(0.5),
            seed: Some(1),
        },
        stop: vec!["x".to_owned()],
        max_output_tokens: Some(1),
        include_reasoning: true,
        response_format: ResponseFormat::JsonSchema {
            name: "s".to_owned(),
            schema: json("{}"),
            strict: false,
        },
        ..with_tools()
    };
    let (call, body) = encode("m", &rules(thinker()), &prompt);
    let told = [
        "sampling.presence_penalty",
        "sampling.frequency_penalty",
        "sampling.seed",
        "stop",
        "max_output_tokens",
    ];
    assert_eq!(adjusted(&call), told);
    assert_eq!(body["max_output_tokens"], 16);
    assert_eq!(body["reasoning"], json!({ "summary": "auto" }));
    assert_eq!(body["tools"][0]["strict"], false, "the default would be true");
    let format = json!({ "type": "json_schema", "name": "s", "schema": {}, "strict": false });
    assert_eq!(body["text"]["format"], format);
}

#[test]
fn a_compatible_server_gets_nothing_that_only_openai_takes() {
    let prompt = Prompt {
        end_user: "u".to_owned(),
        metadata: [("a".to_owned(), "b".to_owned())].into(),
        sampling: Sampling { top_k: Some(40), ..Sampling::default() },
        max_output_tokens: Some(9),
        ..question()
    };
    let (call, body) = compatible(&prompt);
    let messages = json!([{ "role": "user", "content": "Weather in Oslo?" }]);
    let expected = json!({ "model": "m", "messages": messages, "top_k": 40, "max_completion_tokens": 9 });
    assert_eq!(body, expected);
    assert_eq!(adjusted(&call), ["end_user", "metadata"]);
    let (_, body) = encode_stream(VendorKind::OpenaiCompatible, "m", &facts(), &question());
    assert_eq!(body["stream_options"], json!({ "include_usage": true }));
}

#[test]
fn a_tool_without_arguments_says_so() {
    let prompt = Prompt { tools: vec![tool("now", "", None)], ..question() };
    let (_, body) = compatible(&prompt);
    let parameters = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    assert_eq!(
        body["tools"],
        json!([{ "type": "function", "function": { "name": "now", "parameters": parameters } }])
    );
}

#[test]
fn parts_in_the_wrong_turn_are_an_invalid_request() {
    let url =
        Part::Image(Image { source: ImageSource::Url("https://x".to_owned()), detail: ImageDetail::Auto });
    let wrong = [
        prompt([assistant([url])]),
        prompt([user([Part::ToolCall(call("a", "f", "{}"))])]),
        prompt([assistant([Part::ToolResult(result("a", "f", "x"))])]),
    ];
    for prompt in wrong {
        for facts in
            [facts(), rules(ParameterRules { openai_endpoint: OpenAiEndpoint::Responses, ..thinker() })]
        {
            let context = EncodeContext { model: "m", facts: &facts, stream: false };
            let failure = codec_for(VendorKind::Openai).encode(context, &prompt).unwrap_err();
            assert_eq!(failure.reason, ErrorReason::InvalidRequest);
        }
    }
}

#[test]
fn texts_become_vectors_by_the_example() {
    let facts = facts();
    let context = EncodeContext { model: "text-embedding-3-small", facts: &facts, stream: false };
    let inputs = ["first text", "zweiter Text"].map(str::to_owned).to_vec();
    let request = EmbedRequest { inputs, dimensions: Some(4) };
    let mut expected = example("openai", "embeddings_request.json");
    let body = |kind| {
        let call = codec_for(kind).encode_embed(context, &request).unwrap();
        assert_eq!(call.path, "/v1/embeddings");
        serde_json::from_slice::<Value>(&call.body).unwrap()
    };
    assert_eq!(body(VendorKind::OpenaiCompatible), expected);
    expected["encoding_format"] = json!("base64");
    assert_eq!(body(VendorKind::Openai), expected, "half the bytes and no digits to parse");
}

#[test]
fn tokens_are_counted_of_all_that_counts() {
    let facts = rules(thinker());
    let context = EncodeContext { model: "m", facts: &facts, stream: true };
    let prompt = Prompt { system: "Be brief.".to_owned(), max_output_tokens: Some(9), ..question() };
    let call = codec_for(VendorKind::Openai).encode_count_tokens(context, &prompt).unwrap().unwrap();
    assert_eq!(call.path, "/v1/responses/input_tokens");
    let content = json!([{ "type": "input_text", "text": "Weather in Oslo?" }]);
    let input = json!([{ "role": "user", "content": content }]);
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(body, json!({ "model": "m", "instructions": "Be brief.", "input": input }));
    let none = codec_for(VendorKind::OpenaiCompatible).encode_count_tokens(context, &prompt).unwrap();
    assert_eq!(none, None);
}

#[test]
fn the_key_goes_into_the_authorization_header() {
    for kind in [VendorKind::Openai, VendorKind::OpenaiCompatible, VendorKind::Xai] {
        assert_eq!(codec_for(kind).credentials("k"), ("authorization", "Bearer k".to_owned()));
    }
    assert_eq!(codec_for(VendorKind::Openai).default_base_url(), Some("https://api.openai.com"));
    assert_eq!(codec_for(VendorKind::OpenaiCompatible).default_base_url(), None);
}
