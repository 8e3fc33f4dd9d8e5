//! A vendor that fails raises an alert, and mended it closes: seen in the list, in the metrics and by a webhook.

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use futures_util::future::join_all;
use serde_json::{Value, json};
use signalbox_api::v1::{
    Alert, GenerateRequest, ListAlertsRequest, alert, usage_service_client::UsageServiceClient,
};
use signalbox_testkit::{KEYS, Topology, World, ask::request, eventually, eventually_some};
use signalbox_vendorsim::Vendor;
use std::{
    future::{Ready, ready},
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

const LUNA: &str = "openai/gpt-6-luna";

/// A receiver of posts.
#[derive(Debug, Clone, Default)]
struct Receiver(Arc<Mutex<Vec<(HeaderMap, Value)>>>);

impl Receiver {
    /// Listens; gives its address, too.
    async fn listen() -> (Self, String) {
        let receiver = Self::default();
        let router = Router::new().route("/alerts", post(Self::take)).with_state(receiver.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/alerts", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (receiver, url)
    }

    fn take(State(receiver): State<Self>, headers: HeaderMap, body: Bytes) -> Ready<()> {
        let body = serde_json::from_slice(&body).unwrap();
        receiver.0.lock().unwrap().push((headers, body));
        ready(())
    }

    /// The post that tells this state.
    async fn told(&self, state: &str) -> (HeaderMap, Value) {
        let posts = || self.0.lock().unwrap().iter().find(|post| post.1["alert"]["state"] == state).cloned();
        eventually_some("the webhook is told", || async { posts() }).await
    }
}

async fn alerts(world: &World, states: &[alert::State]) -> Vec<Alert> {
    let request = ListAlertsRequest {
        states: states.iter().map(|state| *state as i32).collect(),
        ..ListAlertsRequest::default()
    };
    let mut client = UsageServiceClient::new(world.signalbox.router.channel());
    client.list_alerts(request).await.unwrap().into_inner().alerts
}

async fn requests(world: &World, many: usize) {
    let asked = GenerateRequest { tenant_id: "acme".to_owned(), ..request(LUNA, "Why is the sky blue?") };
    let requests = (0..many).map(|_| async {
        let _whatever = world.client().generate(asked.clone()).await;
    });
    join_all(requests).await;
}

async fn gauge(world: &World) -> f64 {
    world
        .signalbox
        .metrics()
        .await
        .sum("signalbox_alert_open", &[("rule", "failing-now"), ("vendor", "openai")])
}

#[tokio::test]
async fn a_failing_vendor_raises_an_alert_that_closes_when_it_is_mended() {
    let (receiver, url) = Receiver::listen().await;
    let config = json!({
        "usage": {"ingest": {"batch_interval": "50ms"}},
        "alerts": {
            "interval": "1s",
            "close_after": "0s",
            "rules": {"failing-now": {"min_calls": 10}},
            "webhook": {"url": {"env": "ALERT_URL"}, "secret": {"env": "ALERT_SECRET"}},
        },
    });
    let environment = [&KEYS[..], &[("ALERT_URL", url.as_str()), ("ALERT_SECRET", "k3y")]].concat();
    let world = World::with_keys(Topology::AllInOne, config, &environment).await;
    requests(&world, 3).await;

    world.fault(Vendor::Openai, "status=500");
    let opened = eventually_some("an alert opens", || async {
        requests(&world, 4).await;
        alerts(&world, &[]).await.pop()
    })
    .await;
    assert_eq!((&*opened.rule, &*opened.vendor, &*opened.model), ("failing-now", "openai", "gpt-6-luna"));
    assert!(opened.observed >= 0.3, "{opened:?}");
    eventually("the metric shows it", || async { gauge(&world).await > 0.0 }).await;
    let (headers, post) = receiver.told("STATE_OPEN").await;
    assert_eq!(post["alert"]["alertId"], opened.alert_id);
    assert!(headers.contains_key("signalbox-signature"));

    world.vendors.clear_faults();
    eventually("it closes", || async {
        requests(&world, 32).await;
        alerts(&world, &[]).await.is_empty()
    })
    .await;
    let closed = alerts(&world, &[alert::State::Closed]).await.pop().unwrap();
    assert_eq!(closed.alert_id, opened.alert_id);
    assert!(closed.close_time.is_some());
    eventually("the metric forgets it", || async { gauge(&world).await == 0.0 }).await;
    assert_eq!(receiver.told("STATE_CLOSED").await.1["alert"]["alertId"], opened.alert_id);
}
