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
