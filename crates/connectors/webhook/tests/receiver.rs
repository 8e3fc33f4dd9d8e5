//! Posts to a receiver on this machine.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

use axum::{Router, body::Bytes, http::HeaderMap, http::StatusCode, routing::post};
use signalbox_api::v1::{Alert, alert::State};
use signalbox_kit::FixedClock;
use signalbox_ports::{AlertHook, AlertNews, NotTold};
use signalbox_webhook::{Webhook, WebhookOptions};
use std::{
    future::pending,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};
use tokio::{net::TcpListener, sync::mpsc};

type Post = (HeaderMap, Bytes);

/// A receiver that answers with this, and what it hears.
async fn receiver(status: StatusCode) -> (String, mpsc::UnboundedReceiver<Post>) {
    let (heard, posts) = mpsc::unbounded_channel();
    let take = async move |headers: HeaderMap, body: Bytes| {
        heard.send((headers, body)).unwrap();
        status
    };
    serve(Router::new().route("/hook", post(take)), posts).await
}

async fn serve<T>(router: Router, posts: T) -> (String, T) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, posts)
}

fn webhook(url: String, secret: Option<&str>) -> Webhook {
    let options =
        WebhookOptions { url, secret: secret.map(str::to_owned), timeout: Duration::from_millis(500) };
    let clock = FixedClock(UNIX_EPOCH + Duration::from_secs(1_795_953_600));
    Webhook::new(options, Arc::new(clock)).unwrap()
}

fn news() -> AlertNews {
    let alert = Alert {
        alert_id: "failing-now/openai/gpt/29932560".to_owned(),
        rule: "failing-now".to_owned(),
        vendor: "openai".to_owned(),
        model: "gpt".to_owned(),
        state: State::Open as i32,
        observed: 0.6,
        description: "The failure rate of openai/gpt is 60.0 % where 1.5 % is usual.".to_owned(),
        ..Alert::default()
    };
    AlertNews { id: "failing-now/openai/gpt/29932560-open".to_owned(), alert }
}

#[tokio::test]
async fn a_post_tells_the_alert_in_json_and_is_signed() {
    let (url, mut posts) = receiver(StatusCode::NO_CONTENT).await;
    webhook(url, Some("k3y")).post(&news()).await.unwrap();
    let (headers, body) = posts.recv().await.unwrap();
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let expected = serde_json::json!({
        "version": 1,
        "id": "failing-now/openai/gpt/29932560-open",
        "text": "The failure rate of openai/gpt is 60.0 % where 1.5 % is usual.",
        "alert": {
            "alertId": "failing-now/openai/gpt/29932560",
            "rule": "failing-now",
            "vendor": "openai",
            "model": "gpt",
            "state": "STATE_OPEN",
            "observed": 0.6,
            "description": "The failure rate of openai/gpt is 60.0 % where 1.5 % is usual.",
        },
    });
    assert_eq!(body, expected);
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(headers["signalbox-delivery"], "failing-now/openai/gpt/29932560-open");
    let signature = headers["signalbox-signature"].to_str().unwrap();
    assert!(signature.starts_with("t=1795953600,v1=") && signature.len() == 16 + 64, "{signature}");
}

#[tokio::test]
async fn without_a_secret_nothing_is_signed() {
    let (url, mut posts) = receiver(StatusCode::OK).await;
    webhook(url, None).post(&news()).await.unwrap();
    assert_eq!(posts.recv().await.unwrap().0.get("signalbox-signature"), None);
}

#[tokio::test]
async fn a_receiver_that_is_ill_may_be_told_again_and_one_that_refuses_may_not() {
    for status in [StatusCode::BAD_GATEWAY, StatusCode::TOO_MANY_REQUESTS] {
        let (url, _posts) = receiver(status).await;
        let told = webhook(url, None).post(&news()).await.unwrap_err();
        assert_eq!(told, NotTold::Yet(format!("it answers {status}")));
    }
    for status in [StatusCode::NOT_FOUND, StatusCode::FOUND] {
        let (url, _posts) = receiver(status).await;
        let told = webhook(url, None).post(&news()).await.unwrap_err();
        assert_eq!(told, NotTold::Ever(format!("it answers {status}")));
    }
}

#[tokio::test]
async fn a_receiver_that_is_silent_or_gone_is_told_of_without_its_address() {
    let silent = Router::new().route("/hook", post(async || pending::<StatusCode>().await));
    let (url, ()) = serve(silent, ()).await;
    let told = webhook(url, None).post(&news()).await.unwrap_err();
    assert_eq!(told, NotTold::Yet("no answer within 500 ms".to_owned()));

    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let hook = webhook(format!("http://{free}/s3cr3t"), Some("k3y"));
    let told = hook.post(&news()).await.unwrap_err();
    assert_eq!(told, NotTold::Yet("it cannot be reached".to_owned()));
    let shown = format!("{hook:?}");
    assert!(!shown.contains("s3cr3t") && !shown.contains("k3y"), "{shown}");
}
