//! A vendor fails before anything has reached the client.

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use signalbox_api::v1::attempt::Cause;
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, ask, request},
    both_topologies, eventually,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use tonic::Code;

/// Two vendors in order of preference, and little patience.
fn pair() -> Value {
    json!({
        "aliases": {"pair": {"targets": ["openai/gpt-6-luna", "anthropic/claude-haiku-5-5"]}},
        "vendors": {"openai": {"timeouts": {"first_byte": "300ms", "idle": "300ms"}}},
        "failover": {"quick_retry_delay": "10ms"},
    })
}

/// What a fault of the first vendor becomes: the reason, and how often the vendor is called.
const MOVED: [(&str, &str, usize); 13] = [
    ("down", "VENDOR_UNREACHABLE", 2),
    ("status=500", "VENDOR_ERROR", 2),
    ("kind=html", "VENDOR_ERROR", 2),
    ("status=503", "VENDOR_OVERLOADED", 2),
    ("status=529", "VENDOR_OVERLOADED", 2),
    ("malformed", "VENDOR_BAD_RESPONSE", 2),
    ("hang", "VENDOR_TIMEOUT", 1),
    ("first-byte=10000", "VENDOR_TIMEOUT", 1),
    ("kind=auth", "VENDOR_AUTH", 1),
    ("kind=permission", "VENDOR_PERMISSION", 1),
    ("kind=model", "VENDOR_MODEL_NOT_FOUND", 1),
    ("kind=quota", "VENDOR_QUOTA_EXHAUSTED", 1),
    ("kind=context", "CONTEXT_LENGTH_EXCEEDED", 1),
];

/// After these a vendor is left alone.
const REFUSALS: [&str; 3] = ["kind=auth", "kind=permission", "kind=quota"];

async fn a_failing_vendor_is_replaced_without_the_client_noticing(topology: Topology) {
    for (fault, reason, calls) in MOVED {
        // A world for each fault, so that the breaker sees too few to open.
        let mut world = World::start(topology, pair()).await;
        for mode in Mode::ALL {
            check_moved(&world, mode, fault, reason, calls).await;
            if REFUSALS.contains(&fault) {
                world = World::start(topology, pair()).await;
            }
        }
    }
}

async fn a_stream_that_breaks_before_its_first_content_is_replaced(topology: Topology) {
    let world = World::start(topology, pair()).await;
    check_moved(&world, Mode::Stream, "cut=0", "STREAM_TRUNCATED", 2).await;
    check_moved(&world, Mode::Stream, "error=0", "VENDOR_ERROR", 2).await;
    check_moved(&world, Mode::Stream, "stall=0", "VENDOR_TIMEOUT", 1).await;
}

async fn check_moved(world: &World, mode: Mode, fault: &str, reason: &str, calls: usize) {
    let before = (world.calls(Vendor::Openai).len(), world.calls(Vendor::Anthropic).len());
    world.fault(Vendor::Openai, fault);
    let answer = ask(&mut world.client(), mode, request("pair", "Hello?")).await;
    let answer = answer.unwrap_or_else(|status| panic!("{fault} {mode:?}: {status:?}"));
    let mut expected = vec![format!("openai: {reason}"); calls];
    expected.push("anthropic".to_owned());
    assert_eq!(answer.attempts(), expected, "{fault} {mode:?}");
    let causes: Vec<Cause> = answer.route.attempts.iter().map(|attempt| attempt.cause()).collect();
    let retries = [Cause::FirstChoice, Cause::Retry, Cause::Fallback];
    let switch = [Cause::FirstChoice, Cause::Fallback];
    assert_eq!(causes, if calls == 2 { &retries[..] } else { &switch[..] }, "{fault} {mode:?}");
    let after = (world.calls(Vendor::Openai).len(), world.calls(Vendor::Anthropic).len());
    assert_eq!(after, (before.0 + calls, before.1 + 1), "{fault} {mode:?}");
    assert!(answer.text().contains("claude-haiku"), "{fault} {mode:?}");
}

async fn a_rate_limited_vendor_is_skipped_until_it_may_be_called_again(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let mut client = world.client();
    world.fault(Vendor::Openai, "status=429,retry-after=3");
    let moved = ask(&mut client, Mode::Unary, request("pair", "Hello?")).await.unwrap();
    assert_eq!(moved.attempts(), ["openai: VENDOR_RATE_LIMITED", "anthropic"]);
    world.vendors.clear_faults();
    for mode in Mode::ALL {
        let skipped = ask(&mut client, mode, request("pair", "Hello?")).await.unwrap();
        assert_eq!(skipped.attempts(), ["anthropic"]);
        let decision = skipped.route.decision.unwrap();
        let held = decision.candidates.iter().find(|candidate| candidate.vendor == "openai").unwrap();
        assert!(held.excluded_reason.contains("asked to wait"), "{held:?}");
    }
    assert_eq!(world.calls(Vendor::Openai).len(), 1);
    eventually("the vendor is called again once it may be", || async {
        let answer = ask(&mut world.client(), Mode::Unary, request("pair", "Hello?")).await.unwrap();
        answer.attempts() == ["openai"]
    })
    .await;
}

async fn a_vendor_whose_connections_are_refused_is_replaced(topology: Topology) {
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = pair();
    config["vendors"]["openai"]["base_url"] = json!(format!("http://{nowhere}"));
    let world = World::start(topology, config).await;
    for mode in Mode::ALL {
        let answer = ask(&mut world.client(), mode, request("pair", "Hello?")).await.unwrap();
        let unreachable = "openai: VENDOR_UNREACHABLE";
        assert_eq!(answer.attempts(), [unreachable, unreachable, "anthropic"]);
    }
}

async fn a_fault_of_the_request_is_told_and_tried_nowhere_else(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let cases = [("kind=invalid", "INVALID_REQUEST"), ("kind=policy", "CONTENT_POLICY")];
    for (count, (fault, reason)) in cases.into_iter().enumerate() {
        for (mode, calls) in Mode::ALL.into_iter().zip(1..) {
            world.fault(Vendor::Openai, fault);
            let refusal =
                Refusal::from(ask(&mut world.client(), mode, request("pair", "Hello?")).await.unwrap_err());
            assert_eq!((refusal.code, refusal.reason), (Code::InvalidArgument, reason), "{refusal:?}");
            assert_eq!(refusal.attempts, [format!("openai: {reason}")]);
            assert_eq!(world.calls(Vendor::Openai).len(), 2 * count + calls);
        }
    }
    assert_eq!(world.calls(Vendor::Anthropic).len(), 0);
}

async fn when_nobody_can_serve_the_error_tells_what_was_tried(topology: Topology) {
    let world = World::start(topology, pair()).await;
    world.vendors.set_fault(
        signalbox_vendorsim::Match::default(),
        "status=500".parse().unwrap(),
        signalbox_vendorsim::Times::Always,
    );
    for mode in Mode::ALL {
        let refusal =
            Refusal::from(ask(&mut world.client(), mode, request("pair", "Hello?")).await.unwrap_err());
        assert_eq!((refusal.code, refusal.reason), (Code::Unavailable, "VENDOR_ERROR"));
        let tried = ["openai", "openai", "anthropic", "anthropic"];
        assert_eq!(refusal.attempts, tried.map(|vendor| format!("{vendor}: VENDOR_ERROR")));
    }
}

async fn traffic_goes_on_while_a_vendor_goes_down_and_up(topology: Topology) {
    const CALLS: usize = 400;
    let world = World::start(topology, pair()).await;
    let client = world.client();
    let answers = stream::iter(0..CALLS).map(|n| {
        // Every fifty calls the vendor goes away, each time another way, or comes back.
        match n % 200 {
            50 => world.fault(Vendor::Openai, "down"),
            100 | 0 => world.vendors.clear_faults(),
            150 => world.fault(Vendor::Openai, "status=500"),
            _ => {}
        }
        let mode = Mode::ALL[n % 2];
        let mut client = client.clone();
        async move { ask(&mut client, mode, request("pair", "Hello?")).await }
    });
    let answers: Vec<_> = answers.buffer_unordered(32).collect().await;
    let failed: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
    assert!(failed.is_empty(), "{} clients saw an error, as {:?}", failed.len(), failed[0]);
    let moved = answers.iter().flatten().filter(|answer| answer.route.vendor == "anthropic").count();
    assert!((50..CALLS).contains(&moved), "{moved} of {CALLS} were moved");
    // The breaker spares most requests the detour over the dead vendor: without it, each would make two calls there.
    let wasted: usize = answers.iter().flatten().map(|answer| answer.route.attempts.len() - 1).sum();
    assert!(wasted < 150, "{wasted} calls went to the vendor that was down");
}

async fn a_vendor_that_keeps_failing_is_left_alone_unless_there_is_no_other(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let mut client = world.client();
    world.fault(Vendor::Openai, "down");
    for _ in 0..3 {
        ask(&mut client, Mode::Unary, request("pair", "Hello?")).await.unwrap();
    }
    let before = world.calls(Vendor::Openai).len();
    for mode in Mode::ALL {
        let spared = ask(&mut client, mode, request("pair", "Hello?")).await.unwrap();
        assert_eq!(spared.attempts(), ["anthropic"]);
        let decision = spared.route.decision.unwrap();
        let shut = decision.candidates.iter().find(|candidate| candidate.vendor == "openai").unwrap();
        assert!(shut.excluded_reason.contains("failed too often"), "{shut:?}");
    }
    assert_eq!(world.calls(Vendor::Openai).len(), before);
    let shown = world.signalbox.metrics().await.sum("signalbox_breaker_open", &[("vendor", "openai")]);
    assert!((shown - 1.0).abs() < f64::EPSILON && world.signalbox.log().contains("breaker open"));
    world.vendors.clear_faults();
    let only = ask(&mut client, Mode::Unary, request("openai/gpt-6-luna", "Hello?")).await.unwrap();
    assert_eq!(only.attempts(), ["openai"]);
}

async fn when_every_breaker_is_open_the_candidates_are_tried_in_their_order(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let mut client = world.client();
    let (all, always) = (signalbox_vendorsim::Match::default(), signalbox_vendorsim::Times::Always);
    world.vendors.set_fault(all, "down".parse().unwrap(), always);
    for _ in 0..4 {
        ask(&mut client, Mode::Unary, request("pair", "Hello?")).await.unwrap_err();
    }
    // The first vendor is back, the second is not: nobody has to wait for a breaker to find out.
    world.fault(Vendor::Anthropic, "down");
    for mode in Mode::ALL {
        let answer = ask(&mut client, mode, request("pair", "Hello?")).await.unwrap();
        assert_eq!(answer.attempts(), ["openai"]);
    }
}

both_topologies!(
    a_failing_vendor_is_replaced_without_the_client_noticing,
    a_stream_that_breaks_before_its_first_content_is_replaced,
    a_rate_limited_vendor_is_skipped_until_it_may_be_called_again,
    a_vendor_whose_connections_are_refused_is_replaced,
    a_fault_of_the_request_is_told_and_tried_nowhere_else,
    when_nobody_can_serve_the_error_tells_what_was_tried,
    traffic_goes_on_while_a_vendor_goes_down_and_up,
    a_vendor_that_keeps_failing_is_left_alone_unless_there_is_no_other,
    when_every_breaker_is_open_the_candidates_are_tried_in_their_order,
);
