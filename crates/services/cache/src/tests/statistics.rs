//! What the cache tells of itself.

use super::world::{World, request};
use signalbox_api::v1::{
    CacheMode, CacheStats, ExplainCacheRequest, ExplainCacheResponse, GenerateRequest, GetCacheStatsRequest,
    Sampling, cache_effect::Outcome, cache_service_server::CacheService as _, cache_stats::SemanticMode,
};
use signalbox_caching::Semantic;
use std::time::Duration;
use tonic::Request;

async fn stats(world: &World, tenant_id: &str, hours: u64) -> Vec<CacheStats> {
    let window = Some(signalbox_api::convert::duration_to_proto(Duration::from_secs(hours * 3_600)));
    let asked = GetCacheStatsRequest { tenant_id: tenant_id.into(), task_type: String::new(), window };
    world.service.get_cache_stats(Request::new(asked)).await.unwrap().into_inner().stats
}

#[tokio::test(start_paused = true)]
async fn every_lookup_is_counted_by_what_it_met_whichever_replica_saw_it() {
    let world = World::new();
    let replica = world.replica();
    world.normalized("classify");
    let asked = request("Name the topic", "Rain.");
    world.go(&asked, "weather").await;
    world.ask(&asked).await;
    replica.ask(&asked).await;
    replica.ask(&request(" Name  the topic", "Rain.")).await;
    let hot = Sampling { temperature: Some(1.0), ..Default::default() };
    world.ask(&GenerateRequest { sampling: Some(hot), ..asked.clone() }).await;
    world.go(&GenerateRequest { task_type: "extraction".into(), ..asked.clone() }, "weather").await;
    world.go(&GenerateRequest { tenant_id: "other".into(), ..asked.clone() }, "weather").await;
    // Nothing happens at the replica any more: what it counted is written all the same.
    tokio::time::sleep(Duration::from_secs(11)).await;

    let told = stats(&world, "acme", 1).await;
    let [classify, extraction] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&*classify.task_type, &*extraction.task_type), ("classify", "extraction"));
    assert_eq!((classify.lookups, classify.exact_hits, classify.normalized_hits), (5, 2, 1));
    assert_eq!(classify.bypassed.get("temperature"), Some(&1));
    assert_eq!(classify.saved.as_ref().unwrap().nano_eur, 15_000);
    assert_eq!(classify.saved_usage.unwrap().input_tokens, 300);
    assert_eq!(classify.saved_latency.unwrap().seconds, 6);
    assert_eq!((classify.entries, extraction.entries), (1, 1));
    assert!(classify.bytes > 100);
    assert_eq!(classify.semantic_mode(), SemanticMode::Shadow);

    let all = stats(&world, "", 1).await;
    assert_eq!((all[0].lookups, all[0].entries), (6, 2));
}

#[tokio::test(start_paused = true)]
async fn what_happened_before_the_window_does_not_count() {
    let world = World::new();
    let asked = request("Name the topic", "Rain.");
    world.go(&asked, "weather").await;
    world.clock.forward(Duration::from_secs(3 * 3_600));
    world.ask(&asked).await;
    assert_eq!(stats(&world, "acme", 1).await[0].lookups, 1);
    assert_eq!(stats(&world, "acme", 5).await[0].lookups, 2);
    world.clock.forward(Duration::from_secs(166 * 3_600));
    assert!(stats(&world, "acme", 168).await.iter().all(|stats| stats.lookups <= 1));
}

#[tokio::test(start_paused = true)]
async fn windows_that_nobody_can_tell_of_are_refused() {
    let world = World::new();
    for seconds in [0, -5, 8 * 24 * 3_600] {
        let window = Some(prost_types::Duration { seconds, nanos: 0 });
        let asked = GetCacheStatsRequest { window, ..Default::default() };
        let status = world.service.get_cache_stats(Request::new(asked)).await.unwrap_err();
        assert!(status.message().contains("window:"));
    }
}

async fn explain(world: &World, stored: GenerateRequest, asked: GenerateRequest) -> ExplainCacheResponse {
    let request = ExplainCacheRequest { stored: Some(stored), asked: Some(asked) };
    world.service.explain_cache(Request::new(request)).await.unwrap().into_inner()
}

/// What it came to, and the first check that did not pass.
fn because(told: &ExplainCacheResponse) -> (Outcome, &str) {
    let first = told.checks.iter().find(|check| !check.passed);
    (told.outcome(), first.map_or("", |check| &check.name))
}

#[tokio::test(start_paused = true)]
async fn an_explanation_says_what_decides() {
    let world = World::new();
    world.by_meaning("classify", Semantic::On);
    let one = || request("Name the topic of the article", "Rain.");
    let told = explain(&world, one(), one()).await;
    assert_eq!(because(&told), (Outcome::ExactHit, ""));
    let told = explain(&world, one(), request("Name  the topic of the article ", "Rain.")).await;
    assert_eq!(because(&told), (Outcome::NormalizedHit, ""));
    let told = explain(&world, one(), request("Name the topic of this article", "Rain.")).await;
    assert_eq!(because(&told), (Outcome::Miss, "evidence"));
    assert!(told.similarity.is_some_and(|similarity| similarity > 0.8));
    let told = explain(&world, one(), request("Name no topic of the article", "Rain.")).await;
    assert_eq!(because(&told), (Outcome::Miss, "negation"));

    let hot = Sampling { temperature: Some(0.2), ..Default::default() };
    let changes: [(&str, GenerateRequest); 5] = [
        ("content", request("Name the topic of the article", "Snow.")),
        ("task_type", GenerateRequest { task_type: "extraction".into(), ..one() }),
        ("locale", GenerateRequest { locale: "it".into(), ..one() }),
        ("system", GenerateRequest { system: "Be short.".into(), ..one() }),
        ("parameters", GenerateRequest { sampling: Some(hot), ..one() }),
    ];
    for (check, other) in changes {
        assert_eq!(because(&explain(&world, one(), other).await), (Outcome::Miss, check));
    }
    let bypassed = GenerateRequest { cache_mode: CacheMode::Bypass.into(), ..one() };
    let told = explain(&world, one(), bypassed).await;
    assert_eq!(because(&told), (Outcome::Bypass, "asked_cacheable"));
    assert!(told.checks.iter().any(|check| check.detail == "mode"));
}
