//! The shapes that the SDKs do not show: exact bytes, order of events, and what is left out.

use crate::client::{post, send, start};
use serde_json::{Value, json};

fn user(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

#[tokio::test]
async fn the_same_request_gets_the_same_bytes() {
    let simulator = start().await;
    let body =
        json!({"model": "claude-sonnet-5-5", "max_tokens": 50, "stream": true, "messages": user("Hello")});
    let first = post(&simulator, "anthropic", "/v1/messages", &body).await;
    assert_eq!(first.body, post(&simulator, "anthropic", "/v1/messages", &body).await.body);
}

#[tokio::test]
async fn openai_streams_role_then_content_then_finish_then_usage_then_done() {
    let simulator = start().await;
    let body = json!({
        "model": "gpt-4o", "messages": user("Hi"), "stream": true, "stream_options": {"include_usage": true},
    });
    let seen = post(&simulator, "openai", "/v1/chat/completions", &body).await;
    let events = seen.events();
    assert_eq!(
        events[0]["choices"][0]["delta"],
        json!({"role": "assistant", "content": "", "refusal": null})
    );
    assert_eq!(events[1]["choices"][0]["delta"], json!({"content": "Simu"}));
    assert!(events[1]["usage"].is_null() && events[1].get("usage").is_some());
    assert!(events.iter().all(|event| event["obfuscation"].is_string()));
    let [.., finish, usage] = events.as_slice() else { panic!("too few events") };
    assert_eq!(
        (finish["choices"][0]["delta"].clone(), finish["choices"][0]["finish_reason"].as_str()),
        (json!({}), Some("stop"))
    );
    assert_eq!((usage["choices"].clone(), usage["usage"]["prompt_tokens"].as_u64()), (json!([]), Some(1)));
    assert!(seen.body.ends_with("\n\ndata: [DONE]\n\n"));
}

#[tokio::test]
async fn openai_counts_a_stream_only_when_asked_to() {
    let simulator = start().await;
    let body = json!({"model": "gpt-4o", "messages": user("Hi"), "stream": true});
    let seen = post(&simulator, "openai", "/v1/chat/completions", &body).await;
    assert!(seen.events().iter().all(|event| event.get("usage").is_none()));
}

#[tokio::test]
async fn openai_mixes_the_pieces_of_parallel_calls() {
    let simulator = start().await;
    let schema = json!({"type": "object", "required": ["town"], "properties": {"town": {"type": "string"}}});
    let tool = |name| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    let body = json!({"model": "gpt-4o", "messages": user("weather forecast"), "stream": true, "tools": [tool("weather"), tool("forecast")]});
    let events = post(&simulator, "openai", "/v1/chat/completions", &body).await.events();
    let indexes: Vec<u64> = events
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["tool_calls"][0]["index"].as_u64())
        .collect();
    assert_eq!(indexes[..6], [0, 1, 0, 1, 0, 1]);
}

#[tokio::test]
async fn anthropic_names_pads_and_pings() {
    let simulator = start().await;
    let body = json!({"model": "claude-sonnet-5-5", "max_tokens": 3, "stream": true, "messages": user("Hi")});
    let seen = post(&simulator, "anthropic", "/v1/messages", &body).await;
    let names: Vec<&str> = seen.body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    let delta = "content_block_delta";
    assert_eq!(
        names,
        [
            "message_start",
            "content_block_start",
            "ping",
            delta,
            delta,
            delta,
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    assert!(seen.body.contains("data: {\"type\": \"ping\"}\n\n"));
    assert!(seen.body.lines().any(|line| line.ends_with("  }")), "{}", seen.body);
    assert!(seen.header("request-id").unwrap().starts_with("req_"));
}

#[tokio::test]
async fn gemini_ends_lines_with_crlf_and_writes_blanks() {
    let simulator = start().await;
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": {"maxOutputTokens": 2}});
    let path = "/v1beta/models/gemini-3.8-flash:streamGenerateContent";
    let seen = post(&simulator, "gemini", &format!("{path}?alt=sse"), &body).await;
    assert!(
        seen.body.starts_with("data: {\"candidates\": [{") && seen.body.ends_with("}\r\n\r\n"),
        "{}",
        seen.body
    );
    assert_eq!(seen.header("content-disposition"), Some("attachment"));

    let array: Value = post(&simulator, "gemini", path, &body).await.json();
    assert_eq!(array.as_array().unwrap().len(), seen.events().len());
    assert_eq!(array[2]["candidates"][0]["finishReason"], "MAX_TOKENS");
}

#[tokio::test]
async fn gemini_names_the_unknown_field_and_wraps_errors_of_the_array_endpoint() {
    let simulator = start().await;
    let body = json!({"contents": [{"parts": [{"text": "Hi"}]}], "generationConfig": {"max_tokens": 2}});
    let seen =
        post(&simulator, "gemini", "/v1beta/models/gemini-3.8-flash:streamGenerateContent", &body).await;
    let violation = &seen.json()[0]["error"]["details"][0]["fieldViolations"][0];
    assert_eq!((seen.status, violation["field"].as_str()), (400, Some("generation_config")));
    let snake =
        json!({"contents": [{"parts": [{"text": "Hi"}]}], "generation_config": {"max_output_tokens": 2}});
    let seen = post(&simulator, "gemini", "/v1/models/gemini-3.8-flash:generateContent", &snake).await;
    assert_eq!(seen.json()["usageMetadata"]["candidatesTokenCount"], 2);
}

#[tokio::test]
async fn xai_sends_tool_calls_whole_and_repeats_the_role() {
    let simulator = start().await;
    let tools = json!([{"type": "function", "function": {"name": "clock"}}]);
    let body = json!({"model": "grok-4.3", "messages": user("clock"), "stream": true, "tools": tools});
    let events = post(&simulator, "xai", "/v1/chat/completions", &body).await.events();
    let delta = &events[0]["choices"][0]["delta"];
    assert_eq!(
        (delta["role"].as_str(), delta["tool_calls"][0]["function"]["arguments"].as_str()),
        (Some("assistant"), Some("{}"))
    );
    assert!(events.last().unwrap()["usage"]["num_sources_used"].is_u64());
    assert!(events.iter().all(|event| event.get("obfuscation").is_none()));
}

#[tokio::test]
async fn ollama_streams_unless_told_not_to() {
    let simulator = start().await;
    let seen = post(
        &simulator,
        "ollama",
        "/api/chat",
        &json!({"model": "qwen3:8b", "think": true, "messages": user("Hi")}),
    )
    .await;
    assert_eq!(seen.header("content-type"), Some("application/x-ndjson"));
    let lines: Vec<Value> = seen.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["message"], json!({"role": "assistant", "content": "", "thinking": "Thin"}));
    let last = lines.last().unwrap();
    assert_eq!((last["done"].as_bool(), last["done_reason"].as_str()), (Some(true), Some("stop")));
    let load = post(&simulator, "ollama", "/api/chat", &json!({"model": "qwen3:8b"})).await.json();
    assert_eq!(load["done_reason"], "load");
}

#[tokio::test]
async fn each_vendor_says_in_its_own_way_that_the_key_is_missing() {
    let simulator = start().await;
    let status = async |path: &str, body: Value| send(&simulator, "POST", path, &[], &body).await.unwrap();
    let body = json!({"model": "x"});
    assert_eq!(status("/openai/v1/chat/completions", body.clone()).await.status, 401);
    assert_eq!(
        status("/anthropic/v1/messages", body.clone()).await.json()["error"]["type"],
        "authentication_error"
    );
    assert_eq!(status("/xai/v1/chat/completions", body.clone()).await.json()["code"], "Unauthenticated");
    assert_eq!(status("/gemini/v1beta/models/gemini-3.8-flash:generateContent", body).await.status, 403);
}

#[tokio::test]
async fn anthropic_wants_its_version() {
    let simulator = start().await;
    let seen = send(&simulator, "POST", "/anthropic/v1/messages", &[("x-api-key", "key")], &json!({}))
        .await
        .unwrap();
    assert_eq!(seen.json()["error"]["message"], "anthropic-version: header is required");
}

#[tokio::test]
async fn arguments_and_structured_answers_fit_the_schema_they_were_made_for() {
    let simulator = start().await;
    let schema = json!({
        "type": "object", "required": ["id", "items", "owner", "kind"], "additionalProperties": false,
        "properties": {
            "id": {"type": "string", "format": "uuid"}, "kind": {"enum": ["a", "b"]},
            "items": {"type": "array", "minItems": 2, "items": {"type": "integer", "minimum": 10, "maximum": 12}},
            "owner": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]},
        },
        "$defs": {"person": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 20}}}},
    });
    let format = json!({"type": "json_schema", "json_schema": {"name": "thing", "schema": schema}});
    let body = json!({"model": "gpt-4o", "messages": user("Hi"), "response_format": format});
    let seen = post(&simulator, "openai", "/v1/chat/completions", &body).await.json();
    let made: Value =
        serde_json::from_str(seen["choices"][0]["message"]["content"].as_str().unwrap()).unwrap();
    assert!(jsonschema::is_valid(&schema, &made), "{made}");
}
