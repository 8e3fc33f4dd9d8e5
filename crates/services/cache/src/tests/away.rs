//! A store that does not do its part costs a miss and a few milliseconds, never an error.

use super::{
    trick::Trick,
    world::{Hands, World, effect, met, request},
};
use crate::HashedNgrams;
use futures_util::future::join_all;
use signalbox_api::v1::{LookupRequest, cache_effect::Outcome, cache_service_server::CacheService as _};
use signalbox_cache_memory::MemoryCache;
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};
use tonic::Request;

fn tricky() -> (World, Arc<Trick>) {
    let clock = Arc::new(Hands::new());
    let trick = Trick::over(Arc::new(MemoryCache::new(64 << 20, clock.clone())));
    (World::over(trick.clone(), clock, Arc::new(HashedNgrams), None), trick)
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_is_a_miss_in_time() {
    let (world, trick) = tricky();
    let asked = request("Name the topic", "Rain in Rome.");
    world.go(&asked, "weather").await;
    trick.slow(Duration::from_secs(1));
    let began = Instant::now();
    let looked = world.ask(&asked).await;
    assert_eq!(met(&looked), (Outcome::Miss, "timeout", None));
    assert!(began.elapsed() <= Duration::from_millis(6), "{:?}", began.elapsed());
    trick.slow(Duration::from_millis(2));
    assert_eq!(effect(&world.ask(&asked).await).outcome(), Outcome::ExactHit);
}

#[tokio::test(start_paused = true)]
async fn a_caller_in_a_hurry_is_answered_before_it_gives_up() {
    let (world, trick) = tricky();
    trick.slow(Duration::from_secs(1));
    let asked = request("Name the topic", "Rain in Rome.");
    let lookup = LookupRequest {
        request: Some(asked.clone()),
        context: Some(super::world::context(&asked)),
        wait: None,
    };
    let mut lookup = Request::new(lookup);
    lookup.set_timeout(Duration::from_millis(3));
    let began = Instant::now();
    let looked = world.service.lookup(lookup).await.unwrap().into_inner();
    assert_eq!(effect(&looked).reason, "timeout");
    assert!(began.elapsed() <= Duration::from_millis(3));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_is_left_alone_and_found_again_without_a_restart() {
    let (world, trick) = tricky();
    let asked = request("Name the topic", "Rain in Rome.");
    world.go(&asked, "weather").await;
    trick.away(true);
    for _ in 0..10 {
        assert_eq!(met(&world.ask(&asked).await), (Outcome::Miss, "store", None));
    }
    assert_eq!(world.keep(&asked, "weather", "").await.refused_reason, "store");
    trick.slow(Duration::from_secs(1));
    let began = Instant::now();
    assert_eq!(met(&world.ask(&asked).await), (Outcome::Miss, "store", None));
    assert_eq!(began.elapsed(), Duration::ZERO, "nobody waits for it meanwhile");

    trick.slow(Duration::ZERO);
    trick.away(false);
    let mut hits = 0;
    for _ in 0..40 {
        sleep(Duration::from_secs(1)).await;
        hits += u32::from(effect(&world.ask(&asked).await).outcome() == Outcome::ExactHit);
    }
    assert!(hits > 20, "{hits} hits");
    assert_eq!(effect(&world.ask(&asked).await).outcome(), Outcome::ExactHit);
}

#[tokio::test(start_paused = true)]
async fn without_the_store_nobody_waits_for_an_answer_that_another_process_may_be_given() {
    let (one, trick) = tricky();
    let other = one.replica();
    let asked = request("Name the topic", "Rain in Rome.");
    // One led while the store was there, and its answer came through the other after that.
    let led = one.ask(&asked).await;
    assert!(led.flight_ttl.is_some());
    trick.away(true);
    other.keep(&asked, "weather", &led.lookup_token).await;
    let began = Instant::now();
    for _ in 0..5 {
        let looked = one.ask_waiting(&asked, Duration::from_secs(9)).await;
        assert_eq!(met(&looked), (Outcome::Miss, "store", None));
        assert!(looked.flight_ttl.is_none() && !looked.under_way);
    }
    assert!(began.elapsed() < Duration::from_millis(50), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_holds_up_no_more_answers_than_there_is_room_for() {
    let (world, trick) = tricky();
    trick.slow(Duration::from_secs(1_000_000));
    let requests: Vec<_> = (0..1_100).map(|n| request("Name the topic", &format!("Article {n}"))).collect();
    let kept = join_all(requests.iter().map(|asked| world.keep(asked, "weather", ""))).await;
    let refused = |why: &str| kept.iter().filter(|kept| kept.refused_reason == why).count();
    assert_eq!(refused("overload") + refused("timeout"), 1_100);
    // All came before any had its turn.
    assert_eq!(refused("overload"), 1_100 - 1_024);
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_was_changed_or_moved_is_a_miss() {
    let changes: [fn(&mut signalbox_ports::cache::Entry); 6] = [
        |entry| entry.sealed[40] ^= 1,
        |entry| entry.sealed.truncate(30),
        |entry| entry.partition.tenant.0[0] ^= 1,
        |entry| entry.partition.fingerprint.0[0] ^= 1,
        |entry| entry.key.0[3] ^= 1,
        |entry| entry.epochs.truncate(1),
    ];
    for change in changes {
        let (world, trick) = tricky();
        let asked = request("Name the topic", "Rain in Rome.");
        world.go(&asked, "weather").await;
        assert_eq!(effect(&world.ask(&asked).await).outcome(), Outcome::ExactHit);
        let before = crate::metrics::violations();
        trick.change(change);
        assert_eq!(met(&world.ask(&asked).await), (Outcome::Miss, "", None));
        assert!(crate::metrics::violations() > before, "it is counted, for somebody to look into it");
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_another_process_goes_on_soon_after_the_store_is_gone() {
    let (one, trick) = tricky();
    let other = one.replica();
    let asked = request("Name the topic", "Rain in Rome.");
    one.ask(&asked).await;
    let waiting = other.ask_waiting(&asked, Duration::from_secs(60));
    let going = async {
        sleep(Duration::from_millis(500)).await;
        trick.away(true);
        Instant::now()
    };
    let (looked, gone) = tokio::join!(waiting, going);
    assert_eq!((effect(&looked).outcome(), looked.under_way), (Outcome::Miss, false));
    assert!(gone.elapsed() <= Duration::from_millis(400), "{:?}", gone.elapsed());
}
