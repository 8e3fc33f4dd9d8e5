//! Identical requests wait for one answer.

use super::world::{World, answer, effect, met, request};
use crate::flights::{Flights, Joined, News};
use futures_util::future::join_all;
use signalbox_api::v1::{
    FinishReason, LookupResponse, ReleaseFlightRequest, RenewFlightRequest, cache_effect::Outcome,
    cache_service_server::CacheService as _,
};
use signalbox_ports::cache::Digest;
use std::{sync::Arc, time::Duration};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tonic::Request;

const WAIT: Duration = Duration::from_secs(60);

fn leads(looked: &LookupResponse) -> bool {
    looked.flight_ttl.is_some()
}

/// So many that wait, in tasks of their own.
fn crowd(world: &Arc<World>, size: usize) -> Vec<JoinHandle<LookupResponse>> {
    let waiting = || {
        let world = world.clone();
        tokio::spawn(async move { world.ask_waiting(&request("Name the topic", "Rain."), WAIT).await })
    };
    (0..size).map(|_| waiting()).collect()
}

async fn all(crowd: Vec<JoinHandle<LookupResponse>>) -> Vec<LookupResponse> {
    join_all(crowd).await.into_iter().map(Result::unwrap).collect()
}

async fn release(world: &World, led: &LookupResponse) {
    let request = ReleaseFlightRequest { lookup_token: led.lookup_token.clone() };
    world.service.release_flight(Request::new(request)).await.unwrap();
}

async fn renew(world: &World, led: &LookupResponse) -> bool {
    let request = RenewFlightRequest { lookup_token: led.lookup_token.clone() };
    world.service.renew_flight(Request::new(request)).await.unwrap().into_inner().flight_ttl.is_some()
}

#[tokio::test(start_paused = true)]
async fn of_a_thousand_identical_requests_one_asks_a_model() {
    let world = Arc::new(World::new());
    let asked = request("Name the topic", "Rain.");
    let waiting = crowd(&world, 1_000);
    sleep(Duration::from_millis(500)).await;
    let led: Vec<_> = waiting.iter().filter(|one| one.is_finished()).collect();
    assert_eq!(led.len(), 1, "all but one wait");
    world.keep(&asked, "weather", "").await;
    let looked = all(waiting).await;
    assert_eq!(looked.iter().filter(|looked| leads(looked)).count(), 1);
    let shared = |looked: &&LookupResponse| met(looked) == (Outcome::Coalesced, "", Some("weather".into()));
    assert_eq!(looked.iter().filter(shared).count(), 999);
    let hit = looked.iter().find(shared).unwrap();
    assert_eq!(effect(hit).entry_id, effect(&world.ask(&asked).await).entry_id);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_wait_is_told_that_another_is_at_it() {
    let world = World::new();
    let asked = request("Name the topic", "Rain.");
    let first = world.ask(&asked).await;
    assert!(leads(&first) && !first.under_way);
    let second = world.ask(&asked).await;
    assert!(!leads(&second) && second.under_way);
    assert_eq!(met(&second), (Outcome::Miss, "", None));
}

#[tokio::test(start_paused = true)]
async fn when_the_leader_gives_up_all_go_on_at_once_and_not_one_after_the_other() {
    let world = Arc::new(World::new());
    let led = world.ask(&request("Name the topic", "Rain.")).await;
    let waiting = crowd(&world, 50);
    sleep(Duration::from_millis(300)).await;
    let began = Instant::now();
    release(&world, &led).await;
    let looked = all(waiting).await;
    assert!(looked.iter().all(|looked| met(looked) == (Outcome::Miss, "", None) && !looked.under_way));
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_a_lower_tier_lets_all_go_on_who_wait_for_what_was_asked() {
    let world = Arc::new(World::new());
    let led = world.ask(&request("Name the topic", "Rain.")).await;
    let waiting = crowd(&world, 10);
    sleep(Duration::from_millis(300)).await;
    let began = Instant::now();
    world.keep(&request("Name the topic", "Snow."), "weather", &led.lookup_token).await;
    assert!(all(waiting).await.iter().all(|looked| effect(looked).outcome() == Outcome::Miss));
    assert!(began.elapsed() < Duration::from_millis(10));
}

/// The one that does not wait any more: it leads.
async fn taken(waiting: &mut Vec<JoinHandle<LookupResponse>>) -> LookupResponse {
    let at = waiting.iter().position(JoinHandle::is_finished).unwrap();
    let looked = waiting.remove(at).await.unwrap();
    assert!(leads(&looked));
    looked
}

#[tokio::test(start_paused = true)]
async fn who_waits_survives_the_leaders_death() {
    let world = Arc::new(World::new());
    world.ask(&request("Name the topic", "Rain.")).await;
    let began = Instant::now();
    let mut waiting = crowd(&world, 10);
    while !waiting.iter().any(JoinHandle::is_finished) {
        sleep(Duration::from_millis(50)).await;
    }
    let took = began.elapsed();
    assert!((4_900..5_300).contains(&took.as_millis()), "{took:?}");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(waiting.iter().filter(|one| one.is_finished()).count(), 1);
    let next = taken(&mut waiting).await;
    world.keep(&request("Name the topic", "Rain."), "weather", &next.lookup_token).await;
    assert!(all(waiting).await.iter().all(|looked| effect(looked).outcome() == Outcome::Coalesced));
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_renews_is_waited_for_and_one_that_lost_its_lead_is_told() {
    let world = Arc::new(World::new());
    let led = world.ask(&request("Name the topic", "Rain.")).await;
    let mut waiting = crowd(&world, 3);
    for _ in 0..10 {
        sleep(Duration::from_secs(2)).await;
        assert!(renew(&world, &led).await);
    }
    assert!(waiting.iter().all(|one| !one.is_finished()));
    sleep(Duration::from_secs(6)).await;
    let next = taken(&mut waiting).await;
    assert!(!renew(&world, &led).await);
    assert!(renew(&world, &next).await);
    // It comes too late, and is an answer all the same.
    world.keep(&request("Name the topic", "Rain."), "weather", &led.lookup_token).await;
    assert!(all(waiting).await.iter().all(|looked| effect(looked).outcome() == Outcome::Coalesced));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_may_share_lets_all_go_on() {
    let world = Arc::new(World::new());
    let asked = request("Name the topic", "Rain.");
    let led = world.ask(&asked).await;
    let waiting = crowd(&world, 10);
    sleep(Duration::from_millis(300)).await;
    let mut cut = answer("wea");
    cut.finish_reason = FinishReason::Length.into();
    let kept = world.keep_answer(&asked, cut, &led.lookup_token).await;
    assert_eq!(kept.refused_reason, "finish_reason");
    let began = Instant::now();
    let looked = all(waiting).await;
    assert!(looked.iter().all(|looked| effect(looked).outcome() == Outcome::Miss && !leads(looked)));
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_when_the_caller_wants_it_to() {
    let world = World::new();
    let asked = request("Name the topic", "Rain.");
    world.ask(&asked).await;
    let began = Instant::now();
    let looked = world.ask_waiting(&asked, Duration::from_millis(800)).await;
    assert_eq!(began.elapsed().as_millis(), 800);
    assert!(looked.under_way && !leads(&looked));
}

#[tokio::test(start_paused = true)]
async fn who_leaves_the_line_in_the_moment_of_its_turn_makes_way_for_the_next() {
    let flights = Flights::new(8, WAIT);
    let key = (Digest([1; 16]), Digest([2; 16]));
    assert!(matches!(flights.join(key, "one", true), Joined::Leads));
    let mut line = ["two", "three"].map(|owner| match flights.join(key, owner, true) {
        Joined::Waits { waiting, .. } => Some(waiting),
        other => panic!("{other:?}"),
    });
    // The first hears of it, and is gone before it can act.
    flights.release(key, "one");
    drop(line[0].take());
    let news = line[1].take().unwrap().news(Instant::now() + WAIT).await;
    assert!(matches!(news, Some(News::Lead { in_store: false })), "{news:?}");
}

#[tokio::test(start_paused = true)]
async fn replicas_over_one_store_wait_for_one_leader_whichever_of_them_hears_of_its_answer() {
    let one = Arc::new(World::new());
    let other = Arc::new(one.replica());
    let asked = request("Name the topic", "Rain.");
    let led = one.ask(&asked).await;
    let waiting: Vec<_> = crowd(&one, 20).into_iter().chain(crowd(&other, 20)).collect();
    sleep(Duration::from_secs(1)).await;
    assert!(waiting.iter().all(|one| !one.is_finished()));
    assert!(renew(&other, &led).await, "any replica renews");
    other.keep(&asked, "weather", &led.lookup_token).await;
    let began = Instant::now();
    let looked = all(waiting).await;
    assert!(looked.iter().all(|looked| effect(looked).outcome() == Outcome::Coalesced));
    assert!(began.elapsed() <= Duration::from_millis(110), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn of_all_replicas_one_request_takes_over_from_a_leader_that_is_gone() {
    let one = Arc::new(World::new());
    let other = Arc::new(one.replica());
    let led = one.ask(&request("Name the topic", "Rain.")).await;
    let mut waiting: Vec<_> = crowd(&one, 20).into_iter().chain(crowd(&other, 20)).collect();
    sleep(Duration::from_secs(1)).await;
    // It is not renewed.
    assert!(leads(&led));
    sleep(Duration::from_millis(4_300)).await;
    assert_eq!(waiting.iter().filter(|one| one.is_finished()).count(), 1);
    let next = taken(&mut waiting).await;
    one.keep(&request("Name the topic", "Rain."), "weather", &next.lookup_token).await;
    let looked = all(waiting).await;
    let met: Vec<_> = looked.iter().map(met).collect();
    assert!(met.iter().all(|(outcome, ..)| *outcome == Outcome::Coalesced), "{met:?}");
}
