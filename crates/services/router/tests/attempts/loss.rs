//! The adapter goes away and comes back.

use crate::{
    adapter::{answers_after, fails_after},
    world::{World, alias, tried},
};
use signalbox_api::{convert, status::from_status, v1};
use signalbox_types::ErrorReason;
use std::time::Duration;
use tokio::time::Instant;

const AWAY: ErrorReason = ErrorReason::Unavailable;

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_an_adapter_that_comes_back_and_tells_of_it_once() {
    let world = World::new();
    let away = || std::iter::repeat_n(fails_after(0, AWAY), 6);
    world.adapter.tell("openai", away().chain([answers_after(0, "from luna")]));
    let answer = world.ask(alias("pair")).await.unwrap();
    assert_eq!(answer.attempts(), ["openai FIRST_CHOICE UNAVAILABLE", "openai RETRY"]);
    world.adapter.tell("openai", away().chain([answers_after(0, "from luna")]));
    let streamed = world.stream(alias("pair")).await.unwrap();
    assert_eq!(streamed.attempts(), ["openai FIRST_CHOICE UNAVAILABLE", "openai RETRY"]);
}

#[tokio::test(start_paused = true)]
async fn the_loss_of_an_adapter_takes_no_retry_from_the_vendor_and_nothing_from_its_health() {
    let world = World::new();
    for _ in 0..20 {
        let deeds = [
            fails_after(0, AWAY),
            fails_after(0, AWAY),
            fails_after(0, ErrorReason::StreamTruncated),
            answers_after(0, "from luna"),
        ];
        world.adapter.tell("openai", deeds);
        let answer = world.ask(alias("pair")).await.unwrap();
        assert_eq!(
            answer.attempts(),
            ["openai FIRST_CHOICE UNAVAILABLE", "openai RETRY STREAM_TRUNCATED", "openai RETRY"]
        );
        // Otherwise the vendor's own failures would open its breaker.
        tokio::time::advance(Duration::from_secs(60)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn patience_with_an_adapter_that_stays_away_ends() {
    let world = World::new();
    world.adapter.tell("openai", [fails_after(0, AWAY)]);
    let began = Instant::now();
    let status = world.ask(alias("pair")).await.unwrap_err();
    assert_eq!(from_status(&status).reason, AWAY);
    assert!(began.elapsed() > Duration::from_millis(1500) && began.elapsed() <= Duration::from_secs(2));
    assert_eq!(tried(&status), ["openai FIRST_CHOICE UNAVAILABLE"]);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_adapter_beyond_the_callers_deadline() {
    let world = World::new();
    world.adapter.tell("openai", [fails_after(0, AWAY)]);
    let timeout = Some(convert::duration_to_proto(Duration::from_millis(300)));
    let began = Instant::now();
    let status = world.stream(v1::GenerateRequest { timeout, ..alias("pair") }).await.unwrap_err().status;
    assert_eq!(from_status(&status).reason, AWAY, "what is wrong is told, not that time is over");
    assert!(began.elapsed() < Duration::from_millis(300));
}

#[tokio::test(start_paused = true)]
async fn vectors_wait_for_an_adapter_too() {
    let world = World::new();
    let away = std::iter::repeat_n(fails_after(0, AWAY), 6);
    world.adapter.tell("openai", away.chain([answers_after(0, "")]));
    let asked = v1::EmbedRequest {
        model: "openai/text-embedding-3-small".to_owned(),
        inputs: vec!["Hello?".to_owned()],
        ..Default::default()
    };
    let answer = world.client().embed(asked).await.unwrap().into_inner();
    let reasons: Vec<_> =
        answer.route.unwrap().attempts.into_iter().map(|attempt| attempt.error_reason).collect();
    assert_eq!(reasons, ["UNAVAILABLE", ""]);
}
