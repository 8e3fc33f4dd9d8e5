//! Answers that were given before.

mod budgets;
mod faults;
mod flights;

use crate::{
    adapter::{Deed, End, answers_after, fails_after},
    shelf::Shelf,
    world::{World, alias},
};
use signalbox_api::v1::{self, CacheMode, cache_effect::Outcome, usage_event};
use signalbox_ports::{Drills as _, LogFull, Unlimited};
use signalbox_types::ErrorReason;

/// Of an alias, by a tenant.
fn asked(name: &str) -> v1::GenerateRequest {
    v1::GenerateRequest { tenant_id: "acme".to_owned(), ..alias(name) }
}

fn outcome(route: &v1::Route) -> (Outcome, &str) {
    let effect = route.cache.as_ref().unwrap();
    (effect.outcome(), &effect.reason)
}

fn cost(cost: Option<&v1::Cost>) -> i64 {
    cost.unwrap().nano_eur
}

#[tokio::test(start_paused = true)]
async fn the_same_request_gets_its_answer_again_for_nothing() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    let first = world.ask(asked("pair")).await.unwrap();
    assert_eq!(outcome(&first.route), (Outcome::Miss, ""));
    shelf.settled().await;

    let again = world.ask(asked("pair")).await.unwrap();
    assert_eq!((&*again.text, outcome(&again.route)), ("a good answer", (Outcome::ExactHit, "")));
    assert_eq!(world.adapter.calls().len(), 1);
    let route = &again.route;
    assert_eq!((&*route.vendor, &*route.model, route.attempts.len()), ("openai", "gpt-6-luna", 0));
    assert_eq!(cost(route.total_cost.as_ref()), 0);
    let effect = route.cache.as_ref().unwrap();
    assert_eq!((cost(effect.saved.as_ref()), effect.saved_usage.unwrap().output_tokens), (1000, 5));

    let event = world.book.last();
    assert_eq!((event.outcome(), event.attempts.len()), (usage_event::Outcome::Succeeded, 0));
    assert_eq!((&*event.route_reason, cost(event.cost.as_ref())), ("exact hit", 0));
    assert_eq!((&event.cache, &*event.vendor), (&again.route.cache, "openai"));
    assert_eq!(shelf.told(), ["lookup alias:pair", "store alias:pair", "lookup alias:pair"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_accounted_for_is_not_given_from_the_cache_either() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.ask(asked("pair")).await.unwrap();
    shelf.settled().await;
    world.book.fill();
    for status in
        [world.ask(asked("pair")).await.unwrap_err(), world.stream(asked("pair")).await.unwrap_err().status]
    {
        let failure = signalbox_api::status::from_status(&status);
        assert_eq!(failure.reason, ErrorReason::Unavailable);
        assert_eq!(failure, LogFull::Waiting { used_bytes: 7, max_bytes: 7 }.into());
    }
    assert_eq!((world.adapter.calls().len(), world.book.closed().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_whole_answer_is_streamed_and_a_streamed_one_given_whole() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.ask(asked("pair")).await.unwrap();
    shelf.settled().await;
    let streamed = world.stream(asked("pair")).await.unwrap();
    assert_eq!((&*streamed.text, outcome(&streamed.route).0), ("a good answer", Outcome::ExactHit));
    assert!(streamed.route.time_to_first_token.is_some());

    world.stream(asked("all")).await.unwrap();
    shelf.settled().await;
    let whole = world.ask(asked("all")).await.unwrap();
    assert_eq!((&*whole.text, outcome(&whole.route).0), ("a good answer", Outcome::ExactHit));
    assert_eq!(world.adapter.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn callers_may_have_a_fresh_answer_or_nothing_to_do_with_the_cache() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    let with = |mode: CacheMode| v1::GenerateRequest { cache_mode: mode.into(), ..asked("pair") };
    let route = world.ask(with(CacheMode::Bypass)).await.unwrap().route;
    assert_eq!((outcome(&route), shelf.told().len()), ((Outcome::Bypass, "mode"), 0));

    let route = world.ask(with(CacheMode::Refresh)).await.unwrap().route;
    shelf.settled().await;
    assert_eq!(
        (outcome(&route), shelf.told()),
        ((Outcome::Bypass, "mode"), vec!["store alias:pair".to_owned()])
    );
    let route = world.ask(with(CacheMode::ExactOnly)).await.unwrap().route;
    assert_eq!(outcome(&route), (Outcome::ExactHit, ""));
    assert_eq!(shelf.told_of("lookup"), ["lookup alias:pair exactly"]);
    assert_eq!(world.adapter.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_no_kept_answer_fits_asks_nobody_for_one() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    let hot = Some(v1::Sampling { temperature: Some(0.9), ..Default::default() });
    let tool = v1::Tool { name: "search".to_owned(), ..Default::default() };
    for (request, reason) in [
        (v1::GenerateRequest { sampling: hot, ..asked("pair") }, "temperature"),
        (v1::GenerateRequest { tools: vec![tool], ..asked("pair") }, "tools"),
    ] {
        let route = world.ask(request).await.unwrap().route;
        assert_eq!(outcome(&route), (Outcome::Bypass, reason));
    }
    assert!(shelf.told().is_empty());
    let route = world.ask(alias("pair")).await.unwrap().route;
    assert_eq!(outcome(&route), (Outcome::Bypass, "tenant"));
    // A name that leads nowhere is refused as ever.
    world.ask(asked("nowhere")).await.unwrap_err();
    assert!(shelf.told().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_failed_was_cut_or_broke_off_is_not_kept() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    let does = |deed: Deed| world.adapter.tell("anthropic", [deed]);
    let end = |end| Deed { after: std::time::Duration::ZERO, end };
    does(end(End::Answer("half of an ans", v1::FinishReason::Length)));
    world.ask(asked("dear")).await.unwrap();
    world.stream(asked("dear")).await.unwrap();
    does(end(End::Answer("I will not", v1::FinishReason::Refusal)));
    world.ask(asked("dear")).await.unwrap();
    does(end(End::Breaks("broken", ErrorReason::StreamTruncated)));
    world.stream(asked("dear")).await.unwrap_err();
    does(fails_after(0, ErrorReason::VendorError));
    world.ask(asked("dear")).await.unwrap_err();
    does(answers_after(0, "not JSON"));
    let format = v1::response_format::Format::JsonObject(v1::JsonObjectFormat {});
    let response_format = Some(v1::ResponseFormat { format: Some(format) });
    world
        .ask(v1::GenerateRequest { response_format: response_format.clone(), ..asked("dear") })
        .await
        .unwrap_err();
    world.stream(v1::GenerateRequest { response_format, ..asked("dear") }).await.unwrap_err();
    shelf.settled().await;
    assert!(shelf.told_of("store").is_empty(), "{:?}", shelf.told());
    // Those who might have waited were let go on each time.
    assert_eq!(shelf.told_of("release").len(), 7, "{:?}", shelf.told());
}

#[tokio::test(start_paused = true)]
async fn what_a_lower_tier_answered_is_kept_for_those_who_ask_for_it() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.adapter.tell("anthropic", [fails_after(0, ErrorReason::VendorError)]);
    let served = world.ask(asked("mixed")).await.unwrap();
    assert_eq!(served.route.vendor, "openai");
    shelf.settled().await;
    assert_eq!(shelf.told_of("store"), ["store model:openai/gpt-6-luna"]);
    world.adapter.forget();
    let better = world.ask(asked("mixed")).await.unwrap();
    assert_eq!((&*better.route.vendor, outcome(&better.route).0), ("anthropic", Outcome::Miss));
    let exact = world.ask(asked("openai/gpt-6-luna")).await.unwrap();
    assert_eq!(outcome(&exact.route).0, Outcome::ExactHit);
}

#[tokio::test(start_paused = true)]
async fn nor_do_answers_of_a_lower_tier_stay_once_the_better_model_is_left_out_and_well_again() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    let prompt = |n: usize| {
        let mut asked = asked("mixed");
        asked.reference = format!("article-{n}");
        asked
    };
    world.adapter.tell("anthropic", [fails_after(0, ErrorReason::VendorError)]);
    // Soon its breaker opens, and it is not even tried.
    for n in 0..25 {
        assert_eq!(world.ask(prompt(n)).await.unwrap().route.vendor, "openai");
    }
    shelf.settled().await;
    let tried = world.adapter.calls().iter().filter(|model| model.starts_with("anthropic")).count();
    assert!(tried < 25, "{tried}");
    assert!(shelf.told_of("store").iter().all(|told| told == "store model:openai/gpt-6-luna"));
    world.adapter.forget();
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    for n in 0..25 {
        let answer = world.ask(prompt(n)).await.unwrap();
        assert_ne!(outcome(&answer.route).0, Outcome::ExactHit);
    }
}

#[tokio::test(start_paused = true)]
async fn while_a_drill_runs_nothing_is_kept_under_what_was_asked_for() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    let drill = v1::Drill {
        target: Some(v1::Target { vendor: "openai".to_owned(), model: String::new() }),
        fault: Some(v1::Fault { fault: Some(v1::fault::Fault::Status(500)) }),
        share: 1.0,
        duration: Some(prost_types::Duration { seconds: 60, nanos: 0 }),
        ..Default::default()
    };
    let drill = world.drills.start(drill).unwrap();
    let served = world.ask(asked("pair")).await.unwrap();
    shelf.settled().await;
    assert_eq!(
        shelf.told_of("store"),
        [format!("store model:{}/{}", served.route.vendor, served.route.model)]
    );
    world.drills.stop(&drill.name).unwrap();
    world.ask(asked("pair")).await.unwrap();
    shelf.settled().await;
    assert_eq!(shelf.told_of("store").last().unwrap(), "store alias:pair");
}

#[tokio::test(start_paused = true)]
async fn a_simulated_answer_is_not_given_once_its_vendor_is_real() {
    let shelf = Shelf::default();
    let world = World::keeping(Unlimited, &shelf);
    world.ask(asked("pair")).await.unwrap();
    shelf.settled().await;
    shelf.forge(|answer| answer.simulated = true);
    let answer = world.ask(asked("pair")).await.unwrap();
    assert_eq!(outcome(&answer.route), (Outcome::Miss, "unfit"));
    assert_eq!(world.adapter.calls().len(), 2);
}
