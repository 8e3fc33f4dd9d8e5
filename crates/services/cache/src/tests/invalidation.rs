//! Answers that were made unreachable.

use super::world::{World, effect, met, request};
use signalbox_api::v1::{
    GenerateRequest, InvalidateRequest, cache_effect::Outcome, cache_service_server::CacheService as _,
    invalidate_request::Scope,
};
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};
use tonic::Request;

fn asked() -> GenerateRequest {
    GenerateRequest {
        reference: "article 7".into(),
        prompt_template: "headline@3".into(),
        ..request("Name the topic", "Rain in Rome.")
    }
}

fn other() -> GenerateRequest {
    GenerateRequest {
        task_type: "extraction".into(),
        locale: "it-IT".into(),
        reference: "article 8".into(),
        prompt_template: "other@1".into(),
        ..request("Name the topic", "Rain in Rome.")
    }
}

async fn outcome(world: &World, request: &GenerateRequest) -> Outcome {
    effect(&world.ask(request).await).outcome()
}

#[tokio::test(start_paused = true)]
async fn whatever_names_an_answer_makes_it_unreachable_and_no_other() {
    let scopes = [
        (Scope::Everything(true), false),
        (Scope::TaskType("classify".into()), true),
        (Scope::Locale("en-GB".into()), true),
        (Scope::PromptTemplate("headline@3".into()), true),
        (Scope::PromptTemplate("headline".into()), true),
        (Scope::Reference("article 7".into()), true),
        (Scope::Requested("alias:fast".into()), false),
    ];
    for (scope, spares) in scopes {
        let world = World::new();
        world.go(&asked(), "weather").await;
        world.go(&other(), "weather").await;
        let stranger = GenerateRequest { tenant_id: "other".into(), ..asked() };
        world.go(&stranger, "weather").await;
        world.invalidate(scope.clone(), false, false).await;
        assert_eq!(outcome(&world, &asked()).await, Outcome::Miss, "{scope:?}");
        let left = if spares { Outcome::ExactHit } else { Outcome::Miss };
        assert_eq!(outcome(&world, &other()).await, left, "{scope:?}");
        assert_eq!(outcome(&world, &stranger).await, Outcome::ExactHit, "{scope:?}");
        world.go(&asked(), "rain").await;
        assert_eq!(met(&world.ask(&asked()).await).2, Some("rain".into()), "{scope:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_locale_is_one_however_it_is_written() {
    let world = World::new();
    world.go(&other(), "weather").await;
    let written = GenerateRequest { locale: "IT-it".into(), ..other() };
    assert_eq!(outcome(&world, &written).await, Outcome::ExactHit);
    world.invalidate(Scope::Locale("it-it".into()), true, false).await;
    assert_eq!(outcome(&world, &other()).await, Outcome::Miss);
}

#[tokio::test(start_paused = true)]
async fn a_name_without_its_kind_is_refused_and_not_taken_for_done() {
    let request = InvalidateRequest {
        tenant_id: "acme".into(),
        scope: Some(Scope::Requested("fast".into())),
        ..Default::default()
    };
    let refused = World::new().service.invalidate(Request::new(request)).await.unwrap_err();
    assert!(refused.message().starts_with("requested: must be alias:NAME"), "{}", refused.message());
}

#[tokio::test(start_paused = true)]
async fn a_reference_counts_for_whoever_asks() {
    let world = World::new();
    world.go(&asked(), "weather").await;
    let elsewhere = GenerateRequest { reference: "article 9".into(), ..asked() };
    assert_eq!(outcome(&world, &elsewhere).await, Outcome::ExactHit);
    world.invalidate(Scope::Reference("article 7".into()), true, false).await;
    assert_eq!(outcome(&world, &elsewhere).await, Outcome::Miss);
}

#[tokio::test(start_paused = true)]
async fn a_single_entry_goes_by_its_name() {
    let world = World::new();
    world.go(&asked(), "weather").await;
    let id = effect(&world.ask(&asked()).await).entry_id.clone();
    world.invalidate(Scope::EntryId(id), false, false).await;
    assert_eq!(outcome(&world, &asked()).await, Outcome::Miss);
}

#[tokio::test(start_paused = true)]
async fn other_replicas_serve_it_for_a_second_at_most() {
    let world = World::new();
    let replica = world.replica();
    world.go(&asked(), "weather").await;
    assert_eq!(outcome(&replica, &asked()).await, Outcome::ExactHit);
    world.invalidate(Scope::Everything(true), false, false).await;
    sleep(Duration::from_millis(1_001)).await;
    assert_eq!(outcome(&replica, &asked()).await, Outcome::Miss);

    world.go(&asked(), "weather").await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(outcome(&replica, &asked()).await, Outcome::ExactHit);
    let began = Instant::now();
    let told = world.invalidate(Scope::Everything(true), true, false).await;
    assert!(began.elapsed() <= Duration::from_secs(1));
    assert!(SystemTime::try_from(told.effective_at.unwrap()).unwrap() <= world.dependencies.clock.now());
    assert_eq!(outcome(&replica, &asked()).await, Outcome::Miss);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_under_way_meanwhile_is_not_served() {
    let world = World::new();
    let looked = world.ask(&asked()).await;
    world.invalidate(Scope::PromptTemplate("headline".into()), true, false).await;
    let asked = asked();
    let follower = world.ask_waiting(&asked, Duration::from_secs(9));
    let leader = async {
        sleep(Duration::from_millis(300)).await;
        world.keep(&asked, "weather", &looked.lookup_token).await
    };
    let (follower, kept) = tokio::join!(follower, leader);
    assert_eq!(kept.refused_reason, "invalidated", "it was made by the old template");
    assert_eq!(met(&follower), (Outcome::Miss, "", None));
    assert!(follower.flight_ttl.is_some(), "who waited makes a new one");
    world.keep(&asked, "rain", &follower.lookup_token).await;
    assert_eq!(met(&world.ask(&asked).await).2, Some("rain".into()));
}

#[tokio::test(start_paused = true)]
async fn erasing_destroys_the_key_and_what_lies_there_and_proves_it() {
    let world = World::new();
    let replica = world.replica();
    for n in 0..5 {
        world.go(&request("Name the topic", &format!("Article {n}")), "weather").await;
    }
    let told = world.invalidate(Scope::Everything(true), false, true).await;
    let erasure = told.erasure.unwrap();
    assert_eq!((erasure.entries, erasure.key_ids.len()), (5, 1));
    assert!(erasure.verified_at.is_some());
    let tenant = world.service.cache.tenants.get("acme");
    assert!(world.store.held(tenant.digest()).await.unwrap().is_empty());
    assert_eq!(outcome(&replica, &request("Name the topic", "Article 1")).await, Outcome::Miss);

    world.go(&asked(), "weather").await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(outcome(&replica, &asked()).await, Outcome::ExactHit, "with another key it goes on");
    let again = world.invalidate(Scope::Everything(true), false, true).await.erasure.unwrap();
    assert_eq!(again.entries, 1);
    assert_ne!(again.key_ids, erasure.key_ids);
}

#[tokio::test(start_paused = true)]
async fn erasing_a_reference_leaves_nothing_of_it_that_a_copy_could_show_and_all_the_rest() {
    let world = World::new();
    world.go(&asked(), "weather").await;
    world.go(&other(), "sport").await;
    let copy = {
        let cache = &world.service.cache;
        let tenant = cache.tenants.get("acme");
        let id = effect(&world.ask(&asked()).await).entry_id.clone();
        let (key, _) = crate::report::read_id(&tenant, &id, "").unwrap();
        world.store.get(tenant.digest(), &[key]).await.unwrap().unwrap()
    };
    let erasure = world.invalidate(Scope::Reference("article 7".into()), false, true).await.erasure.unwrap();
    assert_eq!((erasure.entries, erasure.key_ids.len()), (1, 0));
    assert_eq!(met(&world.ask(&other()).await).2, Some("sport".into()), "nothing else is lost");
    let mut restored = copy;
    let tenant = world.service.cache.tenants.get("acme");
    restored.epochs = world
        .store
        .epochs(tenant.digest(), &restored.epochs.iter().map(|(scope, _)| *scope).collect::<Vec<_>>())
        .await
        .unwrap();
    world.store.put(&restored, &[], "hashed-ngrams-512", Duration::from_secs(60)).await.unwrap();
    assert_eq!(outcome(&world, &asked()).await, Outcome::Miss, "a copy is bound to epochs that are over");
}

#[tokio::test(start_paused = true)]
async fn a_task_type_that_is_not_configured_is_refused_unless_something_is_kept_of_it() {
    let world = World::new();
    let invalidate = async |task_type: &str| {
        let scope = Some(Scope::TaskType(task_type.into()));
        let request = InvalidateRequest { tenant_id: "acme".into(), scope, ..Default::default() };
        world.service.invalidate(Request::new(request)).await.map(|_| ())
    };
    let refused = invalidate("extraction").await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::InvalidArgument);
    assert!(refused.message().starts_with("task_type: is not configured"), "{}", refused.message());
    world.go(&other(), "weather").await;
    invalidate("extraction").await.unwrap();
    assert_eq!(outcome(&world, &other()).await, Outcome::Miss);
    for task_type in ["", "classification"] {
        invalidate(task_type).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_meant_is_refused_by_name() {
    let world = World::new();
    let refused = async |scope: Option<Scope>, erase: bool| {
        let request = InvalidateRequest { tenant_id: "acme".into(), wait: false, erase, scope };
        world.service.invalidate(Request::new(request)).await.unwrap_err().message().to_owned()
    };
    assert!(refused(None, false).await.contains("scope: is required"));
    assert!(refused(Some(Scope::Everything(false)), false).await.contains("everything: must be true"));
    assert!(refused(Some(Scope::Reference(String::new())), false).await.contains("reference:"));
    assert!(refused(Some(Scope::Locale("it IT".into())), false).await.contains("locale: must be a language"));
    assert!(refused(Some(Scope::EntryId("x".into())), false).await.contains("entry_id:"));
    assert!(refused(Some(Scope::TaskType("tags".into())), true).await.contains("erase:"));
    let nobody = InvalidateRequest { scope: Some(Scope::Everything(true)), ..Default::default() };
    let status = world.service.invalidate(Request::new(nobody)).await.unwrap_err();
    assert!(status.message().contains("tenant_id: is required"));
}
