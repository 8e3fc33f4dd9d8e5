//! What servers that speak like OpenAI do besides what is written down.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is the failure message of a test"
)]

mod support;

use signalbox_types::{
    Completion, ErrorReason, Failure, FinishReason, ModelAnswer, Part, StreamEvent, ToolCallDelta,
    UsageSource, VendorKind,
};
use signalbox_vendors::codec_for;
use std::time::Duration;
use support::{Streamed, read_failure, read_stream};

/// Reads data lines as a compatible server's stream.
fn stream(data: &[&str]) -> Streamed {
    let body: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    read_stream(VendorKind::OpenaiCompatible, [body.as_bytes()])
}

fn events(data: &[&str]) -> Vec<StreamEvent> {
    let streamed = stream(data);
    assert_eq!(streamed.failure, None);
    streamed.events
}

fn failure(data: &[&str]) -> Failure {
    stream(data).failure.unwrap()
}

fn done(events: &[StreamEvent]) -> &Completion {
    match events.last() {
        Some(StreamEvent::Done(done)) => done,
        other => panic!("{other:?}"),
    }
}

fn chunk(delta: &str) -> String {
    format!(r#"{{"id":"c","model":"m","choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

fn finish(word: &str) -> String {
    format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{word}"}}]}}"#)
}

/// Each call's id, name and joined arguments, as a client puts them together.
fn calls(events: &[StreamEvent]) -> Vec<(String, String, String)> {
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for event in events {
        let StreamEvent::ToolCall(ToolCallDelta { index, id, name, arguments, .. }) = event else { continue };
        let index = usize::try_from(*index).unwrap();
        if index == calls.len() {
            assert!(!id.is_empty() && !name.is_empty(), "the first piece names the call");
            calls.push((id.clone(), name.clone(), String::new()));
        } else {
            assert!(id.is_empty() && name.is_empty(), "later pieces do not");
        }
        calls[index].2.push_str(arguments);
    }
    calls
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

fn decode(kind: VendorKind, body: &str) -> Result<ModelAnswer, Failure> {
    codec_for(kind).decode(body.as_bytes(), None)
}

#[test]
fn calls_that_all_have_index_0_are_told_apart_by_their_ids() {
    let events = events(&[
        &chunk(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#),
        &chunk(r#"{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{\"x\":"}}]}"#),
        &chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}"#),
        &finish("tool_calls"),
        "[DONE]",
    ]);
    assert_eq!(calls(&events), [call("a", "f", "{}"), call("b", "g", "{\"x\":1}")]);
}

#[test]
fn calls_without_index_and_id_get_both() {
    let events = events(&[
        &chunk(r#"{"tool_calls":[{"function":{"name":"f","arguments":""}}]}"#),
        &chunk(r#"{"tool_calls":[{"function":{"arguments":"{}"}}]}"#),
        &chunk(r#"{"tool_calls":[{"function":{"name":"f"}}]}"#),
        &finish("stop"),
        "[DONE]",
    ]);
    assert_eq!(calls(&events), [call("call_0", "f", "{}"), call("call_1", "f", "{}")]);
    assert_eq!(done(&events).finish_reason, FinishReason::ToolCalls);
}

#[test]
fn indexes_that_begin_above_0_become_dense() {
    let events = events(&[
        &chunk(r#"{"tool_calls":[{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#),
        &chunk(r#"{"tool_calls":[{"index":4,"id":"b","function":{"name":"f","arguments":"{}"}}]}"#),
        &finish("tool_calls"),
        "[DONE]",
    ]);
    assert_eq!(calls(&events), [call("a", "f", "{}"), call("b", "f", "{}")]);
}

#[test]
fn arguments_are_kept_whatever_their_form_and_order() {
    let events = events(&[
        &chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}"#),
        &chunk(r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":":1}"}}]}"#),
        &chunk(r#"{"tool_calls":[{"index":1,"id":"y","function":{"name":"g","arguments":{"b":2}}}]}"#),
        &chunk(r#"{"tool_calls":[{"index":2,"id":"z","function":{"name":"h","arguments":null}}]}"#),
        &finish("tool_calls"),
        "[DONE]",
    ]);
    let expected = [call("x", "f", "{\"a\":1}"), call("y", "g", "{\"b\":2}"), call("z", "h", "{}")];
    assert_eq!(calls(&events), expected);
}

#[test]
fn an_id_repeated_on_every_piece_is_one_call() {
    let piece = chunk(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}}]}"#);
    assert_eq!(calls(&events(&[&piece, &piece, &finish("stop"), "[DONE]"])), [call("a", "f", "11")]);
}

#[test]
fn a_finish_reason_is_never_invented() {
    for end in [vec!["[DONE]"], vec![], vec![r#"{"choices":[{"delta":{},"finish_reason":""}]}"#, "[DONE]"]] {
        let text = chunk(r#"{"content":"half"}"#);
        let data: Vec<&str> = std::iter::once(text.as_str()).chain(end).collect();
        let streamed = stream(&data);
        assert_eq!(streamed.events, [StreamEvent::Text("half".to_owned())]);
        assert_eq!(streamed.failure.unwrap().reason, ErrorReason::StreamTruncated);
    }
}

#[test]
fn an_empty_finish_reason_with_tool_calls_counts_only_once_the_stream_says_done() {
    let body = [
        chunk(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#),
        finish(""),
    ];
    let data = [body[0].as_str(), body[1].as_str()];
    assert_eq!(failure(&data).reason, ErrorReason::StreamTruncated);
    assert_eq!(done(&events(&[data[0], data[1], "[DONE]"])).finish_reason, FinishReason::ToolCalls);
}

#[test]
fn a_stream_may_end_with_neither_done_nor_a_blank_line() {
    let body = format!("data: {}\n\ndata: {}", chunk(r#"{"content":"x"}"#), finish("stop"));
    let streamed = read_stream(VendorKind::OpenaiCompatible, [body.as_bytes()]);
    assert_eq!(streamed.failure, None);
    assert_eq!(done(&streamed.events).finish_reason, FinishReason::Stop);
    assert_eq!((done(&streamed.events).id.as_str(), done(&streamed.events).model.as_str()), ("c", "m"));
}

#[test]
fn nothing_is_read_after_the_end() {
    let done = format!("data: {}\n\ndata: [DONE]\n\n", finish("stop"));
    let streamed = read_stream(VendorKind::OpenaiCompatible, [done.as_bytes(), b"data: {\"error\":{}}\n\n"]);
    assert_eq!((streamed.events.len(), streamed.failure), (1, None));
}

#[test]
fn a_word_not_known_is_passed_on() {
    let events = events(&[&finish("eos_token"), "[DONE]"]);
    assert_eq!(done(&events).finish_reason, FinishReason::Unknown);
    assert_eq!(done(&events).vendor_finish_reason, "eos_token");
}

#[test]
fn reasoning_has_two_names_and_may_be_no_text() {
    let events = events(&[
        &chunk(r#"{"reasoning_content":"a"}"#),
        &chunk(r#"{"reasoning":"b"}"#),
        &chunk(r#"{"reasoning":{"tokens":1},"content":"c"}"#),
        &finish("stop"),
        "[DONE]",
    ]);
    let texts: Vec<&str> = events
        .iter()
        .map(|event| match event {
            StreamEvent::Reasoning(delta) => delta.text.as_str(),
            StreamEvent::Text(text) => text,
            _ => "end",
        })
        .collect();
    assert_eq!(texts, ["a", "b", "c", "end"]);
}

#[test]
fn an_error_in_a_stream_is_known_in_every_shape() {
    let cases = [
        (r#"{"error":{"message":"m","type":"server_error","code":null}}"#, ErrorReason::VendorError),
        (r#"{"error":{"message":"m","code":429}}"#, ErrorReason::VendorRateLimited),
        (r#"{"error":{"message":"m","code":"rate_limit_exceeded"}}"#, ErrorReason::VendorRateLimited),
        (r#"{"error":{"message":"m","type":"overloaded_error"}}"#, ErrorReason::VendorOverloaded),
        (r#"{"error":"out of memory"}"#, ErrorReason::VendorError),
        (r#"{"error":{}}"#, ErrorReason::VendorError),
        (r#"{"object":"error","message":"m","code":503}"#, ErrorReason::VendorOverloaded),
        (r#"{"type":"error","message":"m","code":"server_is_overloaded"}"#, ErrorReason::VendorOverloaded),
        (r#"{"error":{"message":"m","type":"invalid_request_error"}}"#, ErrorReason::InvalidRequest),
    ];
    for (data, reason) in cases {
        assert_eq!(failure(&[&chunk(r#"{"content":"x"}"#), data]).reason, reason, "{data}");
        assert!(decode(VendorKind::OpenaiCompatible, data).is_err(), "{data}");
    }
}

#[test]
fn a_bare_error_after_the_events_is_not_lost() {
    let events = format!("data: {}\n\n", chunk(r#"{"content":"x"}"#));
    let body =
        format!("{events}{{\n  \"error\": {{\n    \"code\": 503,\n    \"message\": \"busy\"\n  }}\n}}\n");
    let failure = read_stream(VendorKind::OpenaiCompatible, body.as_bytes().chunks(5)).failure.unwrap();
    assert_eq!((failure.reason, failure.vendor_code.as_str()), (ErrorReason::VendorOverloaded, "503"));
}

#[test]
fn what_is_no_json_is_a_bad_response() {
    assert_eq!(failure(&["{", "[DONE]"]).reason, ErrorReason::VendorBadResponse);
    for body in
        ["", "<html>", "[]", "{}", r#"{"choices":[]}"#, r#"{"choices":[{"message":{"content":"x"}}]}"#]
    {
        let failure = decode(VendorKind::Openai, body).unwrap_err();
        assert_eq!(failure.reason, ErrorReason::VendorBadResponse, "{body}");
    }
}

#[test]
fn an_unreadable_answer_is_not_shown_in_the_message() {
    let failure = decode(VendorKind::Openai, r#"{"choices":"a private letter"}"#).unwrap_err();
    assert_eq!(failure.reason, ErrorReason::VendorBadResponse);
    assert!(!failure.message.contains("private"), "{}", failure.message);
}

#[test]
fn usage_on_several_chunks_is_the_last_and_an_absent_one_is_unknown() {
    let usage = |count: u32| {
        let counts = format!(r#""prompt_tokens":7,"completion_tokens":{count}"#);
        format!(r#"{{"choices":[],"usage":{{{counts}}}}}"#)
    };
    let with = events(&[&usage(1), &finish("stop"), &usage(2), &usage(3), "[DONE]"]);
    assert_eq!((done(&with).usage.input, done(&with).usage.output), (7, 3));
    for silent in ["{}", r#"{"usage":{}}"#, r#"{"usage":null}"#] {
        let without = events(&[silent, &finish("stop"), "[DONE]"]);
        assert_eq!(done(&without).usage.source, UsageSource::Unknown, "{silent}");
    }
}

#[test]
fn failures_of_other_servers_are_understood() {
    let cases: [(u16, &str, ErrorReason); 9] = [
        // llama.cpp
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            ErrorReason::ContextLengthExceeded,
        ),
        (
            503,
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            ErrorReason::VendorOverloaded,
        ),
        // vLLM, older and newer
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#,
            ErrorReason::ContextLengthExceeded,
        ),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist.","type":"NotFoundError","code":404}}"#,
            ErrorReason::VendorModelNotFound,
        ),
        // FastAPI
        (401, r#"{"detail":"Not authenticated"}"#, ErrorReason::VendorAuth),
        // Proxies
        (504, "<html><body>Gateway Timeout</body></html>", ErrorReason::VendorTimeout),
        (524, "", ErrorReason::VendorTimeout),
        (521, "", ErrorReason::VendorUnreachable),
        (400, "upstream says no", ErrorReason::InvalidRequest),
    ];
    for (status, body, reason) in cases {
        let failure = read_failure(VendorKind::OpenaiCompatible, status, &[], body.as_bytes());
        assert_eq!(failure.reason, reason, "{status} {body}");
        assert_eq!(failure.vendor_status, Some(status));
        assert!(!failure.message.contains('<'), "no page in the message: {}", failure.message);
    }
}

#[test]
fn a_rate_limit_without_retry_after_waits_for_the_exhausted_limit() {
    let headers = [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1m30s")];
    let body = br#"{"error":{"message":"slow","code":"rate_limit_exceeded"}}"#;
    let failure = read_failure(VendorKind::Openai, 429, &headers, body);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(90)));

    let quota = br#"{"error":{"message":"no credit","type":"insufficient_quota"}}"#;
    assert_eq!(read_failure(VendorKind::Openai, 429, &headers, quota).retry_after, None);
}

#[test]
fn a_refused_key_never_shows_in_the_message() {
    let body = br#"{"error":{"message":"Incorrect API key provided: sk-live-123","code":"invalid_api_key"}}"#;
    assert!(!read_failure(VendorKind::Openai, 401, &[], body).message.contains("sk-"));
    let body =
        br#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xai-123"}"#;
    assert!(!read_failure(VendorKind::Xai, 400, &[], body).message.contains("xai-"));
}

#[test]
fn vectors_come_in_the_order_of_their_indexes_and_complete() {
    let codec = codec_for(VendorKind::Openai);
    let body = br#"{"model":"e","data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}]}"#;
    assert_eq!(codec.decode_embed(body).unwrap().embeddings, [[1.0], [2.0]]);
    for body in [
        r#"{"data":[]}"#,
        r#"{"data":[{"index":1,"embedding":[2]}]}"#,
        r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}"#,
        r#"{"data":[{"index":0,"embedding":"AAA="}]}"#,
        r#"{"data":[{"index":0,"embedding":"?"}]}"#,
    ] {
        let failure = codec.decode_embed(body.as_bytes()).unwrap_err();
        assert_eq!(failure.reason, ErrorReason::VendorBadResponse, "{body}");
    }
}

#[test]
fn a_failed_response_is_a_failure_in_both_forms() {
    let response =
        r#"{"object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}"#;
    assert_eq!(decode(VendorKind::Openai, response).unwrap_err().reason, ErrorReason::VendorRateLimited);
    let event = format!(r#"{{"type":"response.failed","response":{response}}}"#);
    assert_eq!(failure(&[&event]).reason, ErrorReason::VendorRateLimited);
    let queued = r#"{"object":"response","status":"queued","error":null}"#;
    assert_eq!(decode(VendorKind::Openai, queued).unwrap_err().reason, ErrorReason::VendorError);
}

#[test]
fn a_responses_stream_without_its_last_event_is_truncated() {
    let created = r#"{"type":"response.created","response":{}}"#;
    let delta = r#"{"type":"response.output_text.delta","delta":"half"}"#;
    for data in [vec![created, delta], vec![created, delta, "[DONE]"]] {
        let streamed = stream(&data);
        assert_eq!(streamed.events, [StreamEvent::Text("half".to_owned())]);
        assert_eq!(streamed.failure.unwrap().reason, ErrorReason::StreamTruncated);
    }
}

#[test]
fn a_responses_stream_shows_summaries_refusals_and_late_arguments() {
    let events = events(&[
        r#"{"type":"response.reasoning_summary_part.added","summary_index":0}"#,
        r#"{"type":"response.reasoning_summary_text.delta","delta":"one"}"#,
        r#"{"type":"response.reasoning_summary_part.added","summary_index":1}"#,
        r#"{"type":"response.reasoning_summary_text.delta","delta":"two"}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"a","name":"f"}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"}}"#,
        r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","name":"g","arguments":""}}"#,
        r#"{"type":"response.something_new","delta":{}}"#,
        r#"{"type":"response.refusal.delta","delta":"No."}"#,
        r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}"#,
    ]);
    assert_eq!(calls(&events), [call("a", "f", "{\"x\":1}"), call("call_1", "g", "{}")]);
    let thoughts: String = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Reasoning(delta) => Some(delta.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(thoughts, "one\n\ntwo");
    assert_eq!(done(&events).finish_reason, FinishReason::ContentFilter);
}

#[test]
fn a_refusal_of_the_responses_surface_is_text_with_a_reason() {
    let body = r#"{"object":"response","status":"completed","output":[
        {"type":"message","content":[{"type":"refusal","refusal":"I will not."}]}]}"#;
    let answer = decode(VendorKind::Openai, body).unwrap();
    assert_eq!(answer.finish_reason, FinishReason::Refusal);
    assert_eq!(answer.parts, [Part::text("I will not.")]);
}
