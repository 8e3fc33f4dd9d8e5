//! One account for each request that was accepted, whatever its end.

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use signalbox_api::v1::{
    self, EmbedRequest, GenerateRequest, UsageEvent,
    attempt::Cause,
    token_usage::Source,
    usage_event::{Operation, Outcome},
};
use signalbox_testkit::{
    Options, Signalbox, Topology, World,
    ask::{Answer, Mode, ask, json_schema, open, request},
    both_topologies, built, eventually, eventually_some,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use std::{collections::HashMap, pin::pin, time::Duration};
use tonic::{Code, Request};

const LUNA: &str = "openai/gpt-6-luna";
const HAIKU: &str = "anthropic/claude-haiku-5-5";

fn pair() -> Value {
    json!({
        "aliases": {"pair": {"targets": [LUNA, HAIKU]}},
        "tenants": {"daily": {"deny": ["openai/*", "anthropic/*"]}},
        "failover": {"quick_retry_delay": "10ms"},
    })
}

/// A request that can be found again.
fn named(id: &str, model: &str) -> GenerateRequest {
    GenerateRequest { request_id: id.to_owned(), ..request(model, "Why is the sky blue?") }
}

/// The one account of a request.
async fn account(world: &World, id: &str) -> UsageEvent {
    let found = || async {
        let mut all = world.signalbox.accounts().await;
        all.retain(|event| event.request_id == id);
        all
    };
    let event = eventually_some("the request is accounted for", || async { found().await.pop() }).await;
    assert_eq!(found().await.len(), 1, "{id}");
    check(&event);
    event
}

/// What holds for every account.
fn check(event: &UsageEvent) {
    let attempts = || event.attempts.iter().map(|attempt| attempt.attempt.as_ref().unwrap());
    let costs: i64 = attempts().map(|attempt| attempt.cost.as_ref().unwrap().nano_eur).sum();
    let cost = event.cost.as_ref().unwrap();
    assert_eq!((cost.nano_eur, cost.unknown), (costs, false), "{event:?}");
    let inputs: u64 = attempts().map(|attempt| attempt.usage.unwrap().input_tokens).sum();
    assert_eq!(event.usage.unwrap().input_tokens, inputs, "{event:?}");
    assert_eq!(event.schema_version, 1);
    assert_eq!(event.event_id.len(), 36);
    assert!(event.start_time.is_some() && event.end_time.is_some(), "{event:?}");
    let succeeded = event.outcome() == Outcome::Succeeded;
    assert_eq!(event.error_reason.is_empty(), succeeded, "{event:?}");
    assert_eq!(event.route_reason.is_empty(), !succeeded, "{event:?}");
}

/// The attempts as `vendor: reason < reason of the one before`, in order of their start.
fn attempts(event: &UsageEvent) -> Vec<String> {
    let told = event.attempts.iter().map(|made| {
        let attempt = made.attempt.as_ref().unwrap();
        let mut told = attempt.vendor.clone();
        for (before, reason) in [(": ", &attempt.error_reason), (" < ", &made.fallback_reason)] {
            if !reason.is_empty() {
                told.push_str(before);
                told.push_str(reason);
            }
        }
        told
    });
    told.collect()
}

async fn an_answer_is_told_as_the_caller_was_told_it(topology: Topology) {
    let world = World::start(topology, pair()).await;
    for (mode, operation) in [(Mode::Unary, Operation::Generate), (Mode::Stream, Operation::StreamGenerate)] {
        let id = format!("{mode:?}");
        let asked = GenerateRequest {
            tenant_id: "morning".to_owned(),
            scene: "editor".to_owned(),
            locale: "uk-UA".to_owned(),
            reference: "article-7".to_owned(),
            ..named(&id, "pair")
        };
        let answer = ask(&mut world.operator(), mode, asked).await.unwrap();
        let event = account(&world, &id).await;
        assert_eq!((event.outcome(), event.operation()), (Outcome::Succeeded, operation));
        let whose = (&*event.tenant_id, &*event.scene, &*event.locale, &*event.reference);
        assert_eq!(whose, ("morning", "editor", "uk-UA", "article-7"));
        assert_eq!(
            (&*event.requested_model, &*event.vendor, &*event.model),
            ("pair", "openai", "gpt-6-luna")
        );
        assert_eq!(event.route_reason, "first choice");
        assert_eq!(event.finish_reason(), answer.finish_reason);
        assert_eq!(event.usage, Some(answer.usage));
        assert_eq!(event.usage.unwrap().source(), Source::Vendor);
        check_route(&event, &answer);
        assert_eq!(event.time_to_first_token.is_some(), mode == Mode::Stream);
        assert!(!event.simulated);
    }
}

/// The caller and the account are told the same.
fn check_route(event: &UsageEvent, answer: &Answer) {
    let route = &answer.route;
    assert_eq!(event.cost, route.total_cost);
    assert_eq!(event.decision, route.decision);
    assert_eq!(event.latency, route.latency);
    assert_eq!(event.served_model, route.served_model);
    let mut told: Vec<_> = event.attempts.iter().map(|attempt| attempt.attempt.clone().unwrap()).collect();
    told.sort_by_key(|attempt| attempt.error_reason.is_empty());
    // What vendors say may quote the prompt.
    let unquoted = |attempt: &v1::Attempt| v1::Attempt { error_message: String::new(), ..attempt.clone() };
    assert_eq!(told, route.attempts.iter().map(unquoted).collect::<Vec<_>>());
}

async fn vectors_are_accounted_for(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let asked = EmbedRequest {
        inputs: vec!["blue".to_owned()],
        request_id: "vectors".to_owned(),
        reference: "article-7".to_owned(),
        ..Default::default()
    };
    let answer = world.client().embed(asked).await.unwrap().into_inner();
    let event = account(&world, "vectors").await;
    assert_eq!((event.outcome(), event.operation()), (Outcome::Succeeded, Operation::Embed));
    assert_eq!((&*event.vendor, &*event.reference), ("openai", "article-7"));
    assert_eq!((event.usage, event.cost), (answer.usage, answer.cost));
}

async fn failed_attempts_cost_too(topology: Topology) {
    let world = World::start(topology, pair()).await;
    world.fault(Vendor::Openai, "malformed");
    for mode in Mode::ALL {
        let id = format!("{mode:?}");
        let answer = ask(&mut world.client(), mode, named(&id, "pair")).await.unwrap();
        let event = account(&world, &id).await;
        let expected = [
            "openai: VENDOR_BAD_RESPONSE",
            "openai: VENDOR_BAD_RESPONSE < VENDOR_BAD_RESPONSE",
            "anthropic < VENDOR_BAD_RESPONSE",
        ];
        assert_eq!(attempts(&event), expected);
        assert_eq!(event.route_reason, "fallback after VENDOR_BAD_RESPONSE");
        assert_eq!(
            event.usage.unwrap().source(),
            Source::Estimated,
            "the vendor told nothing of the first two"
        );
        assert!(event.cost.as_ref().unwrap().nano_eur > answer.cost.nano_eur);
        check_route(&event, &answer);
    }
}

/// The answers came, and their vendors say what they used.
async fn answers_that_cannot_be_used_cost_what_their_vendors_say(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let models = [
        (Vendor::Openai, LUNA),
        (Vendor::Anthropic, HAIKU),
        (Vendor::Gemini, "gemini/gemini-3.5-flash-lite"),
        (Vendor::Xai, "xai/grok-4.3"),
    ];
    for (vendor, model) in models {
        world.vendors.clear_faults();
        let good = ask(&mut world.client(), Mode::Unary, named("good", model)).await.unwrap().usage;
        for fault in ["no-finish", "malformed"] {
            world.fault(vendor, fault);
            let id = format!("{fault} {model}");
            ask(&mut world.client(), Mode::Unary, named(&id, model)).await.unwrap_err();
            world.vendors.clear_faults();
            let event = account(&world, &id).await;
            for attempt in &event.attempts {
                let used = attempt.attempt.as_ref().unwrap().usage.unwrap();
                assert_eq!(v1::TokenUsage { source: good.source, ..used }, good, "{id}");
                assert_eq!(used.source(), Source::Estimated, "{id}");
            }
            assert!(!event.attempts.is_empty());
        }
    }
}

async fn a_request_that_nobody_served_is_told_as_failed(topology: Topology) {
    let world = World::start(topology, pair()).await;
    world.fault(Vendor::Openai, "kind=invalid");
    let refusal = ask(&mut world.client(), Mode::Unary, named("failed", LUNA)).await.unwrap_err();
    let event = account(&world, "failed").await;
    assert_eq!((event.outcome(), &*event.error_reason), (Outcome::Failed, Refusal::from(refusal).reason));
    assert!(event.vendor.is_empty() && event.attempts.len() == 1, "{event:?}");
    assert_eq!(event.cost.unwrap().nano_eur, 0, "the vendor refused it");
}

/// What a client saw of a stream before it went, and what the adapter counted.
async fn a_client_that_goes_pays_what_was_used_until_then(topology: Topology) {
    let world = World::start(topology, pair()).await;
    for (vendor, model) in [(Vendor::Anthropic, HAIKU), (Vendor::Openai, LUNA)] {
        world.fault(vendor, "trickle=50");
        let asked = GenerateRequest { max_output_tokens: Some(4000), ..named(model, model) };
        let mut events = open(&mut world.client(), asked).await.unwrap();
        for _ in 0..3 {
            assert!(events.message().await.unwrap().is_some());
        }
        drop(events);
        let event = account(&world, model).await;
        assert_eq!((event.outcome(), &*event.error_reason), (Outcome::Cancelled, "CANCELLED"));
        let usage = event.usage.unwrap();
        assert_eq!(usage.source(), Source::Estimated);
        assert!(usage.output_tokens > 0 && event.time_to_first_token.is_none(), "{event:?}");
        agrees_with_the_adapter(&world, model.split_once('/').unwrap().0, &event).await;
    }
}

/// The adapter's own count of the one call to a vendor.
async fn agrees_with_the_adapter(world: &World, vendor: &str, event: &UsageEvent) {
    let usage = event.usage.unwrap();
    eventually("the adapter tells the same", || async {
        let metrics = world.signalbox.metrics().await;
        let tokens = |kind| {
            metrics
                .sum("signalbox_tokens_total", &[("vendor", vendor), ("source", "estimated"), ("kind", kind)])
        };
        let cost = metrics.sum("signalbox_cost_nano_eur_total", &[("vendor", vendor)]);
        let told = [tokens("input"), tokens("output"), cost];
        let expected =
            [usage.input_tokens, usage.output_tokens, event.cost.as_ref().unwrap().nano_eur as u64];
        told.map(|told| told as u64) == expected
    })
    .await;
}

async fn a_client_that_goes_before_an_answer_pays_the_prompt(topology: Topology) {
    let world = World::start(topology, pair()).await;
    world.fault(Vendor::Openai, "hang");
    let mut client = world.client();
    let call = tokio::spawn(async move { ask(&mut client, Mode::Unary, named("gone", LUNA)).await });
    eventually("the vendor is called", || async { world.calls(Vendor::Openai).len() == 1 }).await;
    call.abort();
    let event = account(&world, "gone").await;
    assert_eq!(
        (event.outcome(), attempts(&event)),
        (Outcome::Cancelled, vec!["openai: CANCELLED".to_owned()])
    );
    assert!(event.usage.unwrap().input_tokens > 0 && event.usage.unwrap().output_tokens == 0);
    agrees_with_the_adapter(&world, "openai", &event).await;
}

async fn a_deadline_is_a_failure_that_cost_something(topology: Topology) {
    let world = World::start(topology, pair()).await;
    world.fault(Vendor::Openai, "hang");
    for mode in Mode::ALL {
        let id = format!("late {mode:?}");
        let mut hurried = named(&id, LUNA);
        hurried.timeout = Some(prost_types::Duration { seconds: 0, nanos: 300_000_000 });
        ask(&mut world.client(), mode, hurried).await.unwrap_err();
        let event = account(&world, &id).await;
        assert_eq!((event.outcome(), &*event.error_reason), (Outcome::Failed, "DEADLINE_EXCEEDED"));
        assert_eq!(attempts(&event), ["openai: DEADLINE_EXCEEDED"]);
        assert!(event.cost.unwrap().nano_eur > 0);
    }
}

async fn an_answer_that_failed_the_gate_is_paid_for(topology: Topology) {
    let world = World::start(topology, pair()).await;
    let schema = r#"{"type": "object", "required": ["title"], "additionalProperties": false,
        "properties": {"title": {"type": "string"}}}"#;
    let asked = |id| GenerateRequest {
        response_format: Some(json_schema(schema)),
        max_output_tokens: Some(2),
        ..named(id, "pair")
    };
    ask(&mut world.client(), Mode::Unary, asked("invalid")).await.unwrap_err();
    let event = account(&world, "invalid").await;
    assert_eq!((event.outcome(), &*event.error_reason), (Outcome::Failed, "OUTPUT_INVALID"));
    assert_eq!(event.usage.unwrap().source(), Source::Vendor);
    assert!(event.usage.unwrap().output_tokens > 0 && event.cost.unwrap().nano_eur > 0);
}

async fn a_hedge_that_lost_is_paid_for(topology: Topology) {
    let config = json!({"task_types": {"now": {
        "targets": [LUNA, HAIKU],
        "hedge": {"after": "500ms", "max_share": 0.5},
    }}});
    let world = World::start(topology, config).await;
    let asked = |id: &str| GenerateRequest { task_type: "now".to_owned(), ..named(id, "") };
    for n in 0..4 {
        ask(&mut world.client(), Mode::Stream, asked(&format!("before {n}"))).await.unwrap();
    }
    world.fault(Vendor::Openai, "first-byte=600000");
    let answer = ask(&mut world.client(), Mode::Stream, asked("hedged")).await.unwrap();
    let event = account(&world, "hedged").await;
    assert_eq!(attempts(&event), ["openai: CANCELLED", "anthropic"]);
    assert_eq!((&*event.route_reason, &*event.task_type), ("hedge", "now"));
    let lost = event.attempts[0].attempt.as_ref().unwrap();
    assert_eq!((lost.cause(), lost.usage.unwrap().source()), (Cause::FirstChoice, Source::Estimated));
    assert!(lost.cost.as_ref().unwrap().nano_eur > 0);
    check_route(&event, &answer);
}

async fn a_request_that_is_refused_after_admission_is_told_without_attempts(topology: Topology) {
    let mut config = pair();
    config["content_policies"] =
        json!({"strict": {"rules": [{"name": "secret", "regex": "sky", "action": "block"}]}});
    config["tenants"]["evening"] = json!({"content_policy": "strict"});
    let world = World::start(topology, config).await;
    let of = |tenant: &str, id: &str, model: &str| GenerateRequest {
        tenant_id: tenant.to_owned(),
        ..named(id, model)
    };
    for (tenant, id, model, reason) in [
        ("daily", "denied", "pair", "PERMISSION_DENIED"),
        ("evening", "blocked", "pair", "CONTENT_POLICY"),
        ("morning", "unknown", "nobody", "UNKNOWN_MODEL"),
    ] {
        for mode in Mode::ALL {
            let id = format!("{id} {mode:?}");
            let refused = ask(&mut world.operator(), mode, of(tenant, &id, model)).await.unwrap_err();
            assert_eq!(Refusal::from(refused).reason, reason);
            let event = account(&world, &id).await;
            assert_eq!((event.outcome(), &*event.error_reason), (Outcome::Failed, reason));
            assert!(event.attempts.is_empty() && event.cost.unwrap().nano_eur == 0);
        }
    }
    // What is no request is not accounted for.
    let bad = GenerateRequest { messages: Vec::new(), ..named("bad", "pair") };
    let refused = ask(&mut world.client(), Mode::Unary, bad).await.unwrap_err();
    assert_eq!(Refusal::from(refused).reason, "INVALID_REQUEST");
    assert!(world.signalbox.accounts().await.iter().all(|event| event.request_id != "bad"));
}

async fn a_request_whose_router_dies_is_told_by_estimate(topology: Topology) {
    let mut world = World::start(topology, pair()).await;
    ask(&mut world.client(), Mode::Unary, named("before", LUNA)).await.unwrap();
    world.fault(Vendor::Openai, "trickle=50");
    let mut events = open(&mut world.client(), named("cut", LUNA)).await.unwrap();
    assert!(events.message().await.unwrap().is_some());
    world.fault(Vendor::Openai, "hang");
    let mut client = world.client();
    let hung = tokio::spawn(async move { ask(&mut client, Mode::Unary, named("hung", LUNA)).await });
    eventually("the vendor is called", || async { world.calls(Vendor::Openai).len() == 3 }).await;
    world.signalbox.router.kill().await;
    assert!(hung.await.unwrap().is_err());
    world.signalbox.router.restart().await;
    for id in ["cut", "hung"] {
        let event = account(&world, id).await;
        assert_eq!((event.outcome(), &*event.error_reason), (Outcome::Failed, "UNAVAILABLE"));
        assert_eq!(attempts(&event), ["openai: UNAVAILABLE"]);
        assert_eq!(event.usage.unwrap().source(), Source::Estimated);
        assert!(event.usage.unwrap().input_tokens > 0 && event.cost.unwrap().nano_eur > 0);
    }
    assert_eq!(account(&world, "before").await.outcome(), Outcome::Succeeded);
    // A second start finds nothing more to tell.
    world.signalbox.router.kill().await;
    world.signalbox.router.restart().await;
    assert_eq!(world.signalbox.accounts().await.len(), 3);
}

/// Which of `n` requests its client leaves, and after how many events.
fn leaves(n: usize) -> Option<usize> {
    [None, Some(0), None, Some(1), None, Some(4)][n % 6]
}

async fn what_is_sent_is_accounted_for(topology: Topology) {
    const SENT: usize = 240;
    const CLIENTS: usize = 8;
    let world = World::start(topology, pair()).await;
    world.fault(Vendor::Openai, "trickle=2");
    let sent = stream::iter(0..SENT).for_each_concurrent(CLIENTS, |n| {
        let mut client = world.client();
        async move {
            let Ok(mut events) = open(&mut client, named(&format!("request {n}"), "pair")).await else {
                return;
            };
            let mut read = 0;
            while leaves(n) != Some(read) && matches!(events.message().await, Ok(Some(_))) {
                read += 1;
            }
        }
    });
    sent.await;
    let told = || world.signalbox.accounts();
    eventually("every request is accounted for", || async { told().await.len() == SENT }).await;
    let events = told().await;
    events.iter().for_each(check);
    let ids: HashMap<_, _> = events.iter().map(|event| (&event.request_id, &event.event_id)).collect();
    assert_eq!(ids.len(), SENT);
    let whole = |event: &&UsageEvent| event.outcome() == Outcome::Succeeded;
    assert!(events.iter().filter(whole).count() >= SENT / 2);
    // The adapters, who count for themselves, have seen at least as much of those that were not given up.
    let spent: i64 = events.iter().filter(whole).map(|event| event.cost.as_ref().unwrap().nano_eur).sum();
    let counted = world.signalbox.metrics().await.sum("signalbox_cost_nano_eur_total", &[]) as i64;
    assert!(spent > 0 && spent <= counted, "{spent} <= {counted}");
}

async fn heartbeats_are_accounted_for_where_they_are_made(topology: Topology) {
    let world =
        World::start(topology, json!({"heartbeat": {"enabled": true, "interval": "1s", "timeout": "1s"}}))
            .await;
    let probe = |event: &UsageEvent| event.operation() == Operation::Probe && event.vendor == "openai";
    let event = eventually_some("a heartbeat is accounted for", || async {
        world.signalbox.accounts().await.into_iter().find(probe)
    })
    .await;
    check(&event);
    assert_eq!((&*event.tenant_id, event.outcome()), ("signalbox", Outcome::Succeeded));
    assert!(event.cost.unwrap().nano_eur > 0);
}

both_topologies!(
    an_answer_is_told_as_the_caller_was_told_it,
    vectors_are_accounted_for,
    failed_attempts_cost_too,
    answers_that_cannot_be_used_cost_what_their_vendors_say,
    a_request_that_nobody_served_is_told_as_failed,
    a_client_that_goes_pays_what_was_used_until_then,
    a_client_that_goes_before_an_answer_pays_the_prompt,
    a_deadline_is_a_failure_that_cost_something,
    an_answer_that_failed_the_gate_is_paid_for,
    a_hedge_that_lost_is_paid_for,
    a_request_that_is_refused_after_admission_is_told_without_attempts,
    a_request_whose_router_dies_is_told_by_estimate,
    what_is_sent_is_accounted_for,
    heartbeats_are_accounted_for_where_they_are_made,
);

/// Nothing takes accounts away from a router by itself.
#[tokio::test]
async fn a_router_that_cannot_account_for_a_request_refuses_it() {
    let config = json!({"usage": {"spool": {"max_bytes": 1_048_576}}});
    let world = World::start(Topology::Remote, config).await;
    let ask_once = |n: usize| {
        let mut client = world.client();
        async move { ask(&mut client, Mode::Unary, named(&format!("request {n}"), LUNA)).await.err() }
    };
    // Room is kept for requests under way, so that the first is refused a little early.
    let many = stream::iter(0..4000).map(ask_once).buffer_unordered(8);
    assert!(pin!(many.filter_map(|refused| async { refused })).next().await.is_some());
    let few = stream::iter(4000..5000).then(ask_once);
    let refused = pin!(few.filter_map(|refused| async { refused })).next().await;
    let refusal = Refusal::from(refused.unwrap());
    assert_eq!((refusal.code, refusal.reason), (Code::Unavailable, "UNAVAILABLE"), "{refusal:?}");
    assert!(refusal.message.contains("none could be accounted for"), "{refusal:?}");
    assert!(!refusal.message.contains(char::is_numeric), "no sizes of ours: {refusal:?}");
    eventually("the log says why", || async { world.signalbox.router.log().contains("usage log is full") })
        .await;
    let calls = world.calls(Vendor::Openai).len();
    ask(&mut world.client(), Mode::Unary, named("after", LUNA)).await.unwrap_err();
    assert_eq!(world.calls(Vendor::Openai).len(), calls, "no vendor is called");
}

#[tokio::test]
async fn two_processes_in_one_directory_are_told_so() {
    let first = Signalbox::serve(Options::default()).await;
    let mut second = tokio::process::Command::new(built("signalbox"));
    second.args(["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
    second.env_clear().env("SIGNALBOX_DATA_DIR", first.data_dir());
    let output = second.output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{told}");
    assert!(told.contains("in use by another process") && told.contains("usage.spool.dir"), "{told}");
}

#[tokio::test]
async fn the_trace_of_a_request_is_in_its_account() {
    let world = World::start(Topology::AllInOne, json!({})).await;
    let mut asked = Request::new(named("traced", LUNA));
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    asked.metadata_mut().insert("traceparent", parent.parse().unwrap());
    asked.set_timeout(Duration::from_secs(20));
    let _answer: v1::GenerateResponse = world.client().generate(asked).await.unwrap().into_inner();
    assert_eq!(account(&world, "traced").await.trace_id, trace);
}
