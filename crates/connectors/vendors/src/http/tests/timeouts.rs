//! Each stage's limit, with servers that would never answer.

use super::*;

const SHORT: Duration = Duration::from_millis(200);

fn timeouts(change: impl FnOnce(&mut Timeouts)) -> impl FnOnce(&str) -> HttpVendor {
    move |url| {
        let mut config = config(url);
        change(&mut config.timeouts);
        vendor(config)
    }
}

fn assert_timeout(failure: &Failure, message: &str) {
    assert_eq!(failure.reason, ErrorReason::VendorTimeout);
    assert_eq!(failure.message, format!("vendor `acme`: {message}"));
}

#[tokio::test]
async fn a_vendor_that_never_answers_costs_one_first_byte_timeout_and_its_connection_is_closed() {
    let mut server = Server::start([Act::Hang]).await;
    let vendor = timeouts(|timeouts| timeouts.first_byte = SHORT)(&server.url);
    let failure = generate(&vendor).await.unwrap_err();
    assert_timeout(&failure, "no answer within 200ms (first_byte timeout)");
    server.client_gone().await;
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_stream_that_says_only_its_head_runs_into_the_first_byte_timeout() {
    let mut server = Server::start([chunked(), Act::Hang]).await;
    let vendor = timeouts(|timeouts| timeouts.first_byte = SHORT)(&server.url);
    let (events, failure) = events(stream(&vendor).await).await;
    assert!(events.is_empty());
    assert_timeout(&failure.unwrap(), "no answer within 200ms (first_byte timeout)");
    server.client_gone().await;
}

#[tokio::test]
async fn a_stream_that_stands_still_runs_into_the_idle_timeout_after_its_events() {
    let mut server = Server::start([chunked(), chunk("one\n"), Act::Hang]).await;
    let vendor = timeouts(|timeouts| timeouts.idle = SHORT)(&server.url);
    let (events, failure) = events(stream(&vendor).await).await;
    assert_eq!(events, ["one"]);
    assert_timeout(failure.as_ref().unwrap(), "the answer stood still for 200ms (idle timeout)");
    assert_eq!(failure.unwrap().vendor_request_id, "req-1");
    server.client_gone().await;
}

#[tokio::test]
async fn an_answer_that_stands_still_runs_into_the_idle_timeout() {
    let server = Server::start([chunked(), chunk("one\n"), Act::Hang]).await;
    let vendor = timeouts(|timeouts| timeouts.idle = SHORT)(&server.url);
    let failure = generate(&vendor).await.unwrap_err();
    assert_timeout(&failure, "the answer stood still for 200ms (idle timeout)");
}

#[tokio::test]
async fn a_stream_that_never_ends_runs_into_the_total_timeout() {
    let mut server = Server::start([chunked(), Act::Drip("4\r\none\n\r\n")]).await;
    let vendor = timeouts(|timeouts| timeouts.total = SHORT)(&server.url);
    let (events, failure) = events(stream(&vendor).await).await;
    assert!(!events.is_empty());
    assert_timeout(&failure.unwrap(), "the call took longer than 200ms (total timeout)");
    server.client_gone().await;
}

#[tokio::test]
async fn the_callers_own_time_holds_where_it_is_shorter() {
    let server = Server::start([Act::Hang]).await;
    let vendor = vendor(config(&server.url));
    let hurried = VendorTarget { timeout: Some(SHORT), ..target() };
    let failure = vendor.generate(hurried, &prompt()).await.unwrap_err();
    assert_timeout(&failure, "the call took longer than 200ms (total timeout)");
}

#[tokio::test]
async fn a_handshake_that_never_ends_runs_into_the_connect_timeout() {
    // Takes the connection, and never speaks TLS on it.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let vendor = timeouts(|timeouts| timeouts.connect = SHORT)(&url);
    let failure = generate(&vendor).await.unwrap_err();
    assert_timeout(&failure, "no connection within 200ms (connect timeout)");
}

#[tokio::test]
async fn time_to_connect_is_not_taken_from_the_time_for_the_first_byte() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let vendor = timeouts(|timeouts| {
        timeouts.first_byte = SHORT / 5;
        timeouts.connect = SHORT;
    })(&url);
    let failure = generate(&vendor).await.unwrap_err();
    assert_timeout(&failure, "no connection within 200ms (connect timeout)");
}

#[tokio::test]
async fn an_absurdly_long_limit_is_no_limit() {
    let server = Server::start([answer(200, "x")]).await;
    let vendor = timeouts(|timeouts| {
        let long = Duration::MAX;
        *timeouts = Timeouts { connect: long, first_byte: long, idle: long, total: long };
    })(&server.url);
    assert_eq!(generate(&vendor).await.unwrap(), "x");
}
