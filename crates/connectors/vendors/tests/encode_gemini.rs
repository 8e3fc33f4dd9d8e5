//! Prompts as Gemini requests, against the example requests.

mod encode;

use encode::{
    adjusted, assistant, call, encode_stream, example, facts, json, pixel, prompt, result, text, tool, user,
    without,
};
use serde_json::{Value, json};
use signalbox_types::{
    EmbedRequest, ErrorReason, FinishReason, Image, ImageDetail, ImageSource, ModelFacts, Part, Prompt,
    Reasoning, ReasoningEffort, ReasoningStyle, ResponseFormat, Sampling, ToolChoice, VendorKind,
};
use signalbox_vendors::{EncodeContext, EncodedCall, codec_for};

const WEATHER: &str = r#"{"type":"object","properties":{"town":{"type":"string"},"unit":{"type":"string","enum":["c","f"]}},"required":["town"]}"#;
const SUBJECT: &str =
    r#"{"type":"object","properties":{"subject":{"type":"string"}},"required":["subject"]}"#;

/// Generation 3 and later.
fn by_level() -> ModelFacts {
    let mut facts = facts();
    facts.parameters.reasoning = ReasoningStyle::GeminiLevel;
    facts.parameters.reasoning_efforts =
        vec![ReasoningEffort::Low, ReasoningEffort::Medium, ReasoningEffort::High];
    facts
}

/// Generation 2.5.
fn by_budget() -> ModelFacts {
    let mut facts = facts();
    facts.parameters.reasoning = ReasoningStyle::GeminiBudget;
    facts
}

fn encode(model: &str, facts: &ModelFacts, prompt: &Prompt) -> (EncodedCall, Value) {
    encode::encode(VendorKind::Gemini, model, facts, prompt)
}

fn question() -> Prompt {
    prompt([user([text("Hi")])])
}

fn subject() -> ResponseFormat {
    ResponseFormat::JsonSchema { name: "subject".to_owned(), schema: json(SUBJECT), strict: true }
}

#[test]
fn the_full_example_is_what_is_sent() {
    let prompt = Prompt {
        system: "Answer in the language of the question.".to_owned(),
        tools: vec![
            tool("lookup_weather", "Current weather for a town", Some(WEATHER)),
            tool("server_clock", "Time on the server", None),
        ],
        sampling: Sampling {
            temperature: Some(1.0),
            top_p: Some(0.9),
            top_k: Some(40),
            seed: Some(7),
            ..Sampling::default()
        },
        max_output_tokens: Some(800),
        stop: vec!["\n\nEND".to_owned()],
        response_format: subject(),
        reasoning_effort: Some(ReasoningEffort::Low),
        include_reasoning: true,
        ..prompt([user([pixel(), text("What is in this picture, and is it raining in Nîmes?")])])
    };
    let (call, body) = encode_stream(VendorKind::Gemini, "gemini-3.1-pro-preview", &by_level(), &prompt);
    // Defaults, and what is not Signalbox's to choose, are left unsaid.
    let unsaid =
        ["/toolConfig", "/generationConfig/candidateCount", "/safetySettings", "/serviceTier", "/store"];
    assert_eq!(body, without(example("gemini", "request_full.json"), &unsaid));
    assert_eq!(call.path, "/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse");
    assert_eq!(call.adjustments, []);
}

#[test]
fn a_named_tool_is_the_only_one_allowed_and_a_budget_of_zero_stops_thinking() {
    let schema = r#"{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#;
    let prompt = Prompt {
        tools: vec![tool("lookup_weather", "w", Some(schema))],
        tool_choice: ToolChoice::Named("lookup_weather".to_owned()),
        max_output_tokens: Some(256),
        reasoning_effort: Some(ReasoningEffort::None),
        ..prompt([user([text("Weather in Oslo")])])
    };
    let (call, body) = encode("gemini-2.5-flash", &by_budget(), &prompt);
    // The example says the schema in the OpenAPI form; we say the same in the other field, as JSON Schema.
    let mut expected = example("gemini", "request_forced_tool_2.5_budget.json");
    let declaration =
        expected.pointer_mut("/tools/0/functionDeclarations/0").unwrap().as_object_mut().unwrap();
    declaration.remove("parameters").unwrap();
    declaration.insert("parametersJsonSchema".to_owned(), serde_json::from_str(schema).unwrap());
    assert_eq!(body, expected);
    assert_eq!(call.path, "/v1beta/models/gemini-2.5-flash:generateContent");
    assert_eq!(call.adjustments, []);
}

#[test]
fn signatures_go_back_with_their_calls() {
    let mut first = call("fc-1", "lookup_weather", r#"{"town":"Lyon"}"#);
    first.signature = Some("gemini:EpwI+/9FcHdJb3BhcXVlKy8=".to_owned());
    let second = call("fc-2", "lookup_weather", r#"{"town":"Oslo"}"#);
    let mut failed = result("fc-2", "", "upstream timeout");
    failed.is_error = true;
    let prompt = Prompt {
        tools: vec![tool("lookup_weather", "Current weather for a town", Some(WEATHER))],
        ..prompt([
            user([text("Weather in Lyon and Oslo?")]),
            assistant([Part::ToolCall(first), Part::ToolCall(second)]),
            user([
                Part::ToolResult(result("fc-1", "lookup_weather", r#"{"c":14}"#)),
                Part::ToolResult(failed),
            ]),
        ])
    };
    let (call, body) = encode("gemini-4-argon", &by_level(), &prompt);
    assert_eq!(body, example("gemini", "request_tool_roundtrip_signature.json"));
    assert_eq!(call.adjustments, []);
}

#[test]
fn an_answer_goes_back_exactly_as_it_came() {
    let body = br#"{"candidates":[{"content":{"parts":[{"text":"Il pleut.","thoughtSignature":"c2ln"},
        {"functionCall":{"id":"fc-9","name":"t","args":{"a": 1}},"thoughtSignature":"Y2FsbA=="}]},"finishReason":"STOP"}]}"#;
    let answer = codec_for(VendorKind::Gemini).decode(body, None).unwrap();
    assert_eq!(answer.finish_reason, FinishReason::ToolCalls);
    let (_, request) = encode("m", &by_level(), &prompt([user([text("a")]), assistant(answer.parts)]));
    let sent: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(request["contents"][1]["parts"], sent["candidates"][0]["content"]["parts"]);
}

#[test]
fn calls_of_other_vendors_get_the_documented_stand_in_for_a_signature() {
    let mut foreign = call("call_0", "t", "{}");
    foreign.signature = Some("openai:fc_1".to_owned());
    let thought = Reasoning {
        text: "hm".to_owned(),
        signature: Some("s".to_owned()),
        redacted: false,
        vendor: "anthropic".to_owned(),
    };
    let messages = [
        user([text("a")]),
        assistant([
            Part::Reasoning(thought),
            Part::ToolCall(foreign),
            Part::ToolCall(call("call_1", "t", "{}")),
        ]),
    ];
    let parts =
        |facts: &ModelFacts| encode("m", facts, &prompt(messages.clone())).1["contents"][1]["parts"].clone();
    let call = |id: &str| json!({"functionCall": {"id": id, "name": "t", "args": {}}});
    let mut signed = call("call_0");
    signed["thoughtSignature"] = json!("skip_thought_signature_validator");
    assert_eq!(parts(&by_level()), json!([signed, call("call_1")]));
    assert_eq!(parts(&by_budget()), json!([call("call_0"), call("call_1")]));
}

#[test]
fn stop_texts_beyond_the_fifth_are_dropped_and_reported() {
    let expected = example("gemini", "request_long_stop_sequences.json");
    let mut stop: Vec<String> =
        serde_json::from_value(expected["generationConfig"]["stopSequences"].clone()).unwrap();
    let prompt =
        |stop| Prompt { stop, max_output_tokens: Some(64), ..prompt([user([text("List the parts.")])]) };
    let (call, body) = encode("gemini-2.5-flash", &by_budget(), &prompt(stop.clone()));
    assert_eq!(body, expected);
    assert_eq!(call.adjustments, []);
    stop.push("one more".to_owned());
    let (call, body) = encode("gemini-2.5-flash", &by_budget(), &prompt(stop));
    assert_eq!(body, expected);
    assert_eq!(adjusted(&call), ["stop"]);
}

#[test]
fn thinking_is_said_by_level_or_by_budget() {
    let config = |facts: &ModelFacts, effort| {
        let (call, body) = encode("m", facts, &Prompt { reasoning_effort: Some(effort), ..question() });
        (body["generationConfig"]["thinkingConfig"].clone(), call.adjustments.len())
    };
    assert_eq!(config(&by_level(), ReasoningEffort::Xhigh), (json!({"thinkingLevel": "high"}), 1));
    assert_eq!(config(&by_level(), ReasoningEffort::None), (json!({"thinkingLevel": "low"}), 1));
    assert_eq!(config(&by_budget(), ReasoningEffort::Medium), (json!({"thinkingBudget": 8192}), 0));
    let mut pro = by_budget();
    pro.parameters.always_reasons = true;
    pro.parameters.reasoning_efforts = vec![ReasoningEffort::Low, ReasoningEffort::High];
    assert_eq!(config(&pro, ReasoningEffort::None), (json!({"thinkingBudget": 1024}), 1));
    assert_eq!(config(&facts(), ReasoningEffort::High), (Value::Null, 1));
    let (_, body) = encode("m", &by_level(), &Prompt { include_reasoning: true, ..question() });
    assert_eq!(body["generationConfig"], json!({"thinkingConfig": {"includeThoughts": true}}));
}

#[test]
fn json_together_with_tools_is_asked_for_in_words_where_the_switch_is_refused() {
    let prompt = Prompt { tools: vec![tool("t", "", None)], response_format: subject(), ..question() };
    let (call, body) = encode("gemini-2.5-flash", &by_budget(), &prompt);
    assert_eq!(body.get("generationConfig"), None);
    assert!(body["systemInstruction"]["parts"][0]["text"].as_str().unwrap().contains(SUBJECT));
    assert_eq!(adjusted(&call), ["response_format"]);
    let (_, body) =
        encode("gemini-2.5-flash", &by_budget(), &Prompt { response_format: subject(), ..question() });
    assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
    let (_, body) =
        encode("m", &by_budget(), &Prompt { response_format: ResponseFormat::JsonObject, ..question() });
    assert_eq!(body["generationConfig"], json!({"responseMimeType": "application/json"}));
}

#[test]
fn results_are_objects_whatever_the_tool_gave() {
    let response = |content: &str| {
        let messages = [
            assistant([Part::ToolCall(call("c", "t", "{}"))]),
            user([Part::ToolResult(result("c", "", content))]),
        ];
        encode("m", &by_budget(), &prompt(messages)).1["contents"][1]["parts"][0]["functionResponse"].clone()
    };
    let sent = |output: Value| json!({"id": "c", "name": "t", "response": {"output": output}});
    assert_eq!(response("[1, 2]"), sent(json!([1, 2])));
    assert_eq!(response("14"), sent(json!("14")));
    assert_eq!(response("not {json"), sent(json!("not {json")));
    assert_eq!(response(""), sent(json!("")));
}

#[test]
fn an_image_at_an_address_is_file_data() {
    let source = ImageSource::Url("https://example.org/a.JPG?x=1.png".to_owned());
    let image = Part::Image(Image { source, detail: ImageDetail::High });
    let (call, body) = encode("m", &by_level(), &prompt([user([image])]));
    let data = json!({"mimeType": "image/jpeg", "fileUri": "https://example.org/a.JPG?x=1.png"});
    assert_eq!(body["contents"][0]["parts"], json!([{"fileData": data}]));
    assert_eq!(adjusted(&call), ["image.detail"]);
}

#[test]
fn what_the_vendor_has_no_word_for_is_reported() {
    let mut strict = tool("t", "", None);
    strict.strict = Some(true);
    let prompt = Prompt {
        tools: vec![strict],
        parallel_tool_calls: Some(false),
        sampling: Sampling {
            presence_penalty: Some(0.0),
            frequency_penalty: Some(0.5),
            seed: Some(1 << 40),
            ..Sampling::default()
        },
        end_user: "u".to_owned(),
        metadata: [("team".to_owned(), "news".to_owned())].into(),
        max_output_tokens: Some(100_000),
        ..question()
    };
    let (call, body) = encode("m", &by_level(), &prompt);
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 64_000}));
    let mut fields = adjusted(&call);
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "end_user",
            "max_output_tokens",
            "metadata",
            "parallel_tool_calls",
            "sampling.frequency_penalty",
            "sampling.seed",
            "tools.strict"
        ]
    );
}

#[test]
fn tokens_are_counted_over_the_same_prompt() {
    let facts = by_budget();
    let context = EncodeContext { model: "gemini-2.5-flash", facts: &facts, stream: false };
    let prompt = Prompt { system: "Be brief.".to_owned(), max_output_tokens: Some(7), ..question() };
    let call = codec_for(VendorKind::Gemini).encode_count_tokens(context, &prompt).unwrap().unwrap();
    assert_eq!(call.path, "/v1beta/models/gemini-2.5-flash:countTokens");
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(body, example("gemini", "count_tokens_request.json"));
}

#[test]
fn texts_are_embedded_as_a_batch() {
    let facts = facts();
    let context = EncodeContext { model: "gemini-embedding-001", facts: &facts, stream: false };
    let inputs = vec!["a".to_owned(), "b".to_owned()];
    let codec = codec_for(VendorKind::Gemini);
    let call =
        codec.encode_embed(context, &EmbedRequest { inputs: inputs.clone(), dimensions: None }).unwrap();
    assert_eq!(call.path, "/v1beta/models/gemini-embedding-001:batchEmbedContents");
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(body, example("gemini", "batch_embed_contents_request.json"));
    let many = EmbedRequest { inputs: vec!["a".to_owned(); 101], dimensions: None };
    assert_eq!(codec.encode_embed(context, &many).unwrap_err().reason, ErrorReason::RequestTooLarge);
    let call = codec.encode_embed(context, &EmbedRequest { inputs, dimensions: Some(4) }).unwrap();
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(body["requests"][1]["outputDimensionality"], 4);
}
