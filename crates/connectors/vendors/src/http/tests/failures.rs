//! Vendors that refuse, break off, or talk nonsense.

use super::*;

fn assert_no_secret(failure: &Failure) {
    let shown = format!("{failure} {failure:?}");
    assert!(!shown.contains("hunter2") && !shown.contains("stream="), "{shown}");
}

async fn failure_of(script: impl Into<Vec<Act>>) -> Failure {
    let server = Server::start(script).await;
    let failure = generate(&vendor(config(&server.url))).await.unwrap_err();
    assert_no_secret(&failure);
    failure
}

async fn stream_of(script: impl Into<Vec<Act>>) -> (Vec<String>, Option<Failure>) {
    let server = Server::start(script).await;
    let (events, failure) = events(stream(&vendor(config(&server.url))).await).await;
    failure.iter().for_each(assert_no_secret);
    (events, failure)
}

#[tokio::test]
async fn a_refused_connection_says_so_and_names_the_host() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = generate(&vendor(config(&format!("http://{address}")))).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::VendorUnreachable);
    assert_eq!(failure.message, format!("vendor `acme`: no connection to {address}: connection refused"));
    assert_no_secret(&failure);
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_says_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut connection, b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
    });
    let failure = generate(&vendor(config(&url))).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::VendorUnreachable);
    assert!(failure.message.contains(": TLS: "), "{failure}");
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_answer_is_unreachable() {
    let failure = failure_of([Act::Reset]).await;
    assert_eq!(failure.reason, ErrorReason::VendorUnreachable);
    assert!(failure.message.ends_with("connection reset"), "{failure}");

    let failure = failure_of([Act::Close]).await;
    assert_eq!(failure.reason, ErrorReason::VendorUnreachable);
    assert!(failure.message.ends_with("connection closed"), "{failure}");
}

#[tokio::test]
async fn what_is_not_http_is_a_bad_response() {
    let failure = failure_of([Act::Send("220 smtp ready\r\n\r\n".to_owned()), Act::Hang]).await;
    assert_eq!(failure.reason, ErrorReason::VendorBadResponse);
    assert!(failure.message.ends_with("what it sent is not HTTP"), "{failure}");
}

#[tokio::test]
async fn a_whole_answer_that_breaks_off_is_a_bad_response() {
    let failure = failure_of([chunked(), chunk("hello"), Act::Close]).await;
    assert_eq!(failure.reason, ErrorReason::VendorBadResponse);
    let message = "vendor `acme`: the answer broke off after 5 bytes: connection closed";
    assert_eq!((failure.message.as_str(), failure.vendor_request_id.as_str()), (message, "req-1"));
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_before_it_is_read() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 67108865\r\n\r\n";
    let failure = failure_of([Act::Send(head.to_owned()), Act::Hang]).await;
    assert_eq!(failure.reason, ErrorReason::VendorBadResponse);
    assert!(failure.message.contains("limit of 67108864 bytes"), "{failure}");
}

#[tokio::test]
async fn a_failure_status_is_read_by_the_codec_and_signed() {
    let failure = failure_of([answer(429, "slow down")]).await;
    assert_eq!((failure.reason, failure.message.as_str()), (ErrorReason::VendorError, "429 slow down"));
    assert_eq!((failure.vendor_status, failure.vendor_request_id.as_str()), (Some(429), "req-1"));
}

#[tokio::test]
async fn a_failure_status_counts_even_where_its_body_breaks_off() {
    let head = "HTTP/1.1 503 X\r\ncontent-length: 100\r\n\r\nover";
    let failure = failure_of([Act::Send(head.to_owned()), Act::Reset]).await;
    assert_eq!(failure.vendor_status, Some(503));
}

#[tokio::test]
async fn a_failure_status_is_told_though_its_body_never_comes() {
    let head = "HTTP/1.1 503 X\r\ncontent-length: 100\r\n\r\nover";
    let failure = failure_of([Act::Send(head.to_owned()), Act::Hang]).await;
    assert_eq!((failure.vendor_status, failure.message.as_str()), (Some(503), "503 over"));
}

#[tokio::test]
async fn a_vendor_that_repeats_our_key_does_not_give_it_away() {
    let failure = failure_of([answer(401, "you sent `authorization: Bearer sk-hunter2`")]).await;
    assert_eq!(failure.message, "401 you sent `authorization: Bearer <secret>`");
    let head = "HTTP/1.1 500 X\r\nx-request-id: sk-hunter2\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(failure_of([Act::Send(head.to_owned())]).await.vendor_request_id, "<secret>");
    let (_, failure) = stream_of([chunked(), chunk("one\n!sk-hunter2\n"), Act::Hang]).await;
    assert_eq!(failure.unwrap().message, "overloaded <secret>");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let redirect = "HTTP/1.1 307 X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(failure_of([Act::Send(redirect.to_owned())]).await.vendor_status, Some(307));
}

#[tokio::test]
async fn an_answer_that_cannot_be_decoded_is_signed() {
    let failure = failure_of([answer(200, "?")]).await;
    assert_eq!(failure.vendor_request_id, "req-1");
}

#[tokio::test]
async fn a_stream_that_breaks_off_gives_its_events_and_then_says_it_was_truncated() {
    for (last, cause) in [(Act::Reset, "connection reset"), (Act::Close, "connection closed")] {
        let (events, failure) = stream_of([chunked(), chunk("one\n"), last]).await;
        let failure = failure.unwrap();
        assert_eq!((events, failure.reason), (vec!["one".to_owned()], ErrorReason::StreamTruncated));
        assert_eq!(failure.message, format!("vendor `acme`: the stream broke off before its end: {cause}"));
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_its_end_is_truncated() {
    let (events, failure) = stream_of([chunked(), chunk("one\n"), end()]).await;
    assert_eq!((events, failure.unwrap().reason), (vec!["one".to_owned()], ErrorReason::StreamTruncated));
}

#[tokio::test]
async fn an_error_inside_a_stream_comes_after_the_events_before_it() {
    let (events, failure) = stream_of([chunked(), chunk("one\n!\ntwo\n"), Act::Hang]).await;
    assert_eq!(events, ["one"]);
    let failure = failure.unwrap();
    assert_eq!(
        (failure.reason, failure.vendor_request_id.as_str()),
        (ErrorReason::VendorOverloaded, "req-1")
    );
}

#[tokio::test]
async fn an_answer_that_has_said_why_it_ended_is_whole_though_the_connection_breaks() {
    for last in [Act::Close, Act::Reset] {
        let (events, failure) = stream_of([chunked(), chunk("one\nfin\n"), last]).await;
        assert_eq!((events.last().map(String::as_str), failure), (Some("done"), None));
    }
}
