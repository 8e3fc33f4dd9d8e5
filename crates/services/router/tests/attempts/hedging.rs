//! A second model asked beside one that is silent.

use crate::{
    adapter::{Deed, End, answers_after, fails_after},
    world::{World, task, tried},
};
use signalbox_api::{convert, status::from_status, v1};
use signalbox_types::ErrorReason;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// After which the task type hedges.
const AFTER: Duration = Duration::from_millis(800);
const LUNA: &str = "openai/gpt-6-luna";
const HAIKU: &str = "anthropic/claude-haiku-5-5";

#[tokio::test(start_paused = true)]
async fn a_quick_answer_is_not_hedged() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(799, "from luna")]);
    let told = world.stream(task("hedged")).await.unwrap();
    assert_eq!(told.attempts(), ["openai FIRST_CHOICE"]);
    assert_eq!(world.adapter.calls(), [LUNA]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_model_loses_to_one_of_another_vendor_and_is_dropped() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(5000, "from luna")]);
    world.adapter.tell("anthropic", [answers_after(300, "from haiku")]);
    let began = Instant::now();
    let told = world.stream(task("hedged")).await.unwrap();
    assert_eq!(began.elapsed(), AFTER + Duration::from_millis(300));
    assert_eq!((told.text.as_str(), told.route.vendor.as_str()), ("from haiku", "anthropic"));
    assert_eq!(told.attempts(), ["openai FIRST_CHOICE CANCELLED", "anthropic HEDGE"]);
    assert_eq!(world.adapter.given_up(), [LUNA]);
}

#[tokio::test(start_paused = true)]
async fn what_the_loser_used_is_estimated_and_part_of_the_total() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(5000, "from luna")]);
    let route = world.stream(task("hedged")).await.unwrap().route;
    let [lost, won] = &route.attempts[..] else { panic!("{route:?}") };
    let usage = lost.usage.unwrap();
    assert_eq!(usage.source(), v1::token_usage::Source::Estimated);
    assert!(usage.input_tokens > 0 && usage.output_tokens == 0, "{usage:?}");
    let costs = [lost, won].map(|attempt| attempt.cost.clone().unwrap());
    assert!(costs[0].nano_eur > 0 && !costs[0].unknown, "{costs:?}");
    assert_eq!(route.total_cost.unwrap().nano_eur, costs[0].nano_eur + costs[1].nano_eur);
    assert_eq!(convert::duration_from_proto(lost.latency.unwrap()), Some(AFTER));
}

#[tokio::test(start_paused = true)]
async fn a_hedge_that_is_slower_loses_and_is_dropped() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(1000, "from luna")]);
    world.adapter.tell("anthropic", [answers_after(300, "from haiku")]);
    let told = world.stream(task("hedged")).await.unwrap();
    assert_eq!(told.text, "from luna", "no word of the other");
    assert_eq!(told.attempts(), ["anthropic HEDGE CANCELLED", "openai FIRST_CHOICE"]);
    assert_eq!(world.adapter.given_up(), [HAIKU]);
}

#[tokio::test(start_paused = true)]
async fn when_the_first_fails_the_hedge_goes_on_as_its_fallback() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [fails_after(1000, ErrorReason::VendorError)]);
    world.adapter.tell("anthropic", [answers_after(900, "from haiku")]);
    let began = Instant::now();
    let told = world.stream(task("hedged")).await.unwrap();
    assert_eq!(told.attempts(), ["openai FIRST_CHOICE VENDOR_ERROR", "anthropic HEDGE"]);
    assert_eq!(began.elapsed(), AFTER + Duration::from_millis(900), "it was not asked anew");
}

#[tokio::test(start_paused = true)]
async fn when_the_hedge_fails_the_first_goes_on() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(2000, "from luna")]);
    world.adapter.tell("anthropic", [fails_after(100, ErrorReason::VendorOverloaded)]);
    let told = world.stream(task("hedged")).await.unwrap();
    assert_eq!(told.attempts(), ["anthropic HEDGE VENDOR_OVERLOADED", "openai FIRST_CHOICE"]);
    assert!(world.adapter.given_up().is_empty());
}

#[tokio::test(start_paused = true)]
async fn when_both_fail_failover_goes_on_with_what_is_left() {
    let world = World::with_hedges().await;
    let timeout = ErrorReason::VendorTimeout;
    // The second model of the first vendor is what is left.
    world.adapter.tell("openai", [fails_after(1000, timeout), answers_after(0, "from sol")]);
    world.adapter.tell("anthropic", [fails_after(1000, timeout)]);
    let told = world.stream(task("hedged")).await.unwrap();
    assert_eq!(
        told.attempts(),
        ["openai FIRST_CHOICE VENDOR_TIMEOUT", "anthropic HEDGE VENDOR_TIMEOUT", "openai FALLBACK"]
    );
    assert_eq!(told.route.model, "gpt-6-sol");
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_the_request_ends_its_hedge_too() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [fails_after(1000, ErrorReason::ContentPolicy)]);
    world.adapter.tell("anthropic", [answers_after(900, "from haiku")]);
    let broken = world.stream(task("hedged")).await.unwrap_err();
    assert_eq!(from_status(&broken.status).reason, ErrorReason::ContentPolicy);
    assert_eq!(tried(&broken.status), ["openai FIRST_CHOICE CONTENT_POLICY", "anthropic HEDGE CANCELLED"]);
    assert_eq!(world.adapter.given_up(), [HAIKU]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_after_its_hedge_has_won_ends_with_a_status() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(5000, "from luna")]);
    let breaks = End::Breaks("from h", ErrorReason::StreamTruncated);
    world.adapter.tell("anthropic", [Deed { after: Duration::from_millis(1), end: breaks }]);
    let broken = world.stream(task("hedged")).await.unwrap_err();
    assert_eq!(broken.text, "from h", "nobody else's words follow");
    assert_eq!(tried(&broken.status), ["openai FIRST_CHOICE CANCELLED", "anthropic HEDGE STREAM_TRUNCATED"]);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_takes_both_calls_along() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(60_000, "from luna")]);
    world.adapter.tell("anthropic", [answers_after(60_000, "from haiku")]);
    let left = timeout(2 * AFTER, world.stream(task("hedged"))).await;
    assert!(left.is_err());
    let mut given_up = world.adapter.given_up();
    given_up.sort();
    assert_eq!(given_up, [HAIKU, LUNA]);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_the_share_is_hedged() {
    let world = World::new();
    world.adapter.tell("openai", [answers_after(1000, "from luna")]);
    let mut hedged = Vec::new();
    for n in 1..=120 {
        let told = world.stream(task("seldom")).await.unwrap();
        hedged.extend((told.route.attempts.len() > 1).then_some(n));
    }
    assert_eq!(hedged, [50, 100]);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_asked_to_wait_is_no_hedge() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(1000, "from luna")]);
    world
        .adapter
        .tell("anthropic", [fails_after(0, ErrorReason::VendorRateLimited), answers_after(0, "from haiku")]);
    let first = world.stream(task("hedged")).await.unwrap();
    assert_eq!(first.attempts(), ["anthropic HEDGE VENDOR_RATE_LIMITED", "openai FIRST_CHOICE"]);
    let second = world.stream(task("hedged")).await.unwrap();
    assert_eq!(second.attempts(), ["openai FIRST_CHOICE"]);
}

#[tokio::test(start_paused = true)]
async fn no_hedge_begins_that_the_deadline_would_cut() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(1000, "from luna")]);
    let asked = v1::GenerateRequest {
        timeout: Some(convert::duration_to_proto(Duration::from_millis(1500))),
        ..task("hedged")
    };
    assert_eq!(world.stream(asked).await.unwrap().attempts(), ["openai FIRST_CHOICE"]);
}

#[tokio::test(start_paused = true)]
async fn a_whole_answer_is_not_hedged() {
    let world = World::with_hedges().await;
    world.adapter.tell("openai", [answers_after(5000, "from luna")]);
    assert_eq!(world.ask(task("hedged")).await.unwrap().attempts(), ["openai FIRST_CHOICE"]);
}
