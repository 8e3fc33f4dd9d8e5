//! What goes wrong, goes wrong as it was asked to.

use crate::client::{Seen, headers, post, send, start};
use serde_json::{Value, json};
use signalbox_vendorsim::{Fault, Match, Outcome, Simulator, Times, Vendor};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

fn chat(model: &str, stream: bool) -> Value {
    json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": "Hello"}]})
}

async fn streamed(simulator: &Simulator, fault: &str) -> Seen {
    post(simulator, "openai", "/v1/chat/completions", &chat(&format!("gpt-4o~{fault}"), true)).await
}

fn contents(seen: &Seen) -> Vec<String> {
    let text = |event: &Value| event["choices"][0]["delta"]["content"].as_str().map(str::to_owned);
    seen.events().iter().filter_map(text).filter(|text| !text.is_empty()).collect()
}

#[tokio::test]
async fn a_cut_stream_breaks_off_in_the_middle_of_a_line_after_its_tokens() {
    let simulator = start().await;
    let seen = streamed(&simulator, "cut=2").await;
    assert!(!seen.whole);
    assert_eq!(
        seen.body.matches("\"content\":\"Simu\"").count() + seen.body.matches("\"content\":\"late\"").count(),
        2
    );
    assert!(!seen.body.ends_with('\n') && !seen.body.contains("[DONE]"), "{}", seen.body);
}

#[tokio::test]
async fn a_cut_after_no_tokens_still_sends_the_role() {
    let simulator = start().await;
    let seen = streamed(&simulator, "cut=0").await;
    assert!(!seen.whole && seen.body.contains("\"role\":\"assistant\""));
    assert!(!seen.body.contains("Simu"));
}

#[tokio::test]
async fn a_cut_unary_answer_is_shorter_than_promised() {
    let simulator = start().await;
    let seen = post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o~cut=1", false)).await;
    assert!(!seen.whole);
    let promised: usize = seen.header("content-length").unwrap().parse().unwrap();
    assert_eq!(seen.body.len(), promised / 2);
}

#[tokio::test]
async fn an_error_within_a_stream_comes_after_its_tokens_in_the_vendors_shape() {
    let simulator = start().await;
    let seen = streamed(&simulator, "error=2").await;
    assert_eq!(contents(&seen), ["Simu", "late"]);
    assert_eq!(seen.events().last().unwrap()["error"]["type"], "server_error");
    assert!(seen.whole && !seen.body.contains("[DONE]"));

    let gemini = "/v1beta/models/gemini-3.8-flash~error=1:streamGenerateContent?alt=sse";
    let seen = post(&simulator, "gemini", gemini, &json!({"contents": [{"parts": [{"text": "Hi"}]}]})).await;
    assert!(seen.body.ends_with("\r\n\r\n{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"This model is currently experiencing high demand.\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n"), "{}", seen.body);
}

#[tokio::test]
async fn a_vendor_that_is_down_closes_the_connection() {
    let simulator = start().await;
    simulator.set_fault(Match::vendor(Vendor::Xai), Fault::parse("down").unwrap(), Times::Always);
    let body = chat("grok-4.3", false);
    assert!(send(&simulator, "POST", "/xai/v1/chat/completions", &headers("xai"), &body).await.is_none());
    assert_eq!(post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o", false)).await.status, 200);
    simulator.clear_faults();
    assert_eq!(post(&simulator, "xai", "/v1/chat/completions", &body).await.status, 200);
}

#[tokio::test]
async fn oddities_leave_the_rest_of_the_answer_alone() {
    let simulator = start().await;
    let seen = streamed(&simulator, "no-finish,no-usage").await;
    assert!(seen.events().iter().all(|event| event["choices"][0]["finish_reason"].is_null()));
    assert!(seen.body.ends_with("data: [DONE]\n\n"));

    let tools = json!([{"type": "function", "function": {"name": "clock"}}, {"type": "function", "function": {"name": "watch"}}]);
    let mut body = chat("llama3.1:8b~dup-index,no-ids", false);
    body["tools"] = tools;
    body["messages"][0]["content"] = "clock and watch".into();
    body["stream"] = false.into();
    let calls = post(&simulator, "ollama", "/api/chat", &body).await.json()["message"]["tool_calls"].clone();
    assert_eq!(calls[1]["function"], json!({"index": 0, "name": "watch", "arguments": {}}));
    assert_eq!(calls[1].get("id"), None);
}

#[tokio::test(start_paused = true)]
async fn delays_are_kept_before_the_head_before_the_body_and_before_each_token() {
    let simulator = start().await;
    let started = tokio::time::Instant::now();
    let seen = streamed(&simulator, "delay=1000,first-byte=500,trickle=100").await;
    let expected = 1500 + 100 * contents(&seen).len() as u128;
    let elapsed = started.elapsed().as_millis();
    assert!((expected..expected + 100).contains(&elapsed), "{elapsed} ms, not {expected}");
}

#[tokio::test]
async fn a_status_of_401_has_the_vendors_words_for_it() {
    let simulator = start().await;
    let gemini = "/v1beta/models/gemini-3.8-flash~status=401:generateContent";
    assert_eq!(
        post(&simulator, "gemini", gemini, &json!({})).await.json()["error"]["status"],
        "UNAUTHENTICATED"
    );
    let seen = post(&simulator, "xai", "/v1/chat/completions", &chat("grok-4.3~status=401", false)).await;
    assert_eq!((seen.status, seen.json()["code"].as_str()), (401, Some("Unauthenticated")));
}

#[tokio::test]
async fn a_malformed_answer_is_no_json() {
    let simulator = start().await;
    let seen = post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o~malformed", false)).await;
    assert!(seen.status == 200 && serde_json::from_str::<Value>(&seen.body).is_err());
}

#[tokio::test]
async fn errors_come_in_each_vendors_words_with_its_headers() {
    let simulator = start().await;
    let gemini = "/v1beta/models/gemini-3.8-flash~status=429,retry-after=7:generateContent";
    let seen = post(&simulator, "gemini", gemini, &json!({})).await;
    assert_eq!((seen.status, seen.header("retry-after")), (429, None));
    assert_eq!(seen.json()["error"]["details"][1]["retryDelay"], "7s");

    let seen =
        post(&simulator, "anthropic", "/v1/messages", &json!({"model": "claude-sonnet-5-5~kind=overloaded"}))
            .await;
    assert_eq!((seen.status, seen.json()["error"]["type"].as_str()), (529, Some("overloaded_error")));

    let seen = post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o~kind=context", false)).await;
    assert_eq!((seen.status, seen.json()["error"]["code"].as_str()), (400, Some("context_length_exceeded")));

    let seen = post(&simulator, "xai", "/v1/chat/completions", &chat("grok-4.3~status=503", false)).await;
    assert_eq!(seen.json()["code"], "The service is currently unavailable");

    let seen = post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o~kind=html", false)).await;
    assert_eq!((seen.status, seen.header("content-type")), (502, Some("text/html")));
}

#[tokio::test]
async fn rate_limits_reset_when_the_clock_says() {
    let clock = || std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_796_000_000);
    let simulator = Simulator::builder().clock(clock).bind("127.0.0.1:0").await.unwrap();
    let body = json!({"model": "claude-sonnet-5-5~status=429,retry-after=21"});
    let seen = post(&simulator, "anthropic", "/v1/messages", &body).await;
    assert_eq!(seen.header("anthropic-ratelimit-requests-reset"), Some("2026-11-30T00:53:41Z"));
    assert_eq!(seen.header("retry-after"), Some("21"));
}

#[tokio::test]
async fn the_share_of_the_quota_that_is_left_is_told_in_each_vendors_headers() {
    let simulator = start().await;
    let seen = post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o", false)).await;
    assert_eq!(seen.header("x-ratelimit-remaining-requests"), Some("500"));
    let seen = post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o~quota=10", false)).await;
    assert_eq!(seen.header("x-ratelimit-limit-tokens"), Some("30000"));
    assert_eq!(seen.header("x-ratelimit-remaining-tokens"), Some("3000"));
    let seen = post(&simulator, "xai", "/v1/chat/completions", &chat("grok-4.3~quota=0", true)).await;
    assert_eq!((seen.status, seen.header("x-ratelimit-remaining-requests")), (200, Some("0")));
    let body = json!({"model": "claude-sonnet-5-5~quota=50", "max_tokens": 9, "messages": []});
    let seen = post(&simulator, "anthropic", "/v1/messages", &body).await;
    assert_eq!(seen.header("anthropic-ratelimit-output-tokens-remaining"), Some("8000"));
}

#[tokio::test]
async fn another_process_scripts_faults_and_reads_requests_over_http() {
    let simulator = start().await;
    let control = async |method: &str, path: &str, body: Value| {
        send(&simulator, method, &format!("/_sim/{path}"), &[], &body).await.unwrap()
    };
    let rule = json!({"vendor": "openai", "model": "gpt-4o", "fault": "status=500", "count": 1});
    assert_eq!(control("POST", "faults", rule).await.status, 201);
    for status in [500, 200] {
        let seen = post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o", false)).await;
        assert_eq!(seen.status, status);
    }
    assert_eq!(control("GET", "faults", Value::Null).await.json()["faults"][0]["struck"], 1);

    let log = control("GET", "requests", Value::Null).await.json();
    assert_eq!((log["total"].as_u64(), log["counts"]["openai"].as_u64()), (Some(2), Some(2)));
    let first = &log["requests"][0];
    assert_eq!((first["model"].as_str(), first["fault"].as_str()), (Some("gpt-4o"), Some("status=500")));
    assert_eq!((first["status"].as_u64(), first["outcome"].as_str()), (Some(500), Some("answered")));
    assert_eq!(first["headers"]["authorization"], "***");
    assert_eq!(first["body"]["messages"][0]["content"], "Hello");

    assert_eq!(control("POST", "faults", json!({"fault": "surprise"})).await.status, 400);
    control("DELETE", "requests", Value::Null).await;
    assert_eq!(control("GET", "requests", Value::Null).await.json()["total"], 0);
}

#[tokio::test]
async fn a_client_that_goes_away_is_noticed() {
    let simulator = start().await;
    let body = chat("gpt-4o~hang", true).to_string();
    let mut stream = TcpStream::connect(simulator.addr()).await.unwrap();
    let request = format!(
        "POST /openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let outcome = || simulator.requests().first().map(|request| request.outcome);
    while outcome().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(outcome(), Some(Outcome::Pending));
    drop(stream);
    while outcome() == Some(Outcome::Pending) {
        tokio::task::yield_now().await;
    }
    assert_eq!(outcome(), Some(Outcome::ClientGone));
}

#[tokio::test]
async fn the_header_goes_before_the_suffix_and_the_suffix_before_the_rules() {
    let simulator = start().await;
    simulator.set_fault(Match::default(), Fault::parse("status=500").unwrap(), Times::Always);
    let path = "/openai/v1/chat/completions";
    let by_header = [("authorization", "Bearer key"), ("x-vendorsim-fault", "status=403")];
    let body = chat("gpt-4o~status=404", false);
    assert_eq!(send(&simulator, "POST", path, &by_header, &body).await.unwrap().status, 403);
    assert_eq!(post(&simulator, "openai", "/v1/chat/completions", &body).await.status, 404);
    assert_eq!(post(&simulator, "openai", "/v1/chat/completions", &chat("gpt-4o", false)).await.status, 500);
}
