//! What is given again, and what is not.

use super::{HAIKU, LUNA, answer, calls, hit, met, of, on_with, outcome};
use serde_json::{Value, json};
use signalbox_api::v1::{CacheMode, GenerateRequest, cache_effect::Outcome, usage_event};
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, ask, json_schema, open, request},
    both_topologies, eventually, eventually_some, own,
};
use signalbox_vendorsim::Vendor;

fn quick() -> Value {
    on_with(json!({"failover": {"quick_retry_delay": "10ms"}}))
}

async fn the_same_request_gets_its_answer_again_for_nothing(topology: Topology) {
    let world = World::start(topology, quick()).await;
    let asked = of("acme", "Why is the sky blue?");
    let first = answer(&world, Mode::Unary, asked.clone()).await;
    assert_eq!(met(&first.route), (Outcome::Miss, String::new()));
    assert!(first.cost.nano_eur > 0);
    for mode in Mode::ALL {
        let again =
            hit(&world, mode, GenerateRequest { request_id: format!("{mode:?}"), ..asked.clone() }).await;
        assert_eq!(again.content, first.content);
        assert_eq!((again.cost.nano_eur, again.usage.output_tokens, again.route.attempts.len()), (0, 0, 0));
        assert_eq!(again.route.total_cost.as_ref().unwrap().nano_eur, 0);
        assert_eq!((&again.route.vendor, &again.route.model), (&first.route.vendor, &first.route.model));
        let effect = again.route.cache.as_ref().unwrap();
        assert_eq!(effect.saved.as_ref().unwrap().nano_eur, first.cost.nano_eur);
        assert_eq!(effect.saved_usage.unwrap().output_tokens, first.usage.output_tokens);
        assert!(!effect.entry_id.is_empty() && effect.saved_latency.is_some());

        let id = format!("{mode:?}");
        let event = eventually_some("the request is accounted for", || async {
            let mut accounts = world.signalbox.accounts().await.into_iter();
            accounts.find(|event| event.request_id == id && event.route_reason == "exact hit")
        });
        let event = event.await;
        assert_eq!(
            (event.outcome(), event.cost.as_ref().unwrap().nano_eur),
            (usage_event::Outcome::Succeeded, 0)
        );
        assert_eq!((event.attempts.len(), event.charges.len(), &event.cache), (0, 0, &again.route.cache));
    }
    let metrics = world.signalbox.metrics().await;
    assert!(metrics.sum("signalbox_router_cache_requests_total", &[("outcome", "exact_hit")]) >= 2.0);
}

async fn streams_and_whole_answers_are_one_in_the_cache(topology: Topology) {
    let world = World::start(topology, quick()).await;
    for (first, then) in [(Mode::Unary, Mode::Stream), (Mode::Stream, Mode::Unary)] {
        let asked = of("acme", &format!("A question for {first:?} first?"));
        let made = answer(&world, first, asked.clone()).await;
        let again = hit(&world, then, asked).await;
        assert_eq!((again.text(), again.finish_reason), (made.text(), made.finish_reason));
    }
    // A replayed stream comes in pieces.
    let asked = of("acme", &"Many words make a long answer. ".repeat(20));
    answer(&world, Mode::Unary, asked.clone()).await;
    hit(&world, Mode::Stream, asked.clone()).await;
    let mut events = open(&mut world.operator(), asked).await.unwrap();
    let mut count = 0;
    while events.message().await.unwrap().is_some() {
        count += 1;
    }
    assert!(count > 2, "{count} events");
}

async fn callers_may_tighten_what_the_cache_does(topology: Topology) {
    let world = World::start(topology, quick()).await;
    let asked = of("acme", "How deep is the sea?");
    let with = |mode: CacheMode| GenerateRequest { cache_mode: mode.into(), ..asked.clone() };
    answer(&world, Mode::Unary, asked.clone()).await;
    hit(&world, Mode::Unary, asked.clone()).await;
    let before = calls(&world);
    let mode = || (Outcome::Bypass, "mode".to_owned());
    assert_eq!(met(&answer(&world, Mode::Unary, with(CacheMode::Bypass)).await.route), mode());
    assert_eq!(met(&answer(&world, Mode::Unary, with(CacheMode::Refresh)).await.route), mode());
    assert_eq!(calls(&world), before + 2);
    assert_eq!(outcome(&world, with(CacheMode::ExactOnly)).await, Outcome::ExactHit);

    // What is refreshed is found, also where nothing was before.
    let other =
        GenerateRequest { cache_mode: CacheMode::Refresh.into(), ..of("acme", "How high is the sky?") };
    answer(&world, Mode::Unary, other.clone()).await;
    hit(&world, Mode::Unary, GenerateRequest { cache_mode: 0, ..other }).await;
}

async fn an_answer_that_failed_was_cut_or_is_not_what_was_asked_is_not_kept(topology: Topology) {
    let world = World::start(topology, quick()).await;
    let strict = GenerateRequest {
        response_format: Some(json_schema(r#"{"type":"object","required":["a"]}"#)),
        ..of("acme", "Give me a.")
    };
    for (fault, asked, mode) in [
        ("status=500", of("acme", "One?"), Mode::Unary),
        ("cut=3", of("acme", "Two?"), Mode::Stream),
        ("malformed", of("acme", "Three?"), Mode::Unary),
        ("empty-finish", of("acme", "Four?"), Mode::Stream),
    ] {
        world.fault(Vendor::Openai, fault);
        ask(&mut world.operator(), mode, asked.clone()).await.unwrap_err();
        world.vendors.clear_faults();
        assert_eq!(outcome(&world, asked).await, Outcome::Miss, "{fault}");
    }
    // Cut by its own limit: given, and not kept.
    let short =
        GenerateRequest { max_output_tokens: Some(2), ..of("acme", "Tell me a long story of the sea.") };
    for _ in 0..2 {
        assert_eq!(outcome(&world, short.clone()).await, Outcome::Miss);
    }
    // The gate refuses it, or lets a good one through: then it is one to keep.
    if ask(&mut world.operator(), Mode::Unary, strict.clone()).await.is_err() {
        assert!(ask(&mut world.operator(), Mode::Unary, strict).await.is_err());
    } else {
        hit(&world, Mode::Unary, strict).await;
    }
}

async fn a_fallback_of_a_lower_tier_is_not_given_to_those_who_ask_for_better(topology: Topology) {
    let aliases = json!({"aliases": {"best": {"targets": ["anthropic/claude-opus-5-5", LUNA]}}});
    let world = World::start(topology, on_with(aliases)).await;
    let asked = GenerateRequest { tenant_id: own("acme"), ..request("best", "What is best?") };
    world.fault(Vendor::Anthropic, "status=503,no-retry-after");
    assert_eq!(answer(&world, Mode::Unary, asked.clone()).await.route.vendor, "openai");
    // It is kept for those who ask for that very model.
    hit(&world, Mode::Unary, GenerateRequest { model: LUNA.to_owned(), ..asked.clone() }).await;
    world.vendors.clear_faults();
    eventually("the better model serves again", || async {
        let better =
            answer(&world, Mode::Unary, GenerateRequest { request_id: String::new(), ..asked.clone() }).await;
        better.route.vendor == "anthropic"
    })
    .await;
    assert_eq!(hit(&world, Mode::Unary, asked).await.route.vendor, "anthropic");
}

async fn an_alias_that_leads_elsewhere_gives_no_answers_of_before(topology: Topology) {
    let mut world = World::start(topology, on_with(json!({"aliases": {"mine": {"targets": [LUNA]}}}))).await;
    let asked = GenerateRequest { tenant_id: own("acme"), ..request("mine", "Who are you?") };
    answer(&world, Mode::Unary, asked.clone()).await;
    assert_eq!(hit(&world, Mode::Unary, asked.clone()).await.route.vendor, "openai");
    world.reconfigure(json!({"aliases": {"mine": {"targets": [HAIKU]}}}));
    eventually("the other model answers", || async {
        answer(&world, Mode::Unary, asked.clone()).await.route.vendor == "anthropic"
    })
    .await;
    assert_eq!(hit(&world, Mode::Unary, asked).await.route.vendor, "anthropic");
}

async fn identical_requests_at_the_same_time_are_one_call(topology: Topology) {
    let world = World::start(topology, quick()).await;
    world.fault(Vendor::Openai, "delay=700");
    let asked = of("acme", "What do all of you want to know?");
    let many = (0..40).map(|_| answer(&world, Mode::Unary, asked.clone()));
    let answers = futures_util::future::join_all(many).await;
    assert_eq!(calls(&world), 1);
    let outcomes: Vec<_> = answers.iter().map(|answer| met(&answer.route).0).collect();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Miss).count(), 1, "{outcomes:?}");
    assert!(outcomes.contains(&Outcome::Coalesced), "{outcomes:?}");
    assert!(answers.iter().all(|answer| answer.text() == answers[0].text()));
}

async fn a_caller_who_leaves_costs_those_who_wait_nothing(topology: Topology) {
    let world = World::start(topology, quick()).await;
    world.fault(Vendor::Openai, "delay=600");
    let asked = of("acme", "Who stays to the end?");
    let mut leader = world.operator();
    let leaving = tokio::time::timeout(
        std::time::Duration::from_millis(300),
        ask(&mut leader, Mode::Unary, asked.clone()),
    );
    let follower = async {
        eventually("the first is under way", || async { calls(&world) == 1 }).await;
        answer(&world, Mode::Unary, asked.clone()).await
    };
    let (left, stayed) = tokio::join!(leaving, follower);
    assert!(left.is_err());
    assert!(!stayed.text().is_empty());
    assert_eq!(calls(&world), 2);
}

both_topologies!(
    the_same_request_gets_its_answer_again_for_nothing,
    streams_and_whole_answers_are_one_in_the_cache,
    callers_may_tighten_what_the_cache_does,
    an_answer_that_failed_was_cut_or_is_not_what_was_asked_is_not_kept,
    a_fallback_of_a_lower_tier_is_not_given_to_those_who_ask_for_better,
    an_alias_that_leads_elsewhere_gives_no_answers_of_before,
    identical_requests_at_the_same_time_are_one_call,
    a_caller_who_leaves_costs_those_who_wait_nothing,
);
