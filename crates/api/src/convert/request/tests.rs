use super::*;
use crate::json;
use serde_json::{Value, json};

fn read_json(value: &Value) -> Result<GenerateRequest, Failure> {
    generate_request_from_proto(json::from_json(&value.to_string()).unwrap())
}

fn fields_at_fault(value: &Value) -> Vec<String> {
    read_json(value).unwrap_err().violations.into_iter().map(|violation| violation.field).collect()
}

fn user(part: Value) -> Value {
    json!({"role": "ROLE_USER", "content": [part]})
}

#[test]
fn an_empty_request_says_that_messages_are_missing() {
    let failure = read_json(&json!({})).unwrap_err();
    assert_eq!(failure.message, "messages: is empty; send at least one user message");
}

#[test]
fn every_field_at_fault_is_named_at_once() {
    let request = json!({
        "messages": [
            {"content": [{"text": "hi"}]},
            {"role": "ROLE_ASSISTANT", "content": [
                {"toolCall": {"id": "1", "name": "f", "arguments": "[1]"}},
                {"toolResult": {"toolCallId": "1"}}]},
            user(json!({"toolResult": {"toolCallId": "9"}})),
            user(json!({"image": {"url": "http://example.com/a.png"}})),
            user(json!({"image": {"data": "AAAA", "mediaType": "text/plain"}})),
            user(json!({"purpose": "PURPOSE_CONTENT"})),
        ],
        "maxOutputTokens": -1,
        "sampling": {"temperature": "NaN", "topP": 3},
        "stop": [""],
        "toolChoice": {"mode": "MODE_TOOL", "toolName": "g"},
        "responseFormat": {"jsonSchema": {"schema": "{"}},
        "model": "tier:gold",
        "locale": "it_IT",
        "timeout": "-3s",
        "lane": 7,
    });
    let expected = [
        "locale",
        "tool_choice.mode",
        "tool_choice.tool_name",
        "messages[0].role",
        "messages[1].content[0].tool_call.arguments",
        "messages[1].content[1].tool_result",
        "messages[2].content[0].tool_result.tool_call_id",
        "messages[3].content[0].image.url",
        "messages[4].content[0].image.media_type",
        "messages[5].content[0]",
        "sampling.temperature",
        "sampling.top_p",
        "max_output_tokens",
        "stop[0]",
        "response_format.json_schema.schema",
        "model",
        "lane",
        "timeout",
    ];
    let mut found = fields_at_fault(&request);
    let mut expected = expected.map(str::to_owned).to_vec();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn an_unknown_word_in_a_part_is_named_with_its_place() {
    let read = |part: v1::Part| {
        let message = v1::Message { role: v1::Role::User.into(), content: vec![v1::Part::default(), part] };
        generate_request_from_proto(v1::GenerateRequest { messages: vec![message], ..Default::default() })
    };
    let named = |part| read(part).unwrap_err().violations.pop().unwrap();
    let text = Some(v1::part::Part::Text("hi".to_owned()));
    let purpose = named(v1::Part { part: text, purpose: 9 });
    assert_eq!(purpose.field, "messages[0].content[1].purpose");
    assert_eq!(purpose.description, "9 is not a value this version knows");
    let image = v1::Image { detail: 9, ..v1::Image::default() };
    let image = read(v1::Part { part: Some(v1::part::Part::Image(image)), purpose: 0 }).unwrap_err();
    assert!(image.violations.iter().any(|it| it.field == "messages[0].content[1].image.detail"), "{image:?}");
}

#[test]
fn a_tool_result_learns_the_name_of_its_call() {
    let request = read_json(&json!({"messages": [
        user(json!({"text": "weather?"})),
        {"role": "ROLE_ASSISTANT", "content": [{"toolCall": {"id": "c1", "name": "weather"}}]},
        user(json!({"toolResult": {"toolCallId": "c1", "content": "sun"}})),
    ]}))
    .unwrap();
    let signalbox_types::Part::ToolResult(result) = &request.prompt.messages[2].parts[0] else { panic!() };
    assert_eq!(result.name, "weather");
    let signalbox_types::Part::ToolCall(call) = &request.prompt.messages[1].parts[0] else { panic!() };
    assert_eq!(call.arguments, "{}");
}

#[test]
fn a_full_request_survives_the_way_to_the_next_hop() {
    let request = read_json(&json!({
        "messages": [
            user(json!({"text": "look", "purpose": "PURPOSE_INSTRUCTION"})),
            {"role": "ROLE_ASSISTANT", "content": [
                {"reasoning": {"text": "hm", "signature": "s", "vendor": "anthropic"}},
                {"toolCall": {"id": "c1", "name": "f", "arguments": "{\"a\":1}", "signature": "x"}}]},
            {"role": "ROLE_USER", "content": [
                {"toolResult": {"toolCallId": "c1", "name": "f", "content": "no", "isError": true}},
                {"image": {"data": "AAAA", "mediaType": "image/png", "detail": "IMAGE_DETAIL_HIGH"}},
                {"image": {"url": "https://example.com/a.png"}}]},
        ],
        "system": "be brief",
        "tools": [{"name": "f", "description": "d", "parametersSchema": "{\"type\":\"object\"}", "strict": true}],
        "toolChoice": {"mode": "MODE_REQUIRED"},
        "parallelToolCalls": false,
        "sampling": {"temperature": 0.5, "seed": "7"},
        "maxOutputTokens": 9,
        "stop": ["END"],
        "responseFormat": {"jsonSchema": {"schema": "{\"type\":\"object\"}", "strict": true}},
        "reasoningEffort": "REASONING_EFFORT_LOW",
        "includeReasoning": true,
        "metadata": {"k": "v"},
        "endUser": "u",
        "model": "openai/gpt-6-luna",
        "taskType": "headline",
        "tenantId": "acme",
        "scene": "cms",
        "locale": "it-IT",
        "reference": "article 1",
        "requiredCapabilities": ["CAPABILITY_TOOLS"],
        "lane": "LANE_BATCH",
        "timeout": "3.5s",
        "cacheMode": "CACHE_MODE_BYPASS",
        "fallbackMode": "FALLBACK_MODE_DISABLED",
        "requestId": "r1",
    }))
    .unwrap();
    let again = generate_request_from_proto(generate_request_to_proto(request.clone())).unwrap();
    assert_eq!(again, request);
}

#[test]
fn requests_at_the_limits_are_taken_and_beyond_them_refused_with_the_limit() {
    let tools = |count: usize| (0..count).map(|at| json!({"name": format!("f{at}")})).collect::<Vec<_>>();
    let turns = |count: usize| {
        let turn = |at: usize| match at % 2 {
            0 => json!({"role": "ROLE_USER", "content": [{"text": "go on"}]}),
            _ => json!({"role": "ROLE_ASSISTANT", "content": [{"text": "and on"}]}),
        };
        (0..count).map(turn).collect::<Vec<_>>()
    };
    let parts = |count: usize| vec![json!({"text": "hi"}); count];
    let request = |tools: Vec<Value>, parts: Vec<Value>, messages: Vec<Value>| {
        let last = json!({"role": "ROLE_USER", "content": parts});
        let messages = [messages, vec![last]].concat();
        json!({ "tools": tools, "messages": messages })
    };
    read_json(&request(tools(512), parts(1000), turns(9999))).unwrap();
    for (request, expected) in [
        (request(tools(513), parts(1), turns(0)), "tools: has 513 tools, at most 512 are allowed"),
        (request(tools(0), parts(1001), turns(0)), "has 1001 parts, at most 1000 are allowed"),
        (request(tools(0), parts(1), turns(10_000)), "has 10001 messages, at most 10000 are allowed"),
    ] {
        let failure = read_json(&request).unwrap_err();
        assert!(failure.message.contains(expected), "{failure}");
    }
}

#[test]
fn a_hostile_number_of_calls_tools_and_faults_is_read_in_one_go() {
    let call = |at: usize| v1::Part {
        part: Some(v1::part::Part::ToolCall(v1::ToolCall { id: at.to_string(), ..Default::default() })),
        ..Default::default()
    };
    let result = |_| v1::Part {
        part: Some(v1::part::Part::ToolResult(v1::ToolResult {
            tool_call_id: "0".into(),
            ..Default::default()
        })),
        ..Default::default()
    };
    let wire = v1::GenerateRequest {
        messages: vec![
            v1::Message { role: v1::Role::Assistant as i32, content: (0..100_000).map(call).collect() },
            v1::Message { role: v1::Role::User as i32, content: (0..100_000).map(result).collect() },
        ],
        tools: vec![v1::Tool { name: "f".into(), ..Default::default() }; 100_000],
        required_capabilities: vec![99; 100_000],
        ..Default::default()
    };
    let failure = generate_request_from_proto(wire).unwrap_err();
    assert!(failure.message.ends_with("more)"), "{failure}");
    assert_eq!(failure.violations.len(), 20);
}

#[test]
fn values_are_quoted_short_however_long_they_are() {
    let long = "x".repeat(20_000);
    for request in [
        json!({"model": long}),
        json!({"model": format!("tier:{long}")}),
        json!({"model": format!("/{long}")}),
        json!({"metadata": {&long: "v"}}),
        json!({"tools": [{"name": long}, {"name": long}]}),
        json!({"tools": [{"name": "f"}], "toolChoice": {"mode": "MODE_TOOL", "toolName": long}}),
        json!({"tools": [{"name": "f", "parametersSchema": format!("{{\"type\":\"{long}\"}}")}]}),
    ] {
        let failure = read_json(&request).unwrap_err();
        assert!(failure.message.len() < 300, "{failure}");
        for violation in failure.violations {
            assert!(violation.field.len() + violation.description.len() < 200, "{violation:?}");
        }
    }
}

#[test]
fn what_the_contract_says_of_values_is_checked() {
    let with = |fields: Value| {
        let mut request = json!({"messages": [user(json!({"text": "hi"}))]});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        request
    };
    let tool =
        |schema: Value| with(json!({"tools": [{"name": "f", "parametersSchema": schema.to_string()}]}));
    let url = |url: &str| json!({"messages": [user(json!({"image": {"url": url}}))]});
    for good in [
        tool(json!({"type": "object"})),
        tool(json!({"properties": {}})),
        with(json!({"sampling": {"topP": 1}})),
        url("https://user@example.com:8443/a.png?b#c"),
        url("https://[::1]/a.png"),
    ] {
        read_json(&good).unwrap();
    }
    for (bad, field) in [
        (tool(json!({"type": "array"})), "tools[0].parameters_schema"),
        (tool(json!({"type": ["object", "null"]})), "tools[0].parameters_schema"),
        (with(json!({"sampling": {"topP": 0}})), "sampling.top_p"),
        (with(json!({"model": "openai/gpt\n"})), "model"),
        (with(json!({"model": "x".repeat(257)})), "model"),
        (url("https://"), "messages[0].content[0].image.url"),
        (url("https:///a.png"), "messages[0].content[0].image.url"),
        (url("https://:443/a.png"), "messages[0].content[0].image.url"),
        (url("https://user@/a.png"), "messages[0].content[0].image.url"),
        (url("https:// /a.png"), "messages[0].content[0].image.url"),
    ] {
        assert_eq!(fields_at_fault(&bad), [field], "{bad}");
    }
}

#[test]
fn an_id_may_come_again_in_a_later_turn_but_not_in_the_same() {
    let call = json!({"role": "ROLE_ASSISTANT", "content": [{"toolCall": {"id": "c", "name": "f"}}]});
    let result = user(json!({"toolResult": {"toolCallId": "c"}}));
    read_json(&json!({"messages": [call, result, call, result]})).unwrap();
    let twice = json!({"messages": [call, call, result]});
    assert_eq!(fields_at_fault(&twice), ["messages[1].content[0].tool_call.id"]);
}

#[test]
fn arguments_that_cannot_be_read_are_refused_with_the_reason() {
    let failure = read_json(&json!({"messages": [
        {"role": "ROLE_ASSISTANT", "content": [{"toolCall": {"id": "c", "name": "f", "arguments": "{\"a\":1e999}"}}]},
        user(json!({"text": "hi"})),
    ]}))
    .unwrap_err();
    assert!(failure.message.contains("has a number beyond 1.8e308"), "{failure}");
}
