//! Identical requests at the same time.

use super::{asked, cost, outcome};
use crate::{
    adapter::{Deed, End, answers_after, fails_after},
    shelf::{Mood, Shelf},
    world::World,
};
use futures_util::future::join_all;
use signalbox_api::v1::{self, CacheMode, cache_effect::Outcome};
use signalbox_ports::Unlimited;
use signalbox_types::ErrorReason;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

#[tokio::test(start_paused = true)]
async fn one_call_answers_all_who_ask_the_same_meanwhile() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.adapter.tell("openai", [answers_after(8_000, "worth the wait")]);
    let answers = join_all((0..50).map(|_| world.ask(asked("pair")))).await;
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().text == "worth the wait"));
    assert_eq!(world.adapter.calls().len(), 1);
    assert!(!shelf.told_of("renew").is_empty(), "the answer takes longer than the flight");
    assert!(shelf.told_of("release").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_crowd_makes_one_lookup_and_a_hit_is_a_hit_for_each_of_it() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    shelf.change(|state| state.lookup_takes = Duration::from_millis(3));
    world.adapter.tell("openai", [answers_after(1_000, "worth the wait")]);
    let many = || join_all((0..50).map(|_| world.ask(asked("pair"))));
    let made: Vec<_> = many().await.into_iter().map(|answer| outcome(&answer.unwrap().route).0).collect();
    assert_eq!(made.iter().filter(|outcome| **outcome == Outcome::Miss).count(), 1, "{made:?}");
    assert_eq!(made.iter().filter(|outcome| **outcome == Outcome::Coalesced).count(), 49, "{made:?}");
    assert_eq!(shelf.told_of("lookup").len(), 1);
    shelf.settled().await;

    for answer in many().await {
        let route = answer.unwrap().route;
        let effect = route.cache.as_ref().unwrap();
        assert_eq!((effect.outcome(), cost(effect.saved.as_ref())), (Outcome::ExactHit, 1000));
        assert_eq!(cost(route.total_cost.as_ref()), 0);
    }
    assert_eq!((shelf.told_of("lookup").len(), world.adapter.calls().len()), (2, 1));
    let told = world.book.closed();
    let hits: Vec<_> = told.iter().filter(|event| event.route_reason == "exact hit").collect();
    assert_eq!(hits.len(), 50);
    assert!(hits.iter().all(|event| event.attempts.is_empty() && cost(event.cost.as_ref()) == 0));
}

#[tokio::test(start_paused = true)]
async fn who_takes_exact_answers_only_asks_apart() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    let exact = v1::GenerateRequest { cache_mode: CacheMode::ExactOnly.into(), ..asked("pair") };
    world.adapter.tell("openai", [answers_after(1_000, "one"), answers_after(1_000, "other")]);
    let (any, only) = tokio::join!(world.ask(asked("pair")), world.ask(exact));
    any.unwrap();
    only.unwrap();
    let lookups = shelf.told_of("lookup");
    assert!(lookups.contains(&"lookup alias:pair exactly".to_owned()), "{lookups:?}");
    assert!(lookups.contains(&"lookup alias:pair".to_owned()), "{lookups:?}");
}

#[tokio::test(start_paused = true)]
async fn a_first_that_is_called_off_before_it_has_looked_hands_on_to_one_other() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    shelf.change(|state| state.mood = Mood::Hangs);
    world.adapter.tell("openai", [answers_after(1_000, "in the end")]);
    let leader = timeout(Duration::from_millis(2), world.ask(asked("pair")));
    let followers = async {
        sleep(Duration::from_millis(1)).await;
        join_all((0..10).map(|_| world.ask(asked("pair")))).await
    };
    let (cut, answers) = tokio::join!(leader, followers);
    assert!(cut.is_err());
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().text == "in the end"));
    assert_eq!((shelf.told_of("lookup").len(), world.adapter.calls().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn when_the_first_is_called_off_the_others_go_on_at_once() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.adapter.tell("openai", [answers_after(3_000, "in the end")]);
    let leader = timeout(Duration::from_secs(1), world.ask(asked("pair")));
    let followers = async {
        sleep(Duration::from_millis(10)).await;
        join_all((0..10).map(|_| world.ask(asked("pair")))).await
    };
    let (cut, answers) = tokio::join!(leader, followers);
    assert!(cut.is_err());
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().text == "in the end"));
    assert_eq!(world.adapter.calls().len(), 11);
}

#[tokio::test(start_paused = true)]
async fn when_the_first_fails_all_others_try_at_once_and_not_one_after_the_other() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.adapter.tell("anthropic", [fails_after(2_000, ErrorReason::VendorTimeout)]);
    let began = Instant::now();
    let answers = join_all((0..6).map(|_| world.ask(asked("dear")))).await;
    assert!(answers.iter().all(Result::is_err));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn when_the_first_fails_the_next_tries_and_nobody_waits_for_longer_than_half_of_its_time() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.adapter.tell("anthropic", [fails_after(500, ErrorReason::VendorTimeout), answers_after(0, "good")]);
    let follower = async {
        sleep(Duration::from_millis(10)).await;
        world.ask(asked("dear")).await
    };
    let (failed, answer) = tokio::join!(world.ask(asked("dear")), follower);
    failed.unwrap_err();
    assert_eq!(answer.unwrap().text, "good");

    world.adapter.tell("openai", [answers_after(60_000, "late"), answers_after(0, "mine")]);
    let hurried = async {
        sleep(Duration::from_millis(10)).await;
        let timeout = Some(prost_types::Duration { seconds: 2, nanos: 0 });
        world.ask(v1::GenerateRequest { timeout, ..asked("pair") }).await
    };
    let leader = timeout(Duration::from_secs(5), world.ask(asked("pair")));
    let (_cut, answer) = tokio::join!(leader, hurried);
    let answer = answer.unwrap();
    assert_eq!((&*answer.text, outcome(&answer.route).0), ("mine", Outcome::Miss));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_left_lets_others_go_on() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.adapter.tell(
        "openai",
        [Deed { after: Duration::ZERO, end: End::Stalls("half") }, answers_after(0, "whole")],
    );
    let request = v1::StreamGenerateRequest { request: Some(asked("pair")) };
    let mut stream = world.client().stream_generate(request).await.unwrap().into_inner();
    stream.message().await.unwrap();
    drop(stream);
    shelf.settled().await;
    assert_eq!(shelf.told_of("release").len(), 1);
    assert!(shelf.told_of("store").is_empty());
    // One that was read to its end is kept.
    world.stream(asked("pair")).await.unwrap();
    shelf.settled().await;
    assert_eq!(shelf.told_of("store").len(), 1);
}
