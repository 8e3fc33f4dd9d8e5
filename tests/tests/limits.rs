//! What vendors say of limits, quotas and keys, and what too slow a vendor does not say.

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use signalbox_api::{
    status,
    v1::{Candidate, ExplainRouteRequest},
};
use signalbox_testkit::{
    RedisServer, Topology, World,
    ask::{Mode, ask, request},
    both_topologies, eventually,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use std::collections::HashMap;
use tokio::time::Instant;

const LUNA: &str = "openai/gpt-6-luna";

/// Two vendors in order of preference, with something more in the configuration.
fn pair(more: Value) -> Value {
    let mut config = more;
    config["aliases"] = json!({"pair": {"targets": [LUNA, "anthropic/claude-haiku-5-5"]}});
    config["failover"] = json!({"quick_retry_delay": "10ms"});
    config
}

/// The same, compared by one weight alone.
fn pair_by(weight: &str) -> Value {
    pair(json!({"routing": {"order": "scored", "weights": {weight: 1}, "greed": "best"}}))
}

/// How OpenAI stands among the candidates now.
async fn openai(world: &World) -> Candidate {
    let request = ExplainRouteRequest { request: Some(request("pair", "Hello?")), stream: false };
    let answer = world.client().explain_route(request).await.unwrap().into_inner();
    let candidates = answer.decision.unwrap().candidates;
    candidates.into_iter().find(|candidate| candidate.vendor == "openai").unwrap()
}

async fn factors(world: &World) -> HashMap<String, f64> {
    openai(world).await.factors
}

async fn a_rate_limited_model_is_left_alone_as_long_as_it_asked_and_then_gets_its_weight_back(
    topology: Topology,
) {
    let world = World::start(topology, pair_by("cost")).await;
    let mut client = world.client();
    world.fault(Vendor::Openai, "status=429,retry-after=2");
    let limited = Instant::now();
    let moved = ask(&mut client, Mode::Unary, request("pair", "Hello?")).await.unwrap();
    assert_eq!(moved.attempts(), ["openai: VENDOR_RATE_LIMITED", "anthropic"]);
    world.vendors.clear_faults();
    assert!(openai(&world).await.excluded_reason.contains("asked to wait"));

    eventually("the hold ends", || async { openai(&world).await.excluded_reason.is_empty() }).await;
    assert!(limited.elapsed().as_secs_f64() >= 1.99, "asked again after {:?}", limited.elapsed());
    let weight = factors(&world).await["weight"];
    assert!((0.79..0.9).contains(&weight), "{weight}");
    eventually("the weight is whole again", || async { !factors(&world).await.contains_key("weight") }).await;
    assert_eq!(world.calls(Vendor::Openai).len(), 1);
}

async fn a_refused_key_is_tried_once_and_again_as_soon_as_it_is_mended(topology: Topology) {
    let keys = [("OPENAI_API_KEY", "bad-key"), ("ANTHROPIC_API_KEY", "good"), ("XAI_API_KEY", "good")];
    let mut world = World::with_keys(topology, pair(json!({})), &keys).await;
    let mut client = world.client();
    let moved = ask(&mut client, Mode::Unary, request("pair", "Hello?")).await.unwrap();
    assert_eq!(moved.attempts(), ["openai: VENDOR_AUTH", "anthropic"]);
    for mode in Mode::ALL {
        let spared = ask(&mut client, mode, request("pair", "Hello?")).await.unwrap();
        assert_eq!(spared.attempts(), ["anthropic"]);
    }
    assert_eq!(world.calls(Vendor::Openai).len(), 1);
    assert!(openai(&world).await.excluded_reason.contains("refuses us (VENDOR_AUTH)"));
    assert!(world.signalbox.log().contains("our key was refused"), "{}", world.signalbox.log());
    eventually("it shows in the metrics", || async {
        let labels = [("vendor", "openai"), ("reason", "key_refused")];
        world.signalbox.metrics().await.sum("signalbox_vendor_held", &labels) > 0.5
    })
    .await;
    // Who has no other choice may find out.
    let alone = ask(&mut client, Mode::Unary, request(LUNA, "Hello?")).await.unwrap_err();
    assert_eq!(Refusal::from(alone).attempts, ["openai: VENDOR_AUTH"]);

    world.reconfigure(json!({"vendors": {"openai": {"api_key": {"env": "XAI_API_KEY"}}}}));
    eventually("the good key is used", || async {
        let answer = ask(&mut world.client(), Mode::Unary, request("pair", "Hello?")).await.unwrap();
        answer.attempts() == ["openai"]
    })
    .await;
}

async fn an_account_without_credit_is_left_alone_whatever_the_model(topology: Topology) {
    let config =
        json!({"aliases": {"both": {"targets": [LUNA, "anthropic/claude-haiku-5-5", "openai/gpt-6-sol"]}}});
    let world = World::start(topology, config).await;
    let mut client = world.client();
    world.fault(Vendor::Openai, "kind=quota");
    let moved = ask(&mut client, Mode::Unary, request("both", "Hello?")).await.unwrap();
    assert_eq!(moved.attempts(), ["openai: VENDOR_QUOTA_EXHAUSTED", "anthropic"]);
    for mode in Mode::ALL {
        let spared = ask(&mut client, mode, request("both", "Hello?")).await.unwrap();
        assert_eq!(spared.attempts(), ["anthropic"]);
        let candidates = spared.route.decision.unwrap().candidates;
        let out = candidates.iter().filter(|candidate| candidate.excluded_reason.contains("QUOTA_EXHAUSTED"));
        assert_eq!(out.count(), 2, "{candidates:?}");
    }
    assert_eq!(world.calls(Vendor::Openai).len(), 1);
}

async fn a_vendor_with_little_quota_left_gets_less(topology: Topology) {
    let world = World::start(topology, pair_by("quota")).await;
    let mut client = world.client();
    world.fault(Vendor::Openai, "quota=5");
    ask(&mut client, Mode::Unary, request(LUNA, "Hello?")).await.unwrap();
    let quota = factors(&world).await["quota"];
    assert!((quota - 0.25).abs() < 1e-9, "a quarter of the last fifth: {quota}");
    for mode in Mode::ALL {
        let moved = ask(&mut client, mode, request("pair", "Hello?")).await.unwrap();
        assert_eq!(moved.attempts(), ["anthropic"]);
    }
    world.vendors.clear_faults();
    ask(&mut client, Mode::Stream, request(LUNA, "Hello?")).await.unwrap();
    assert!((factors(&world).await["quota"] - 1.0).abs() < 1e-9);
}

async fn our_own_limit_at_a_vendor_is_one_for_all_adapters_and_sends_the_rest_elsewhere(topology: Topology) {
    let limit = json!({"openai": {"rate_limit": {"requests_per_minute": 2}}});
    let mut config = pair(json!({"vendors": limit}));
    let _redis = match topology {
        // It has one.
        Topology::Up => None,
        _ => {
            let redis = RedisServer::start().await;
            config["redis"] = json!({"url": redis.url()});
            Some(redis)
        }
    };
    let world = World::start(topology, config).await;
    let begun = Instant::now();
    for round in 0..8 {
        let mode = Mode::ALL[round % Mode::ALL.len()];
        ask(&mut world.client(), mode, request("pair", "Hello?")).await.unwrap();
    }
    let calls = world.calls(Vendor::Openai).len();
    let filled = begun.elapsed().as_secs_f64() / 30.0;
    assert!(calls >= 2 && calls as f64 <= 2.0 + filled, "{calls} calls within {:?}", begun.elapsed());
    assert!(
        world.signalbox.metrics().await.sum("signalbox_rate_vendor_calls_total", &[("vendor", "openai")])
            > 0.5
    );
    let alone = ask(&mut world.client(), Mode::Unary, request(LUNA, "Hello?")).await.unwrap_err();
    assert!(status::from_status(&alone).retry_after.is_some(), "{alone:?}");
}

async fn limit(world: &World) -> f64 {
    world.signalbox.metrics().await.sum("signalbox_vendor_concurrency_limit", &[("vendor", "openai")])
}

async fn overload_lowers_the_limit_of_concurrency_and_success_raises_it(topology: Topology) {
    let config = json!({"vendors": {"openai": {"max_concurrency": 8}}});
    let world = World::start(topology, pair(config)).await;
    let processes = if topology == Topology::AllInOne { 1.0 } else { 2.0 };
    let whole = 8.0 * processes;
    eventually("the limit is told", || async { (limit(&world).await - whole).abs() < 0.5 }).await;
    world.fault(Vendor::Openai, "status=503");
    ask(&mut world.client(), Mode::Unary, request("pair", "Hello?")).await.unwrap();
    eventually("the limit falls", || async { limit(&world).await < whole - 0.5 }).await;
    world.fault(Vendor::Openai, "delay=20");
    eventually("the limit is back", || async {
        let calls = stream::iter(0..32).map(|_| {
            let mut client = world.client();
            async move { ask(&mut client, Mode::Unary, request(LUNA, "Hello?")).await }
        });
        let answers: Vec<_> = calls.buffer_unordered(32).collect().await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        (limit(&world).await - whole).abs() < 0.5
    })
    .await;
}

async fn a_vendor_without_a_free_place_costs_no_more_than_half_of_the_time(topology: Topology) {
    let busy = json!({"max_concurrency": 1, "max_queue": 2});
    let world = World::start(topology, pair(json!({"vendors": {"openai": busy}}))).await;
    let mut client = world.client();
    world.fault(Vendor::Openai, "hang");
    let mut running = Vec::new();
    // The second goes to the other adapter, which has fewer calls under way.
    let places = if topology == Topology::AllInOne { 1 } else { 2 };
    for place in 1..=places {
        let mut client = world.client();
        running
            .push(tokio::spawn(async move { ask(&mut client, Mode::Unary, request(LUNA, "Hello?")).await }));
        eventually("the place is taken", || async { world.calls(Vendor::Openai).len() == place }).await;
    }
    for mode in Mode::ALL {
        let mut request = request("pair", "Hello?");
        request.timeout = Some(prost_types::Duration { seconds: 2, nanos: 0 });
        let started = Instant::now();
        let moved = ask(&mut client, mode, request).await.unwrap();
        assert_eq!(moved.attempts(), ["openai: VENDOR_BUSY", "anthropic"]);
        let waited = started.elapsed().as_secs_f64();
        assert!((0.9..1.9).contains(&waited), "waited for {waited} s");
        let failed = &moved.route.attempts[0].error_message;
        assert!(failed.contains("1 calls are under way (max_concurrency)"), "{failed}");
    }
    running.iter().for_each(tokio::task::JoinHandle::abort);
}

async fn a_stream_that_trickles_is_served_and_lowers_the_vendors_health(topology: Topology) {
    let mut config = pair_by("health");
    config["slow_stream"] = json!({"min_tokens_per_second": 500, "window": "100ms"});
    let world = World::start(topology, config).await;
    let mut client = world.client();
    ask(&mut client, Mode::Stream, request(LUNA, "Hello?")).await.unwrap();
    let before = factors(&world).await["health"];
    world.fault(Vendor::Openai, "trickle=20");
    for _ in 0..3 {
        let answer = ask(&mut client, Mode::Stream, request(LUNA, "Hello?")).await.unwrap();
        assert_eq!(answer.attempts(), ["openai"]);
    }
    eventually("the health is lower", || async { factors(&world).await["health"] < 0.8 * before }).await;
    let moved = ask(&mut client, Mode::Stream, request("pair", "Hello?")).await.unwrap();
    assert_eq!(moved.attempts(), ["anthropic"]);
}

both_topologies!(
    a_rate_limited_model_is_left_alone_as_long_as_it_asked_and_then_gets_its_weight_back,
    a_refused_key_is_tried_once_and_again_as_soon_as_it_is_mended,
    an_account_without_credit_is_left_alone_whatever_the_model,
    a_vendor_with_little_quota_left_gets_less,
    our_own_limit_at_a_vendor_is_one_for_all_adapters_and_sends_the_rest_elsewhere,
    overload_lowers_the_limit_of_concurrency_and_success_raises_it,
    a_vendor_without_a_free_place_costs_no_more_than_half_of_the_time,
    a_stream_that_trickles_is_served_and_lowers_the_vendors_health,
);
