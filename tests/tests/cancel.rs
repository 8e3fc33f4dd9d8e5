//! The caller goes away, or its time is over.

use hyper_util::{client::legacy::Client as HttpClient, rt::TokioExecutor};
use serde_json::json;
use signalbox_api::v1::{StreamGenerateRequest, router_service_client::RouterServiceClient};
use signalbox_testkit::{
    Key, Topology, World,
    ask::{Mode, ask, open, request},
    both_topologies, eventually,
    refusal::Refusal,
};
use signalbox_vendorsim::{Outcome, Vendor};
use std::time::Duration;
use tonic::{Code, Request, service::interceptor::InterceptedService};

const MODEL: &str = "openai/gpt-6-luna";

fn has_gone(world: &World) -> bool {
    world.calls(Vendor::Openai).last().is_some_and(|call| call.outcome == Outcome::ClientGone)
}

/// The vendor call was stopped, and what it used is accounted for, marked as an estimate.
async fn is_accounted_for(world: &World) {
    eventually("the vendor sees the caller go", || async { has_gone(world) }).await;
    eventually("the call is counted as cancelled", || async {
        let metrics = world.signalbox.metrics().await;
        let calls = metrics.sum("signalbox_vendor_calls_total", &[("outcome", "cancelled")]);
        let tokens = metrics.sum("signalbox_tokens_total", &[("source", "estimated"), ("kind", "input")]);
        calls >= 1.0 && tokens > 0.0
    })
    .await;
}

async fn a_dropped_stream_stops_the_vendor_call(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    world.fault(Vendor::Openai, "trickle=50");
    let mut long = request(MODEL, "Tell me a long story.");
    long.max_output_tokens = Some(4000);
    let mut events = open(&mut world.client(), long).await.unwrap();
    assert!(events.message().await.unwrap().is_some());
    drop(events);
    is_accounted_for(&world).await;
    let metrics = world.signalbox.metrics().await;
    assert!(metrics.sum("signalbox_tokens_total", &[("source", "estimated"), ("kind", "output")]) > 0.0);
    assert!(metrics.sum("signalbox_cost_nano_eur_total", &[("vendor", "openai")]) > 0.0);
}

async fn a_dropped_unary_call_stops_the_vendor_call(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    world.fault(Vendor::Openai, "hang");
    let mut client = world.client();
    let call = tokio::spawn(async move { ask(&mut client, Mode::Unary, request(MODEL, "Hello?")).await });
    eventually("the vendor is called", || async { world.calls(Vendor::Openai).len() == 1 }).await;
    call.abort();
    is_accounted_for(&world).await;
}

/// By a client without a timer of its own, so that the status is the server's.
async fn the_callers_deadline_is_kept(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    world.fault(Vendor::Openai, "hang");
    let http = HttpClient::builder(TokioExecutor::new()).http2_only(true).build_http();
    let origin = format!("http://{}", world.signalbox.router.address());
    let http = InterceptedService::new(http, Key::new(world.signalbox.router.operators_key()));
    let mut client = RouterServiceClient::with_origin(http, origin.parse().unwrap());
    for (mode, calls) in Mode::ALL.into_iter().zip(1..) {
        let wanted = request(MODEL, "Hello?");
        let status = match mode {
            Mode::Unary => client.generate(hurried(wanted)).await.unwrap_err(),
            Mode::Stream => {
                let wanted = StreamGenerateRequest { request: Some(wanted) };
                client.stream_generate(hurried(wanted)).await.unwrap_err()
            }
        };
        let refusal = Refusal::from(status);
        assert_eq!((refusal.code, refusal.reason), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED"), "{mode:?}");
        assert_eq!(world.calls(Vendor::Openai).len(), calls, "{mode:?}");
        eventually("the vendor sees the caller go", || async { has_gone(&world) }).await;
    }
}

fn hurried<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(Duration::from_millis(300));
    request
}

async fn the_requests_own_timeout_is_kept(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    world.fault(Vendor::Openai, "hang");
    for mode in Mode::ALL {
        let mut wanted = request(MODEL, "Hello?");
        wanted.timeout = Some(prost_types::Duration { seconds: 0, nanos: 300_000_000 });
        let refusal = Refusal::from(ask(&mut world.client(), mode, wanted).await.unwrap_err());
        assert_eq!((refusal.code, refusal.reason), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED"), "{mode:?}");
        assert_eq!(refusal.attempts, ["openai: DEADLINE_EXCEEDED"], "{mode:?}");
    }
}

both_topologies!(
    a_dropped_stream_stops_the_vendor_call,
    a_dropped_unary_call_stops_the_vendor_call,
    the_callers_deadline_is_kept,
    the_requests_own_timeout_is_kept,
);
