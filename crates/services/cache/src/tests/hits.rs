//! Which requests share an answer.

use super::world::{World, answer, effect, met, request};
use signalbox_api::v1::{CacheMode, FinishReason, Part, Sampling, ToolCall, cache_effect::Outcome, part};
use signalbox_caching::Overrides;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn the_same_request_has_the_same_answer_and_knows_what_that_saved() {
    let world = World::new();
    let asked = request("Name the topic", "Rain in Rome.");
    let missed = world.go(&asked, "weather").await;
    assert_eq!(met(&missed), (Outcome::Miss, "", None));
    world.clock.forward(Duration::from_secs(60));

    let again = world.ask(&asked).await;
    assert_eq!(met(&again), (Outcome::ExactHit, "", Some("weather".into())));
    let effect = effect(&again);
    assert_eq!(effect.saved.as_ref().unwrap().nano_eur, 5_000);
    assert_eq!(effect.saved_usage.unwrap().output_tokens, 10);
    assert_eq!(effect.age.unwrap().seconds, 60);
    assert_eq!(effect.saved_latency.unwrap().seconds, 2);
    assert_eq!(again.answer.as_ref().unwrap().entry_id, effect.entry_id);
    assert_eq!(again.answer.unwrap().vendor, "openai");
}

#[tokio::test(start_paused = true)]
async fn a_hit_is_told_to_be_of_the_entry_that_store_named() {
    let world = World::new();
    let asked = request("Name the topic", "Rain in Rome.");
    let missed = world.ask(&asked).await;
    let kept = world.keep(&asked, "weather", &missed.lookup_token).await;
    assert!(!kept.entry_id.is_empty() && kept.refused_reason.is_empty());
    assert_eq!(effect(&world.ask(&asked).await).entry_id, kept.entry_id);
}

#[tokio::test(start_paused = true)]
async fn typesetting_makes_no_other_request_where_the_policy_says_so() {
    let world = World::new();
    world.go(&request("Name the topic", "Rain in Rome."), "weather").await;
    let spaced = |content| request(" Name  the topic", content);
    assert_eq!(met(&world.ask(&spaced("Rain in Rome.")).await).0, Outcome::Miss);
    world.normalized("classify");
    world.go(&request("Name the topic", "Snow in Rome."), "weather").await;
    let found = world.ask(&spaced("Snow in Rome.")).await;
    assert_eq!(met(&found), (Outcome::NormalizedHit, "", Some("weather".into())));
}

#[tokio::test(start_paused = true)]
async fn whatever_else_differs_makes_another_request() {
    let world = World::new();
    let asked = request("Name the topic", "Rain in Rome.");
    world.go(&asked, "weather").await;
    let mut others =
        vec![request("Name the topic", "Rain in rome."), request("Name two topics", "Rain in Rome.")];
    let changes: [fn(&mut signalbox_api::v1::GenerateRequest); 6] = [
        |other| other.tenant_id = "acm".into(),
        |other| other.task_type = "tags".into(),
        |other| other.locale = "en-US".into(),
        |other| other.system = "Be short.".into(),
        |other| other.sampling = Some(Sampling { temperature: Some(0.1), ..Default::default() }),
        |other| other.stop = vec!["\n".into()],
    ];
    for change in changes {
        let mut other = asked.clone();
        change(&mut other);
        others.push(other);
    }
    for other in others {
        assert_eq!(effect(&world.ask(&other).await).outcome(), Outcome::Miss, "{other:?}");
    }
    let mut same = asked.clone();
    same.request_id = "another".into();
    same.reference = "article 7".into();
    same.end_user = "somebody".into();
    assert_eq!(effect(&world.ask(&same).await).outcome(), Outcome::ExactHit);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_forgotten_when_its_time_is_over() {
    let world = World::new();
    let hour = Some(Duration::from_secs(3_600));
    world.set("classify", Overrides { ttl: hour, ..Overrides::default() });
    let asked = request("Name the topic", "Rain in Rome.");
    world.go(&asked, "weather").await;
    world.clock.forward(Duration::from_secs(3_599));
    assert_eq!(effect(&world.ask(&asked).await).outcome(), Outcome::ExactHit);
    // A shorter time counts for what is stored already.
    world.set("classify", Overrides { ttl: Some(Duration::from_secs(600)), ..Overrides::default() });
    assert_eq!(effect(&world.ask(&asked).await).outcome(), Outcome::Miss);
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_a_lower_tier_is_found_only_by_who_asks_for_it() {
    let world = World::new();
    let asked = request("Name the topic", "Rain in Rome.");
    let missed = world.ask(&asked).await;
    let store = signalbox_api::v1::StoreRequest {
        request: Some(asked.clone()),
        context: Some(signalbox_api::v1::CacheContext {
            requested: "tier:economy".into(),
            ..super::world::context(&asked)
        }),
        answer: Some(answer("weather")),
        lookup_token: missed.lookup_token,
    };
    use signalbox_api::v1::cache_service_server::CacheService as _;
    world.service.store(tonic::Request::new(store)).await.unwrap();
    assert_eq!(effect(&world.ask(&asked).await).outcome(), Outcome::Miss);
}

#[tokio::test(start_paused = true)]
async fn who_asks_not_to_be_answered_from_the_cache_is_not() {
    let world = World::new();
    let mut asked = request("Name the topic", "Rain in Rome.");
    world.go(&asked, "weather").await;
    asked.cache_mode = CacheMode::Bypass.into();
    assert_eq!(met(&world.ask(&asked).await), (Outcome::Bypass, "mode", None));
    assert_eq!(world.keep(&asked, "rain", "").await.refused_reason, "mode");
    asked.cache_mode = CacheMode::Refresh.into();
    assert_eq!(met(&world.ask(&asked).await), (Outcome::Bypass, "mode", None));
    assert_eq!(world.keep(&asked, "rain", "").await.refused_reason, "");
    asked.cache_mode = CacheMode::Unspecified.into();
    assert_eq!(met(&world.ask(&asked).await), (Outcome::ExactHit, "", Some("rain".into())));
}

#[tokio::test(start_paused = true)]
async fn what_must_not_be_kept_is_refused_with_the_reason() {
    let world = World::new();
    let asked = request("Name the topic", "Rain in Rome.");
    let call = Part {
        part: Some(part::Part::ToolCall(ToolCall { id: "1".into(), name: "f".into(), ..Default::default() })),
        purpose: 0,
    };
    let mut calling = answer("weather");
    calling.content.push(call);
    assert_eq!(world.keep_answer(&asked, calling, "").await.refused_reason, "tool_call");
    let mut cut = answer("weather");
    cut.finish_reason = FinishReason::Length.into();
    assert_eq!(world.keep_answer(&asked, cut, "").await.refused_reason, "finish_reason");
    let large = answer(&"x".repeat(300 * 1024));
    assert_eq!(world.keep_answer(&asked, large, "").await.refused_reason, "too_large");
    let mut hot = asked.clone();
    hot.sampling = Some(Sampling { temperature: Some(0.9), ..Default::default() });
    assert_eq!(world.keep(&hot, "weather", "").await.refused_reason, "temperature");
    assert_eq!(met(&world.ask(&hot).await), (Outcome::Bypass, "temperature", None));
    assert_eq!(effect(&world.ask(&asked).await).outcome(), Outcome::Miss);
}
