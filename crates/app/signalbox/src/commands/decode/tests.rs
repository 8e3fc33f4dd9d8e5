use super::*;
use clap::Parser;
use serde_json::Value;
use std::{path::PathBuf, time::Duration};

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: DecodeArgs,
}

fn args(words: &[&str]) -> DecodeArgs {
    Cli::try_parse_from(["decode"].iter().chain(words)).unwrap().args
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/vendors")
}

fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_953_600)
}

fn decode(args: &DecodeArgs, bytes: Vec<u8>) -> Result<String, CommandError> {
    let captured = captured::read(args, bytes)?;
    decoded(args.vendor, &captured, args.json_tool.as_deref(), noon())
}

fn decode_fixture(vendor: &str, name: &str) -> String {
    let path = fixtures().join(vendor).join(name);
    let args = args(&[vendor, path.to_str().unwrap()]);
    decode(&args, std::fs::read(path).unwrap()).unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_recorded_payload_is_shown_as_json() {
    for vendor in ["openai", "anthropic", "gemini", "xai", "ollama"] {
        for entry in std::fs::read_dir(fixtures().join(vendor)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let shown = decode_fixture(vendor, &name);
            let stream = name.ends_with(".sse") || name.ends_with(".ndjson");
            let shown = if stream { lines(&shown) } else { vec![value(&shown)] };
            assert!(!shown.is_empty() && shown.iter().all(Value::is_object), "{vendor}/{name}");
            let failed = |value: &Value| value.get("error").is_some();
            if name.starts_with("response_") {
                assert!(!failed(&shown[0]), "{vendor}/{name}: {}", shown[0]);
                let ended =
                    ["finishReason", "vendorFinishReason"].iter().any(|field| shown[0][field].is_string());
                assert!(ended, "{vendor}/{name}: {}", shown[0]);
            }
            if name.starts_with("error_") {
                assert!(shown[0]["error"]["reason"].is_string(), "{vendor}/{name}: {}", shown[0]);
            }
            if name.starts_with("stream_") && stream {
                let (last, before) = shown.split_last().unwrap();
                assert!(failed(last) || last.get("done").is_some(), "{vendor}/{name}: {last}");
                assert!(!before.iter().any(failed), "{vendor}/{name}");
            }
        }
    }
}

#[test]
fn a_recorded_error_brings_its_own_status_and_headers() {
    let error = value(&decode_fixture("openai", "error_429_rate_limit.json"))["error"].take();
    assert_eq!(error["code"], "UNAVAILABLE");
    assert_eq!(error["reason"], "VENDOR_RATE_LIMITED");
    assert_eq!(error["retryDelay"], "0.12s");
    assert_eq!(error["vendorStatus"], 429);
    assert_eq!(error["vendorRequestId"], "req_3b7f");
}

#[test]
fn a_bare_body_with_a_status_is_an_error_and_with_a_good_one_an_answer() {
    let body = br#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let shown = value(&decode(&args(&["anthropic", "-", "--status", "529"]), body.to_vec()).unwrap());
    assert_eq!(shown["error"]["reason"], "VENDOR_OVERLOADED");
    let answer = std::fs::read(fixtures().join("anthropic/response_stop_sequence.json")).unwrap();
    let shown = value(&decode(&args(&["anthropic", "-", "--status", "200"]), answer).unwrap());
    assert_eq!(shown["finishReason"], "FINISH_REASON_STOP_SEQUENCE");
}

#[test]
fn a_cut_stream_ends_with_the_error_and_what_was_counted() {
    let shown = decode_fixture("anthropic", "stream_cut_no_message_stop.sse");
    let last = lines(&shown).pop().unwrap();
    assert_eq!(last["error"]["reason"], "STREAM_TRUNCATED");
    assert_eq!(last["usage"]["source"], "SOURCE_VENDOR");
}

#[test]
fn a_stream_from_standard_input_is_read_as_one_when_asked() {
    let bytes = std::fs::read(fixtures().join("openai/stream_text_utf8.sse")).unwrap();
    let shown = lines(&decode(&args(&["openai", "-", "--stream"]), bytes).unwrap());
    assert!(shown[0]["textDelta"]["text"].is_string(), "{}", shown[0]);
    assert_eq!(shown.last().unwrap()["done"]["finishReason"], "FINISH_REASON_STOP");
}

#[test]
fn a_body_that_is_no_answer_is_shown_as_the_error_it_causes() {
    let shown = value(&decode(&args(&["openai", "-"]), b"<html>".to_vec()).unwrap());
    assert_eq!(shown["error"]["reason"], "VENDOR_BAD_RESPONSE");
}

#[test]
fn a_recorded_response_needs_no_headers() {
    let bytes = br#"{"status": 500, "body": {"error": {"message": "boom"}}}"#.to_vec();
    let error = value(&decode(&args(&["openai", "x.json"]), bytes).unwrap())["error"].take();
    assert_eq!((error["vendorStatus"].as_u64(), error["message"].is_string()), (Some(500), true));
}

#[test]
fn a_recorded_response_with_a_wrong_status_is_named() {
    let bytes = br#"{"status": "many", "headers": {}, "body": 1}"#.to_vec();
    let error = decode(&args(&["openai", "x.json"]), bytes).unwrap_err();
    assert_eq!(error.to_string(), "x.json: status: \"many\" is not an HTTP status");
}

#[test]
fn an_unknown_vendor_is_refused_with_those_that_are_known() {
    let error = Cli::try_parse_from(["decode", "mistral", "-"]).unwrap_err().to_string();
    assert!(error.contains("there are openai, anthropic, gemini, xai, ollama, openai-compatible"), "{error}");
}
