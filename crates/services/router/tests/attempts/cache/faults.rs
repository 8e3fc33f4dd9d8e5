//! A cache in trouble: nobody's request fails, and none waits for longer than the cache's budget.

use super::{asked, outcome};
use crate::{
    shelf::{Mood, Shelf},
    world::World,
};
use futures_util::future::join_all;
use proptest::prelude::*;
use signalbox_api::v1::cache_effect::Outcome;
use signalbox_ports::Unlimited;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_silent_or_fails_costs_its_budget_and_no_request() {
    for (mood, reason, most) in [(Mood::Hangs, "timeout", 6), (Mood::Fails, "unavailable", 0)] {
        let shelf = Shelf::default();
        shelf.change(|shelf| shelf.mood = mood);
        let world = World::keeping(Unlimited, &shelf);
        for _ in 0..3 {
            let began = Instant::now();
            let whole = world.ask(asked("pair")).await.unwrap();
            assert!(began.elapsed() <= Duration::from_millis(most), "{mood:?} {:?}", began.elapsed());
            assert_eq!(outcome(&whole.route), (Outcome::Miss, reason));
            assert_eq!(world.stream(asked("pair")).await.unwrap().text, "a good answer");
        }
        // Once it is well it is used.
        shelf.change(|shelf| shelf.mood = Mood::Well);
        world.ask(asked("pair")).await.unwrap();
        shelf.settled().await;
        assert_eq!(outcome(&world.ask(asked("pair")).await.unwrap().route).0, Outcome::ExactHit);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_stands_still_while_requests_wait_holds_them_up_for_less_than_a_second() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    let other = World::keeping(Unlimited, &shelf);
    other.adapter.tell("openai", [crate::adapter::answers_after(20_000, "late")]);
    let began = Instant::now();
    let follower = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        shelf.change(|shelf| shelf.mood = Mood::HangsWhileOthersWait);
        world.ask(asked("pair")).await.unwrap();
        began.elapsed()
    };
    let (leader, took) = tokio::join!(other.ask(asked("pair")), follower);
    leader.unwrap();
    assert!(took < Duration::from_millis(10 + 770), "{took:?}");
    assert_eq!(world.adapter.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn whatever_the_cache_does_a_router_calls_once_for_all_who_ask_the_same() {
    for mood in [Mood::Hangs, Mood::Fails] {
        let shelf = Shelf::default();
        shelf.change(|shelf| shelf.mood = mood);
        let world = World::keeping(Unlimited, &shelf);
        world.adapter.tell("openai", [crate::adapter::answers_after(2_000, "for all")]);
        let answers = join_all((0..200).map(|_| world.ask(asked("pair")))).await;
        let texts = answers.iter().filter(|answer| answer.as_ref().unwrap().text == "for all");
        assert_eq!((texts.count(), world.adapter.calls().len()), (200, 1), "{mood:?}");
        // One after the other they wait for nobody.
        world.adapter.tell("openai", [crate::adapter::answers_after(0, "alone")]);
        let began = Instant::now();
        for _ in 0..40 {
            assert_eq!(world.ask(asked("pair")).await.unwrap().text, "alone");
        }
        assert!(began.elapsed() <= Duration::from_millis(40 * 6), "{mood:?} {:?}", began.elapsed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_the_cache_does_every_request_is_answered(moods in prop::collection::vec(0_u8..4, 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let shelf = Shelf::default();
            let world = World::keeping(Unlimited, &shelf);
            for (index, mood) in moods.into_iter().enumerate() {
                let mood = [Mood::Well, Mood::Hangs, Mood::Fails, Mood::HangsWhileOthersWait][usize::from(mood)];
                shelf.change(|shelf| shelf.mood = mood);
                let began = Instant::now();
                let text = match index % 2 {
                    0 => world.ask(asked("pair")).await.unwrap().text,
                    _ => world.stream(asked("pair")).await.unwrap().text,
                };
                assert_eq!(text, "a good answer");
                assert!(began.elapsed() < Duration::from_millis(1020), "{:?}", began.elapsed());
            }
        });
    }
}
