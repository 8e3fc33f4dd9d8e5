//! Prompts as Anthropic requests, against the example requests.

mod encode;

use encode::{
    adjusted, assistant, call, encode_stream, example, facts, json, pixel, prompt, result, text, tool, user,
    without,
};
use serde_json::{Value, json};
use signalbox_types::{
    Adjustment, Capabilities, Capability, ErrorReason, FinishReason, ModelFacts, Parameter, Part, Prompt,
    Reasoning, ReasoningEffort, ReasoningStyle, ResponseFormat, Sampling, StreamEvent, ToolChoice,
    VendorKind,
};
use signalbox_vendors::{EncodeContext, EncodedCall, codec_for};

const WEATHER: &str = r#"{"type":"object","properties":{"town":{"type":"string"},"unit":{"type":"string","enum":["c","f"]}},"required":["town"]}"#;
const SUBJECT: &str = r#"{"type":"object","properties":{"subject":{"type":"string"}},"required":["subject"],"additionalProperties":false}"#;

/// A model of today: thinks as it sees fit, takes no sampling.
fn adaptive() -> ModelFacts {
    let mut facts = facts();
    facts.parameters.reasoning = ReasoningStyle::AnthropicAdaptive;
    facts.parameters.reasoning_efforts =
        vec![ReasoningEffort::Low, ReasoningEffort::Medium, ReasoningEffort::High];
    facts.parameters.refused = vec![Parameter::Temperature, Parameter::TopP, Parameter::TopK];
    facts
}

/// A model of generation 4.5: thinks by budget when asked to, takes sampling.
fn by_budget() -> ModelFacts {
    let mut facts = facts();
    facts.parameters.reasoning = ReasoningStyle::AnthropicBudget;
    facts
}

fn encode(model: &str, facts: &ModelFacts, prompt: &Prompt) -> (EncodedCall, Value) {
    encode::encode(VendorKind::Anthropic, model, facts, prompt)
}

fn version(call: &EncodedCall) -> Option<&str> {
    call.headers.iter().find(|(name, _)| *name == "anthropic-version").map(|(_, version)| version.as_str())
}

fn question() -> Prompt {
    prompt([user([text("Name three rivers.")])])
}

#[test]
fn the_full_example_is_what_is_sent() {
    let mut weather = tool("lookup_weather", "Current weather for a town", Some(WEATHER));
    weather.strict = Some(true);
    let prompt = Prompt {
        system: "Answer in the language of the question.".to_owned(),
        tools: vec![weather, tool("server_clock", "Time on the server", None)],
        parallel_tool_calls: Some(true),
        max_output_tokens: Some(4096),
        stop: vec!["\n\nEND".to_owned()],
        response_format: ResponseFormat::JsonSchema {
            name: "subject".to_owned(),
            schema: json(SUBJECT),
            strict: true,
        },
        reasoning_effort: Some(ReasoningEffort::Medium),
        include_reasoning: true,
        end_user: "u-5f1c".to_owned(),
        ..prompt([user([pixel(), text("What is in this picture, and is it raining in Nîmes?")])])
    };
    let (call, body) = encode_stream(VendorKind::Anthropic, "claude-sonnet-5-5", &adaptive(), &prompt);
    // Cache marks and the tier are not Signalbox's to choose; a system text without marks is a plain string.
    let mut expected = example("anthropic", "request_full_2026-10-21.json");
    expected = without(expected, &["/service_tier", "/tools/1/cache_control"]);
    expected["system"] = json!("Answer in the language of the question.");
    assert_eq!(body, expected);
    assert_eq!(call.path, "/v1/messages");
    assert_eq!(version(&call), Some("2026-10-21"));
    assert_eq!(call.adjustments, []);
}

#[test]
fn sampling_asks_for_the_older_version_of_the_api() {
    let prompt = Prompt {
        system: "Be brief.".to_owned(),
        sampling: Sampling { temperature: Some(0.2), top_k: Some(40), ..Sampling::default() },
        max_output_tokens: Some(1024),
        stop: vec!["4.".to_owned()],
        ..question()
    };
    let (call, body) = encode("claude-sonnet-4-6", &by_budget(), &prompt);
    assert_eq!(body, example("anthropic", "request_legacy_sampling_2023-06-01.json"));
    assert_eq!(version(&call), Some("2023-06-01"));
    assert_eq!(call.adjustments, []);
}

#[test]
fn sampling_that_a_model_refuses_is_dropped_and_reported() {
    let sampling = Sampling { temperature: Some(0.2), top_k: Some(40), ..Sampling::default() };
    let (call, body) = encode("claude-sonnet-5-5", &adaptive(), &Prompt { sampling, ..question() });
    assert_eq!(version(&call), Some("2026-10-21"));
    assert_eq!((body.get("temperature"), body.get("top_k")), (None, None));
    assert_eq!(adjusted(&call), ["sampling.temperature", "sampling.top_k"]);
}

#[test]
fn a_budget_is_set_by_effort() {
    let prompt = Prompt {
        max_output_tokens: Some(8000),
        reasoning_effort: Some(ReasoningEffort::Low),
        ..prompt([user([text("Plan a rollback.")])])
    };
    let (call, body) = encode("claude-haiku-4-5-20251001", &by_budget(), &prompt);
    assert_eq!(body, example("anthropic", "request_budget_thinking.json"));
    assert_eq!(call.adjustments, []);
}

#[test]
fn many_and_long_stop_texts_go_through() {
    let expected = example("anthropic", "request_long_stop_sequences.json");
    let stop = serde_json::from_value(expected["stop_sequences"].clone()).unwrap();
    let prompt = Prompt { stop, max_output_tokens: Some(64), ..prompt([user([text("List the parts.")])]) };
    let (call, body) = encode("claude-haiku-5-5", &adaptive(), &prompt);
    assert_eq!(body, expected);
    assert_eq!(call.adjustments, []);
}

#[test]
fn thinking_and_results_go_back_as_they_came() {
    let thought = |text: &str, signature: &str, redacted| {
        let (text, signature) = (text.to_owned(), Some(signature.to_owned()));
        Part::Reasoning(Reasoning { text, signature, redacted, vendor: "anthropic".to_owned() })
    };
    let mut failed = result("toolu_01b", "lookup_weather", "upstream timeout");
    failed.is_error = true;
    let mut weather = tool("lookup_weather", "Current weather for a town", Some(WEATHER));
    weather.strict = Some(true);
    let prompt = Prompt {
        tools: vec![weather],
        max_output_tokens: Some(4096),
        ..prompt([
            user([text("Weather in Lyon and Oslo?")]),
            assistant([
                thought("Two lookups.", "EqQBopaque==", false),
                thought("", "EmwKopaque==", true),
                Part::ToolCall(call("toolu_01a", "lookup_weather", r#"{"town":"Lyon"}"#)),
                Part::ToolCall(call("toolu_01b", "lookup_weather", r#"{"town":"Oslo"}"#)),
            ]),
            // The caller answers call by call, and with its own text in between.
            user([Part::ToolResult(result("toolu_01a", "", r#"{"c":14}"#))]),
            user([text("Answer with what you have."), Part::ToolResult(failed)]),
        ])
    };
    let (call, body) = encode("claude-opus-5-5", &adaptive(), &prompt);
    let mut expected = example("anthropic", "request_tool_roundtrip_with_thinking.json");
    // A text as content is the same as one text block.
    expected["messages"][2]["content"][1]["content"] = json!("upstream timeout");
    assert_eq!(body, expected);
    assert_eq!(call.adjustments, []);
}

#[test]
fn the_thinking_of_other_vendors_is_not_sent() {
    let foreign = Reasoning {
        text: "hm".to_owned(),
        signature: Some("sig".to_owned()),
        redacted: false,
        vendor: "gemini".to_owned(),
    };
    let prompt =
        prompt([user([text("a")]), assistant([Part::Reasoning(foreign), text("b")]), user([text("c")])]);
    let (_, body) = encode("claude-sonnet-5-5", &adaptive(), &prompt);
    assert_eq!(body["messages"][1], json!({"role": "assistant", "content": "b"}));
}

#[test]
fn the_output_limit_is_always_said_and_only_reported_when_lowered() {
    let limit = |facts: &ModelFacts, max_output_tokens, reasoning_effort| {
        let prompt = Prompt { max_output_tokens, reasoning_effort, ..question() };
        let (call, body) = encode("m", facts, &prompt);
        (body["max_tokens"].as_u64().unwrap(), adjusted(&call).contains(&"max_output_tokens"))
    };
    assert_eq!(limit(&by_budget(), None, None), (8192, false));
    assert_eq!(limit(&by_budget(), None, Some(ReasoningEffort::High)), (64_000, false));
    assert_eq!(limit(&by_budget(), Some(70_000), None), (64_000, true));
    assert_eq!(limit(&ModelFacts { max_output_tokens: 4096, ..by_budget() }, None, None), (4096, false));
    assert_eq!(
        limit(&ModelFacts { max_output_tokens: 0, ..by_budget() }, Some(99_999), None),
        (99_999, false)
    );
}

#[test]
fn a_budget_always_leaves_room_for_the_answer() {
    for (limit, budget) in [(1025, 1024), (2000, 1500), (4096, 3072), (64_000, 16_384)] {
        let reasoning_effort = Some(ReasoningEffort::High);
        let prompt = Prompt { max_output_tokens: Some(limit), reasoning_effort, ..question() };
        let (_, body) = encode("m", &by_budget(), &prompt);
        assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": budget}), "for {limit}");
    }
    let prompt =
        Prompt { max_output_tokens: Some(1024), reasoning_effort: Some(ReasoningEffort::High), ..question() };
    let (call, body) = encode("m", &by_budget(), &prompt);
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
    assert_eq!(adjusted(&call), ["reasoning_effort"]);
}

#[test]
fn a_model_that_always_thinks_is_never_told_not_to() {
    let mut always = adaptive();
    always.parameters.always_reasons = true;
    let prompt = Prompt { reasoning_effort: Some(ReasoningEffort::None), ..question() };
    let (call, body) = encode("claude-opus-5-5", &always, &prompt);
    assert_eq!(body["thinking"], json!({"type": "adaptive", "display": "omitted"}));
    assert_eq!(body["output_config"], json!({"effort": "low"}));
    assert_eq!(adjusted(&call), ["reasoning_effort"]);
    let (call, body) = encode("claude-sonnet-5", &adaptive(), &prompt);
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
    assert_eq!(call.adjustments, []);
}

#[test]
fn efforts_are_rounded_down_to_what_the_model_knows() {
    let effort = |effort| {
        let prompt = Prompt { reasoning_effort: Some(effort), ..question() };
        let (call, body) = encode("m", &adaptive(), &prompt);
        (body["output_config"]["effort"].as_str().unwrap().to_owned(), call.adjustments.len())
    };
    assert_eq!(effort(ReasoningEffort::Minimal), ("low".to_owned(), 1));
    assert_eq!(effort(ReasoningEffort::High), ("high".to_owned(), 0));
    assert_eq!(effort(ReasoningEffort::Max), ("high".to_owned(), 1));
}

#[test]
fn calls_made_without_this_vendors_thinking_turn_budget_thinking_off() {
    let prompt = Prompt {
        reasoning_effort: Some(ReasoningEffort::Low),
        ..prompt([
            user([text("a")]),
            assistant([Part::ToolCall(call("call_0", "t", "{}"))]),
            user([Part::ToolResult(result("call_0", "t", "1"))]),
        ])
    };
    let (call, body) = encode("m", &by_budget(), &prompt);
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
    assert_eq!(adjusted(&call), ["reasoning_effort"]);
    let (call, body) = encode("m", &adaptive(), &prompt);
    assert_eq!(body["thinking"]["type"], "adaptive");
    assert_eq!(call.adjustments, []);
}

#[test]
fn tools_are_forced_only_where_the_model_lets_them_be() {
    let choice = |facts: &ModelFacts, tool_choice, reasoning_effort, parallel_tool_calls| {
        let tools = vec![tool("t", "", None)];
        let prompt = Prompt { tools, tool_choice, reasoning_effort, parallel_tool_calls, ..question() };
        let (call, body) = encode("m", facts, &prompt);
        (body["tool_choice"].clone(), adjusted(&call).contains(&"tool_choice"))
    };
    let named = || ToolChoice::Named("t".to_owned());
    let able = adaptive();
    assert_eq!(choice(&able, ToolChoice::Auto, None, None), (Value::Null, false));
    assert_eq!(choice(&able, ToolChoice::None, None, Some(false)), (json!({"type": "none"}), false));
    assert_eq!(choice(&able, ToolChoice::Required, None, None), (json!({"type": "any"}), false));
    assert_eq!(choice(&able, named(), None, None), (json!({"type": "tool", "name": "t"}), false));
    let one = json!({"type": "auto", "disable_parallel_tool_use": true});
    assert_eq!(choice(&able, ToolChoice::Auto, None, Some(false)), (one, false));

    let auto = json!({"type": "auto"});
    assert_eq!(choice(&able, named(), Some(ReasoningEffort::Low), None), (auto.clone(), true));
    let unable = ModelFacts {
        capabilities: able
            .capabilities
            .without([Capability::ForcedTools].into_iter().collect::<Capabilities>()),
        ..able
    };
    assert_eq!(choice(&unable, ToolChoice::Required, None, None), (auto, true));
}

#[test]
fn thinking_that_nobody_asked_for_gives_way_to_a_forced_tool() {
    let mut thinker = adaptive();
    thinker.parameters.default_effort = Some(ReasoningEffort::High);
    let prompt = Prompt { tools: vec![tool("t", "", None)], tool_choice: ToolChoice::Required, ..question() };
    let (call, body) = encode("m", &thinker, &prompt);
    assert_eq!(body["tool_choice"], json!({"type": "any"}));
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
    assert_eq!(adjusted(&call), ["reasoning_effort"]);

    thinker.parameters.always_reasons = true;
    let (call, body) = encode("m", &thinker, &prompt);
    assert_eq!(body["tool_choice"], json!({"type": "auto"}));
    assert_eq!(adjusted(&call), ["tool_choice"]);
}

#[test]
fn a_model_without_schemas_answers_by_a_tool_it_must_call() {
    let mut old = by_budget();
    old.capabilities = old.capabilities.without([Capability::JsonSchema].into_iter().collect());
    let schema =
        || ResponseFormat::JsonSchema { name: "subject".to_owned(), schema: json(SUBJECT), strict: true };
    let prompt = Prompt { response_format: schema(), ..question() };
    let (call, body) = encode("claude-opus-4-1-20250805", &old, &prompt);
    assert_eq!(call.json_tool.as_deref(), Some("subject"));
    assert_eq!(body["tools"][0]["name"], "subject");
    assert_eq!(body["tools"][0]["input_schema"], serde_json::from_str::<Value>(SUBJECT).unwrap());
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "subject"}));
    assert_eq!(adjusted(&call), ["response_format"]);

    // While it thinks it cannot be forced, so it is asked.
    let thinking = Prompt { reasoning_effort: Some(ReasoningEffort::Low), ..prompt.clone() };
    let (call, body) = encode("claude-opus-4-1-20250805", &old, &thinking);
    assert_eq!(call.json_tool.as_deref(), Some("subject"));
    assert_eq!(body.get("tool_choice"), None);
    assert!(body["system"].as_str().unwrap().contains("`subject`"));

    // The caller's own tools stay within reach.
    let (_, body) = encode("m", &old, &Prompt { tools: vec![tool("t", "", None)], ..prompt });
    assert_eq!(body["tool_choice"], json!({"type": "any"}));
}

#[test]
fn the_arguments_of_the_answering_tool_are_the_answer() {
    let body = br#"{"id":"m","model":"c","content":[{"type":"tool_use","id":"x","name":"subject","input":{"subject": "a b"}}],
        "stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let answer = codec_for(VendorKind::Anthropic).decode(body, Some("subject")).unwrap();
    assert_eq!(answer.parts, [text(r#"{"subject":"a b"}"#)]);
    assert_eq!(answer.finish_reason, FinishReason::Stop);
    let other = codec_for(VendorKind::Anthropic).decode(body, None).unwrap();
    assert_eq!(other.finish_reason, FinishReason::ToolCalls);
}

#[test]
fn the_answering_tool_streams_as_text_beside_other_calls() {
    let start = |index: u32, name: &str| {
        let block = json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {}});
        json!({"type": "content_block_start", "index": index, "content_block": block})
    };
    let piece = |index: u32, text: &str| {
        let delta = json!({"type": "input_json_delta", "partial_json": text});
        json!({"type": "content_block_delta", "index": index, "delta": delta})
    };
    let read = |blocks: Vec<Value>| {
        let end = [
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}),
            json!({"type": "message_stop"}),
        ];
        let body: String = blocks.iter().chain(&end).map(|event| format!("data: {event}\n\n")).collect();
        let (mut decoder, mut events) =
            (codec_for(VendorKind::Anthropic).stream_decoder(Some("subject")), vec![]);
        decoder.feed(body.as_bytes(), &mut events).unwrap();
        decoder.finish(&mut events).unwrap();
        let Some(StreamEvent::Done(done)) = events.pop() else { panic!("no end") };
        (events, done.finish_reason)
    };
    let said = |text: &str| StreamEvent::Text(text.to_owned());
    let answer = vec![start(0, "subject"), piece(0, "{\"subject\":"), piece(0, "\"a b\"}")];
    assert_eq!(read(answer.clone()), (vec![said("{\"subject\":"), said("\"a b\"}")], FinishReason::Stop));

    let (events, finish_reason) = read([answer, vec![start(1, "clock")]].concat());
    assert_eq!(finish_reason, FinishReason::ToolCalls);
    let calls = events.iter().filter_map(|event| match event {
        StreamEvent::ToolCall(call) => Some((call.index, call.name.as_str(), call.arguments.as_str())),
        _ => None,
    });
    assert_eq!(calls.collect::<Vec<_>>(), [(0, "clock", ""), (0, "", "{}")]);
}

#[test]
fn a_json_object_is_asked_for_in_words() {
    let prompt =
        Prompt { system: "Be brief.".to_owned(), response_format: ResponseFormat::JsonObject, ..question() };
    let (call, body) = encode("m", &adaptive(), &prompt);
    let system = body["system"].as_str().unwrap();
    assert!(system.starts_with("Be brief.\n\n") && system.contains("JSON object"), "{system}");
    assert_eq!(adjusted(&call), ["response_format"]);
}

#[test]
fn what_the_vendor_has_no_word_for_is_reported() {
    let prompt = Prompt {
        sampling: Sampling {
            temperature: Some(1.7),
            top_p: Some(0.5),
            presence_penalty: Some(0.1),
            frequency_penalty: Some(0.1),
            seed: Some(7),
            ..Sampling::default()
        },
        stop: vec![" \n".to_owned(), "END".to_owned()],
        metadata: [("team".to_owned(), "news".to_owned())].into(),
        ..question()
    };
    let (call, body) = encode("claude-sonnet-4-6", &by_budget(), &prompt);
    assert_eq!((&body["temperature"], body.get("top_p")), (&json!(1.0), None));
    assert_eq!(body["stop_sequences"], json!(["END"]));
    let mut fields = adjusted(&call);
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "metadata",
            "sampling.frequency_penalty",
            "sampling.presence_penalty",
            "sampling.seed",
            "sampling.temperature",
            "sampling.top_p",
            "stop"
        ]
    );
    assert!(call.adjustments.contains(&Adjustment {
        field: "sampling.temperature".into(),
        description: "lowered to 1, the most this vendor takes".into(),
    }));
}

#[test]
fn ids_from_other_vendors_become_unique_in_the_conversation() {
    let turn = || {
        [
            assistant([Part::ToolCall(call("call_0", "t", ""))]),
            user([Part::ToolResult(result("call_0", "t", "1"))]),
        ]
    };
    let messages = [user([text("a")])].into_iter().chain(turn()).chain(turn());
    let (_, body) = encode("m", &adaptive(), &prompt(messages));
    let ids = [1, 3].map(|at| {
        (&body["messages"][at]["content"][0]["id"], &body["messages"][at + 1]["content"][0]["tool_use_id"])
    });
    assert_eq!(ids, [(&json!("call_0"), &json!("call_0")), (&json!("call_0_2"), &json!("call_0_2"))]);
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({}));
}

#[test]
fn arguments_that_are_no_object_are_refused_with_the_call_named() {
    let facts = adaptive();
    let context = EncodeContext { model: "m", facts: &facts, stream: false };
    for arguments in ["{\"town\":", "[1]", "\"x\""] {
        let messages = [user([text("a")]), assistant([Part::ToolCall(call("call_7", "lookup", arguments))])];
        let failure = codec_for(VendorKind::Anthropic).encode(context, &prompt(messages)).unwrap_err();
        assert_eq!(failure.reason, ErrorReason::InvalidRequest);
        assert!(failure.message.contains("call_7") && failure.message.contains("lookup"), "{failure}");
        assert_eq!(failure.violations[0].field, "messages.tool_call.arguments");
    }
}

#[test]
fn tokens_are_counted_over_the_same_prompt() {
    let mut weather = tool("lookup_weather", "Current weather for a town", Some(WEATHER));
    weather.strict = Some(true);
    let prompt = Prompt {
        system: "Be brief.".to_owned(),
        tools: vec![weather],
        stop: vec!["x".to_owned()],
        sampling: Sampling { temperature: Some(0.5), ..Sampling::default() },
        ..prompt([user([text("Hi")])])
    };
    let facts = by_budget();
    let context = EncodeContext { model: "claude-sonnet-5-5", facts: &facts, stream: true };
    let call = codec_for(VendorKind::Anthropic).encode_count_tokens(context, &prompt).unwrap().unwrap();
    assert_eq!(call.path, "/v1/messages/count_tokens");
    assert_eq!(version(&call), Some("2026-10-21"));
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(body, example("anthropic", "count_tokens_request.json"));
    assert_eq!(codec_for(VendorKind::Anthropic).decode_count_tokens(br#"{"input_tokens":403}"#), Ok(403));
}
