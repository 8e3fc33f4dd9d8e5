//! Against small servers on loopback that misbehave as vendors do.

mod codec;
mod failures;
mod server;
mod timeouts;

use super::{Bulkhead, HttpVendor, Timeouts, VendorConfig};
use codec::Lines;
use futures_util::{FutureExt, StreamExt};
use server::{Act, Server, answer, chunk, chunked, end};
use signalbox_ports::{BoxAnswerStream, VendorApi, VendorTarget};
use signalbox_types::{
    EmbedRequest, ErrorReason, Failure, ModelFacts, Part, Prompt, StreamEvent, VendorKind,
};
use std::{sync::LazyLock, time::Duration};

const KEY: &str = "sk-hunter2";
static FACTS: LazyLock<ModelFacts> = LazyLock::new(ModelFacts::default);

fn config(url: &str) -> VendorConfig {
    let long = Duration::from_secs(30);
    VendorConfig {
        name: "acme".to_owned(),
        kind: VendorKind::OpenaiCompatible,
        base_url: Some(url.to_owned()),
        api_key: Some(KEY.to_owned()),
        timeouts: Timeouts { connect: long, first_byte: long, idle: long, total: long },
        max_concurrency: 4,
        max_queue: 4,
        simulated: false,
    }
}

fn vendor(config: VendorConfig) -> HttpVendor {
    let bulkhead = Bulkhead::for_vendor(&config);
    HttpVendor::with_codec(&Lines, config, bulkhead).unwrap()
}

fn target() -> VendorTarget<'static> {
    VendorTarget { model: "m", facts: &FACTS, timeout: None }
}

fn prompt() -> Prompt {
    Prompt { system: "hello".to_owned(), ..Prompt::default() }
}

async fn generate(vendor: &HttpVendor) -> Result<String, Failure> {
    let reply = vendor.generate(target(), &prompt()).await?;
    match reply.value.parts.as_slice() {
        [Part::Text { text, .. }] => Ok(text.clone()),
        parts => panic!("not one text: {parts:?}"),
    }
}

async fn stream(vendor: &HttpVendor) -> BoxAnswerStream {
    vendor.stream(target(), &prompt()).await.unwrap().value
}

/// What a stream gave, and the reason of its failure where it failed.
async fn events(mut stream: BoxAnswerStream) -> (Vec<String>, Option<Failure>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(StreamEvent::Text(text)) => events.push(text),
            Ok(StreamEvent::Done(_)) => events.push("done".to_owned()),
            Ok(event) => panic!("{event:?}"),
            Err(failure) => {
                assert!(stream.next().await.is_none(), "a stream ends after its failure");
                return (events, Some(failure));
            }
        }
    }
    assert!(stream.next().await.is_none());
    (events, None)
}

#[tokio::test]
async fn what_arrives_together_is_passed_on_together() {
    let pieces = [chunked(), chunk("one\n"), chunk("two\n"), chunk("three\n")].map(|act| match act {
        Act::Send(text) => text,
        act => panic!("{act:?}"),
    });
    let server = Server::start([Act::Send(pieces.concat()), Act::Hang]).await;
    let mut events = stream(&vendor(config(&server.url))).await;
    assert_eq!(events.next().await.unwrap().unwrap(), StreamEvent::Text("one".to_owned()));
    let mut at_once = || events.next().now_or_never();
    assert_eq!(at_once().unwrap().unwrap().unwrap(), StreamEvent::Text("two".to_owned()));
    assert_eq!(at_once().unwrap().unwrap().unwrap(), StreamEvent::Text("three".to_owned()));
    assert!(at_once().is_none());
}

#[tokio::test]
async fn a_call_carries_key_and_headers_and_its_answer_is_decoded() {
    let mut server = Server::start([answer(200, "good day")]).await;
    let reply = vendor(config(&server.url)).generate(target(), &prompt()).await.unwrap();
    assert_eq!(reply.value.parts, [Part::text("good day")]);
    assert_eq!(reply.request_id, "req-1");
    assert_eq!(reply.adjustments[0].field, "stop");

    let request = server.request().await;
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "hello");
    let mut lines: Vec<_> = head.lines().collect();
    lines.sort_unstable();
    let (host, agent) = (
        format!("host: {}", server.url.trim_start_matches("http://")),
        concat!("user-agent: signalbox/", env!("CARGO_PKG_VERSION")),
    );
    assert_eq!(
        lines,
        [
            "POST /m?stream=false HTTP/1.1",
            "accept: */*",
            "authorization: Bearer sk-hunter2",
            "content-length: 5",
            "content-type: application/json",
            &host,
            agent,
            "x-version: 7",
        ]
    );
}

#[tokio::test]
async fn vectors_and_token_counts_go_the_same_way() {
    let mut server = Server::start([answer(200, "12345")]).await;
    let vendor = vendor(config(&server.url));
    let request = EmbedRequest { inputs: vec!["a".to_owned(), "b".to_owned()], dimensions: None };
    let reply = vendor.embed(target(), &request).await.unwrap();
    assert_eq!((reply.value.embeddings, reply.request_id), (vec![vec![5.0]], "req-1".to_owned()));
    assert!(server.request().await.ends_with("\r\n\r\na b"));
    assert_eq!(vendor.count_tokens(target(), &prompt()).await.unwrap(), Some(5));
    assert_eq!(
        vendor.count_tokens(target(), &Prompt::default()).await.unwrap(),
        None,
        "no such endpoint, no call"
    );
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_stream_gives_its_events_in_order_however_the_bytes_are_cut() {
    let script = [chunked(), chunk("one\ntw"), chunk("o\nthree\n"), chunk(".\n"), end()];
    let server = Server::start(script).await;
    let reply = vendor(config(&server.url)).stream(target(), &prompt()).await.unwrap();
    assert_eq!((reply.request_id.as_str(), reply.adjustments.len()), ("req-1", 1));
    assert!(reply.value.vendor_usage().is_none());
    assert_eq!(events(reply.value).await.0, ["one", "two", "three", "done"]);
}

#[tokio::test]
async fn what_the_vendor_reported_can_be_asked_of_a_stream_cut_short() {
    let server = Server::start([chunked(), chunk("one\n"), Act::Hang]).await;
    let mut stream = stream(&vendor(config(&server.url))).await;
    stream.next().await.unwrap().unwrap();
    assert_eq!(stream.vendor_usage().unwrap().output, 1);
}

// Sequential calls may overlap by a hair: a connection is given back a moment after its answer was read.
const CALLS: usize = 20;
const FEW: usize = 3;

#[tokio::test]
async fn connections_are_used_again_by_unary_calls() {
    let server = Server::start([answer(200, "x")]).await;
    let vendor = vendor(config(&server.url));
    for _ in 0..CALLS {
        generate(&vendor).await.unwrap();
    }
    assert!(server.accepted() <= FEW, "{} connections", server.accepted());
}

#[tokio::test]
async fn connections_are_used_again_by_streams() {
    let server = Server::start([chunked(), chunk("one\n"), chunk(".\n"), chunk("[rest]\n"), end()]).await;
    let vendor = vendor(config(&server.url));
    for _ in 0..CALLS {
        assert_eq!(events(stream(&vendor).await).await.0, ["one", "done"]);
    }
    assert!(server.accepted() <= FEW, "{} connections", server.accepted());
}

#[tokio::test]
async fn a_connection_is_used_again_though_its_end_comes_after_the_answers() {
    let server = Server::start([chunked(), chunk("one\n.\n"), Act::Await, end()]).await;
    let vendor = vendor(config(&server.url));
    for _ in 0..CALLS {
        assert_eq!(events(stream(&vendor).await).await.0, ["one", "done"]);
        server.go();
        // Both sides of the connection run on this thread: they get their turn here.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }
    assert!(server.accepted() <= FEW, "{} connections", server.accepted());
}

#[tokio::test]
async fn dropping_a_stream_closes_its_connection() {
    let mut server = Server::start([chunked(), chunk("one\n"), Act::Hang]).await;
    let mut stream = stream(&vendor(config(&server.url))).await;
    stream.next().await.unwrap().unwrap();
    drop(stream);
    server.client_gone().await;
}

#[tokio::test]
async fn dropping_a_stream_that_nobody_read_closes_its_connection() {
    let mut server = Server::start([chunked(), Act::Drip("4\r\none\n\r\n")]).await;
    drop(stream(&vendor(config(&server.url))).await);
    server.client_gone().await;
}

#[tokio::test]
async fn dropping_a_call_that_waits_for_its_answer_closes_its_connection() {
    let mut server = Server::start([Act::Hang]).await;
    let vendor = vendor(config(&server.url));
    tokio::select! {
        result = generate(&vendor) => panic!("{result:?}"),
        _ = server.request() => {}
    }
    server.client_gone().await;
}

#[tokio::test]
async fn a_stream_keeps_its_place_until_it_is_done_or_dropped() {
    let server = Server::start([chunked(), chunk("one\n"), Act::Await, chunk(".\n"), end()]).await;
    let config = VendorConfig { max_concurrency: 1, max_queue: 0, ..config(&server.url) };
    let vendor = vendor(config);
    let mut running = stream(&vendor).await;
    running.next().await.unwrap().unwrap();

    let failure = generate(&vendor).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::VendorBusy);
    assert_eq!(
        failure.message,
        "vendor `acme` is busy: 1 calls are under way (max_concurrency) and 0 wait (max_queue)"
    );

    server.go();
    assert!(matches!(running.next().await, Some(Ok(StreamEvent::Done(_)))));
    let dropped = stream(&vendor).await;
    drop(dropped);
    stream(&vendor).await;
}

#[tokio::test]
async fn a_call_in_the_queue_gives_up_when_its_own_time_is_over() {
    let server = Server::start([chunked(), Act::Hang]).await;
    let vendor = vendor(VendorConfig { max_concurrency: 1, ..config(&server.url) });
    let _running = stream(&vendor).await;
    let hurried = VendorTarget { timeout: Some(Duration::from_millis(20)), ..target() };
    let failure = vendor.generate(hurried, &prompt()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::VendorBusy);
    assert!(failure.message.contains("max_concurrency"), "{failure}");
}

#[tokio::test]
async fn one_bulkhead_holds_for_all_clients_of_a_vendor_entry() {
    let server = Server::start([chunked(), Act::Hang]).await;
    let config = VendorConfig { max_concurrency: 1, max_queue: 0, ..config(&server.url) };
    let bulkhead = Bulkhead::for_vendor(&config);
    let client = || HttpVendor::with_codec(&Lines, config.clone(), bulkhead.clone()).unwrap();
    let _running = stream(&client()).await;
    assert_eq!(generate(&client()).await.unwrap_err().reason, ErrorReason::VendorBusy);
    assert_eq!((bulkhead.in_flight(), bulkhead.waiting()), (1, 0));
}

#[test]
fn an_entry_that_cannot_work_is_refused_with_what_would_be_right() {
    let good = config("http://127.0.0.1:1");
    let zero = Timeouts { idle: Duration::ZERO, ..good.timeouts };
    for (bad, problem) in [
        (VendorConfig { base_url: None, ..good.clone() }, "base_url is missing"),
        (VendorConfig { base_url: Some("127.0.0.1".to_owned()), ..good.clone() }, "base_url is not a URL"),
        (VendorConfig { api_key: Some(format!("{KEY}\n")), ..good.clone() }, "api_key holds a line break"),
        (VendorConfig { api_key: Some(String::new()), ..good.clone() }, "api_key is empty"),
        (VendorConfig { max_concurrency: 0, ..good.clone() }, "max_concurrency is 0"),
        (VendorConfig { timeouts: zero, ..good }, "timeouts.idle is zero"),
    ] {
        let bulkhead = Bulkhead::for_vendor(&bad);
        let error = HttpVendor::with_codec(&Lines, bad, bulkhead).unwrap_err().to_string();
        assert!(error.starts_with(&format!("vendor `acme`: {problem}")) && !error.contains(KEY), "{error}");
    }
}

#[test]
fn no_secret_shows_in_debug_output() {
    let config = VendorConfig { base_url: Some("http://127.0.0.1:1".to_owned()), ..config("") };
    let shown = format!("{config:?} {:?}", vendor(config.clone()));
    assert!(shown.contains("127.0.0.1:1") && !shown.contains("hunter2"), "{shown}");
    let config = VendorConfig { base_url: Some("https://user:hunter2@vendor.example".to_owned()), ..config };
    assert!(!format!("{config:?}").contains("hunter2"));
}

/// Runs the first test of this file once more, in an environment that names a proxy which is not there.
#[test]
fn this_machine_is_never_reached_through_a_proxy() {
    let test = format!("{}::a_call_carries_key_and_headers_and_its_answer_is_decoded", module_path!());
    let (_, test) = test.split_once("::").unwrap();
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact"])
        .envs(["http_proxy", "HTTP_PROXY", "ALL_PROXY"].map(|name| (name, "http://127.0.0.1:1")))
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && output.contains("1 passed"), "{output}");
}
