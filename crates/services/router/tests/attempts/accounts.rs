//! What is told of a request in the usage log.

use crate::{
    adapter::{Deed, End, answers_after, fails_after},
    world::{World, alias, task},
};
use signalbox_api::{
    status::from_status,
    v1::{
        self, UsageEvent,
        token_usage::Source,
        usage_event::{Operation, Outcome},
    },
};
use signalbox_ports::LogFull;
use signalbox_types::ErrorReason;
use std::time::Duration;
use tokio::time::timeout;

/// As `openai CANCELLED 4+0e`: vendor, reason, prompt and answer tokens, and whether they are an estimate.
fn told(event: &UsageEvent) -> Vec<String> {
    let told = event.attempts.iter().map(|made| {
        let attempt = made.attempt.as_ref().unwrap();
        let usage = attempt.usage.unwrap();
        let estimated = if usage.source() == Source::Estimated { "e" } else { "" };
        let counts = format!("{}+{}{estimated}", usage.input_tokens, usage.output_tokens);
        [&*attempt.vendor, &*attempt.error_reason, &*counts].join(" ").replace("  ", " ")
    });
    told.collect()
}

fn end(event: &UsageEvent) -> (Outcome, &str) {
    (event.outcome(), &event.error_reason)
}

/// What our own words of a prompt cost, in tokens.
fn prompt(world: &World) -> u64 {
    world.book.closed().iter().map(|event| event.usage.unwrap().input_tokens).max().unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_answer_closes_the_account_that_was_opened_before_the_call() {
    let world = World::new();
    world.adapter.tell("openai", [answers_after(1500, "from luna")]);
    let asked = v1::GenerateRequest { scene: "editor".to_owned(), ..alias("pair") };
    let route = world.ask(asked).await.unwrap().route;
    let event = world.book.last();
    assert_eq!(end(&event), (Outcome::Succeeded, ""));
    assert_eq!(told(&event), ["openai 10+5"]);
    assert_eq!(
        (event.operation(), &*event.scene, &*event.requested_model),
        (Operation::Generate, "editor", "pair")
    );
    assert_eq!((event.cost.clone(), event.decision.clone()), (route.total_cost, route.decision));
    let [start, end] = [event.start_time.unwrap(), event.end_time.unwrap()];
    assert_eq!((end.seconds - start.seconds, end.nanos - start.nanos), (1, 500_000_000));
    assert_eq!(event.latency.unwrap().seconds, 1);
}

#[tokio::test(start_paused = true)]
async fn each_call_is_in_the_draft_before_it_is_made_and_the_dearest_is_assumed() {
    let world = World::new();
    world.adapter.tell("openai", [fails_after(10, ErrorReason::VendorOverloaded)]);
    world.adapter.tell("anthropic", [answers_after(60_000, "late")]);
    let asked = timeout(Duration::from_secs(1), world.ask(alias("pair")));
    let seen = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        world.book.drafts()
    };
    let (_cut, drafts) = tokio::join!(asked, seen);
    let event = world.book.last();
    let tokens = event.attempts.last().unwrap().attempt.as_ref().unwrap().usage.unwrap().input_tokens;
    let died = |vendor: &str| format!("{vendor} UNAVAILABLE {tokens}+0e");
    let failed = "openai VENDOR_OVERLOADED 0+0".to_owned();
    let drafts: Vec<Vec<String>> = drafts.iter().map(told).collect();
    let retry = vec![failed.clone(), died("openai")];
    let switch = vec![failed.clone(), failed.clone(), died("anthropic")];
    assert_eq!(drafts, [vec![died("openai")], retry, switch]);
    // The test's own patience was over.
    assert_eq!(end(&event), (Outcome::Cancelled, "CANCELLED"));
    assert_eq!(told(&event), [failed.clone(), failed, format!("anthropic CANCELLED {tokens}+0e")]);
    let why: Vec<_> = event.attempts.iter().map(|attempt| &*attempt.fallback_reason).collect();
    assert_eq!(why, ["", "VENDOR_OVERLOADED", "VENDOR_OVERLOADED"]);
    assert!(event.vendor.is_empty() && event.route_reason.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_way_to_the_answer_is_told_in_words() {
    let world = World::new();
    world.adapter.tell("openai", [fails_after(0, ErrorReason::VendorError), answers_after(0, "again")]);
    world.ask(alias("pair")).await.unwrap();
    assert_eq!(world.book.last().route_reason, "retry after VENDOR_ERROR");
    world.adapter.tell("openai", [fails_after(0, ErrorReason::VendorTimeout)]);
    world.ask(alias("pair")).await.unwrap();
    let event = world.book.last();
    assert_eq!(event.route_reason, "fallback after VENDOR_TIMEOUT");
    assert_eq!((&*event.vendor, &*event.model), ("anthropic", "claude-haiku-5-5"));
    assert!(event.attempts[0].attempt.as_ref().unwrap().error_message.is_empty(), "it may quote the prompt");
    let timed_out = &told(&event)[0];
    assert!(timed_out.ends_with("+0e") && !timed_out.contains(" 0+"), "the prompt was read: {timed_out}");
}

#[tokio::test(start_paused = true)]
async fn what_had_arrived_of_a_broken_stream_is_paid_for() {
    let world = World::new();
    let breaks = End::Breaks("four words and more", ErrorReason::StreamTruncated);
    world.adapter.tell("openai", [Deed { after: Duration::ZERO, end: breaks }]);
    world.stream(alias("pair")).await.unwrap_err();
    let event = world.book.last();
    assert_eq!(end(&event), (Outcome::Failed, "STREAM_TRUNCATED"));
    assert!(event.usage.unwrap().output_tokens >= 4, "{event:?}");
    assert!(event.cost.unwrap().nano_eur > 0 && event.attempts[0].time_to_first_token.is_some());
}

#[tokio::test(start_paused = true)]
async fn both_calls_of_a_hedge_are_in_the_account_in_the_order_of_their_start() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(5000, "from luna")]);
    world.adapter.tell("anthropic", [answers_after(1, "from haiku")]);
    world.stream(task("hedged")).await.unwrap();
    let event = world.book.last();
    assert_eq!((event.operation(), &*event.route_reason), (Operation::StreamGenerate, "hedge"));
    let prompt = prompt(&world) - 10;
    assert_eq!(told(&event), [format!("openai CANCELLED {prompt}+0e"), "anthropic 10+5".to_owned()]);

    world.adapter.tell("anthropic", [fails_after(1, ErrorReason::VendorAuth)]);
    world.stream(task("hedged")).await.unwrap();
    assert_eq!(told(&world.book.last()), ["openai 10+5", "anthropic VENDOR_AUTH 0+0"]);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_a_stream_pays_what_had_come() {
    let world = World::new();
    world.adapter.tell("openai", [Deed { after: Duration::ZERO, end: End::Stalls("four words and more") }]);
    let request = v1::StreamGenerateRequest { request: Some(alias("pair")) };
    let mut events = world.client().stream_generate(request).await.unwrap().into_inner();
    events.message().await.unwrap().unwrap();
    assert!(timeout(Duration::from_secs(9), events.message()).await.is_err());
    drop(events);
    let event = world.book.last();
    assert_eq!(end(&event), (Outcome::Cancelled, "CANCELLED"));
    let usage = event.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.source()), (77, Source::Estimated), "as the vendor said");
    assert!((54..60).contains(&usage.output_tokens), "with what was held back: {usage:?}");
    assert!(event.cost.unwrap().nano_eur > 0);
}

#[tokio::test(start_paused = true)]
async fn the_callers_time_is_a_failure_and_told_as_that() {
    let world = World::new();
    world.adapter.tell("openai", [answers_after(60_000, "late")]);
    let mut asked = tonic::Request::new(alias("pair"));
    asked.set_timeout(Duration::from_secs(1));
    // Whoever drops the call does so when its time is over.
    let cut = timeout(Duration::from_secs(1), world.client().generate(asked)).await;
    assert!(!matches!(cut, Ok(Ok(_))));
    assert_eq!(end(&world.book.last()), (Outcome::Failed, "DEADLINE_EXCEEDED"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_reset_at_about_its_deadline_ran_out_of_time_and_an_earlier_one_was_called_off() {
    let over = (Outcome::Failed, "DEADLINE_EXCEEDED");
    for (dropped, told) in [(985, over), (900, (Outcome::Cancelled, "CANCELLED"))] {
        let world = World::new();
        world.adapter.tell("openai", [answers_after(60_000, "late")]);
        let mut asked = tonic::Request::new(alias("pair"));
        asked.set_timeout(Duration::from_secs(1));
        let cut = timeout(Duration::from_millis(dropped), world.client().generate(asked)).await;
        assert!(cut.is_err());
        assert_eq!(end(&world.book.last()), told, "{dropped}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_can_serve_is_told_with_its_decision_and_what_is_no_request_is_not() {
    let world = World::new();
    world.ask(alias("nobody")).await.unwrap_err();
    let event = world.book.last();
    assert_eq!(end(&event), (Outcome::Failed, "UNKNOWN_MODEL"));
    assert_eq!(event.decision.unwrap().requested, "alias:nobody");
    assert!(event.attempts.is_empty() && event.cost.unwrap().nano_eur == 0);
    world.ask(v1::GenerateRequest::default()).await.unwrap_err();
    assert_eq!(world.book.closed().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn vectors_have_an_account() {
    let world = World::new();
    let asked = v1::EmbedRequest { inputs: vec!["blue".to_owned()], ..Default::default() };
    world.client().embed(asked.clone()).await.unwrap();
    let event = world.book.last();
    assert_eq!((event.operation(), event.outcome()), (Operation::Embed, Outcome::Succeeded));
    assert_eq!((told(&event), &*event.vendor), (vec!["openai 10+5".to_owned()], "openai"));
    world.client().embed(v1::EmbedRequest { model: "nobody".to_owned(), ..asked }).await.unwrap_err();
    assert_eq!(end(&world.book.last()), (Outcome::Failed, "UNKNOWN_MODEL"));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_accounted_for_is_refused_before_a_vendor_is_called() {
    let world = World::new();
    world.book.fill();
    for status in [
        world.ask(alias("pair")).await.unwrap_err(),
        world.stream(alias("pair")).await.unwrap_err().status,
        world
            .client()
            .embed(v1::EmbedRequest { inputs: vec!["a".to_owned()], ..Default::default() })
            .await
            .unwrap_err(),
    ] {
        let failure = from_status(&status);
        assert_eq!(failure.reason, ErrorReason::Unavailable);
        assert_eq!(failure, LogFull::Waiting { used_bytes: 7, max_bytes: 7 }.into());
    }
    assert!(world.adapter.calls().is_empty());
    assert!(world.book.closed().is_empty());
}
