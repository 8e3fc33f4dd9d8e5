//! Requests that say the same in other words.

use super::world::{Hands, World, answer, effect, met, request};
use crate::{HashedNgrams, cache::Cache, evidence::Observation};
use signalbox_api::v1::{
    Attempt, CacheMode, GenerateRequest, LookupResponse, ReportHitRequest, UsageAttempt,
    cache_effect::Outcome, cache_service_server::CacheService as _, report_hit_request::Verdict,
    usage_attempt::Kind,
};
use signalbox_cache_memory::MemoryCache;
use signalbox_caching::{Digest, Overrides, Semantic};
use signalbox_ports::cache::{
    Embedded, Embedder, NotEmbedded, Verdict as Verified, Verification, Verified as Judgement, Verifier,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep};
use tonic::Request;

const STORED: &str = "Name the topic of the article";
const ASKED: &str = "Name the topic of this article";

fn stored() -> GenerateRequest {
    request(STORED, "Rain in Rome.")
}

fn asked(id: u32) -> GenerateRequest {
    GenerateRequest { request_id: format!("request {id}"), ..request(ASKED, "Rain in Rome.") }
}

/// Enough that was right to serve what is near.
async fn give_evidence(world: &World) {
    let cache = &world.service.cache;
    cache.seed(&cache.tenants.get("acme"), "classify", similarity(), 1_000).await;
    sleep(Duration::from_secs(1)).await;
}

/// Of the two instructions, as the embedder sees it.
fn similarity() -> f32 {
    use signalbox_caching::{ngrams::embed, vectors::dot};
    dot(&embed(STORED), &embed(ASKED))
}

/// An id whose near answer is served, not audited.
fn served_id(cache: &Cache) -> u32 {
    (0..).find(|id| !is_audited(cache, *id)).unwrap()
}

fn is_audited(cache: &Cache, id: u32) -> bool {
    let tenant = cache.tenants.get("acme");
    let Digest(bytes) = tenant.keys.text("audit", &format!("request {id}"));
    (u128::from_be_bytes(bytes) >> 75) as f64 / (1_u64 << 53) as f64 <= 0.02
}

async fn report(world: &World, looked: &LookupResponse, request_id: &str, verdict: Verdict) {
    try_report(world, looked, request_id, verdict).await.unwrap();
}

async fn try_report(
    world: &World,
    looked: &LookupResponse,
    request_id: &str,
    verdict: Verdict,
) -> Result<(), tonic::Status> {
    let request = ReportHitRequest {
        tenant_id: "acme".into(),
        entry_id: effect(looked).entry_id.clone(),
        request_id: request_id.into(),
        verdict: verdict.into(),
    };
    world.service.report_hit(Request::new(request)).await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn what_is_not_opted_in_is_not_matched_by_meaning_and_has_no_vectors() {
    let clock = Arc::new(Hands::new());
    let trick = super::trick::Trick::over(Arc::new(MemoryCache::new(64 << 20, clock.clone())));
    let world = World::over(trick.clone(), clock, Arc::new(HashedNgrams), None);
    world.by_meaning("classify", Semantic::Off);
    world.go(&stored(), "weather").await;
    assert_eq!(met(&world.ask(&asked(1)).await), (Outcome::Miss, "", None));
    assert!(trick.puts.lock().unwrap().iter().all(|entry| entry.vector.is_none()));
    world.by_meaning("classify", Semantic::Shadow);
    world.go(&request(STORED, "Snow."), "weather").await;
    assert!(trick.puts.lock().unwrap().last().unwrap().vector.is_some());
}

#[tokio::test(start_paused = true)]
async fn shadow_never_serves_and_gathers_what_it_would_have_served() {
    let world = World::new();
    world.by_meaning("classify", Semantic::Shadow);
    world.go(&stored(), "weather").await;
    let tenant = world.service.cache.tenants.get("acme");
    let observed = async || {
        let evidence = world.service.cache.evidence(&tenant, "classify").await.unwrap();
        let tally = evidence.pool.standing(0.99, 0.5, world.dependencies.clock.now()).observed;
        (tally.right.round(), tally.wrong.round())
    };
    let looked = world.ask(&asked(1)).await;
    assert_eq!(met(&looked), (Outcome::Miss, "shadow", None));
    world.keep(&asked(1), "Weather.", &looked.lookup_token).await;
    assert_eq!(observed().await, (1.0, 0.0));

    // From now on its own answer is found, of which shadow mode says nothing.
    assert_eq!(effect(&world.ask(&asked(2)).await).outcome(), Outcome::ExactHit);
    let third = request("Name a topic of the article", "Rain in Rome.");
    let looked = world.ask(&third).await;
    assert_eq!(met(&looked), (Outcome::Miss, "shadow", None));
    world.keep(&third, "sport", &looked.lookup_token).await;
    assert_eq!(observed().await, (1.0, 1.0));

    give_evidence(&world).await;
    let fourth = request("Name the topics of the article", "Rain in Rome.");
    assert_eq!(effect(&world.ask(&fourth).await).outcome(), Outcome::Miss, "whatever is known");
}

#[tokio::test(start_paused = true)]
async fn near_answers_are_served_only_once_it_is_known_that_such_are_right() {
    let world = World::new();
    world.by_meaning("classify", Semantic::On);
    world.go(&stored(), "weather").await;
    let id = served_id(&world.service.cache);
    let looked = world.ask(&asked(id)).await;
    assert_eq!(met(&looked), (Outcome::Miss, "evidence", None));
    give_evidence(&world).await;
    let looked = world.ask(&asked(id)).await;
    assert_eq!(met(&looked), (Outcome::SemanticHit, "", Some("weather".into())));
    assert!((effect(&looked).similarity - f64::from(similarity())).abs() < 0.01);

    let mut exact_only = asked(id);
    exact_only.cache_mode = CacheMode::ExactOnly.into();
    assert_eq!(effect(&world.ask(&exact_only).await).outcome(), Outcome::Miss);
    let elsewhere = GenerateRequest { locale: "en-US".into(), ..asked(id) };
    assert_eq!(met(&world.ask(&elsewhere).await), (Outcome::Miss, "", None));
    let other_content = GenerateRequest { messages: request(ASKED, "Rain in Bari.").messages, ..asked(id) };
    assert_eq!(met(&world.ask(&other_content).await), (Outcome::Miss, "", None));
}

#[tokio::test(start_paused = true)]
async fn one_in_fifty_is_asked_of_the_model_all_the_same() {
    let world = World::new();
    world.by_meaning("classify", Semantic::On);
    world.go(&stored(), "weather").await;
    give_evidence(&world).await;
    let mut audited = 0;
    for id in 0..1_000 {
        let looked = world.ask(&asked(id)).await;
        match met(&looked) {
            (Outcome::SemanticHit, ..) => {}
            (Outcome::Miss, "audit", _) => audited += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!((8..40).contains(&audited), "{audited}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_somebody_calls_wrong_is_not_served_again() {
    let world = World::new();
    let replica = world.replica();
    world.by_meaning("classify", Semantic::On);
    world.go(&stored(), "weather").await;
    give_evidence(&world).await;
    let id = served_id(&world.service.cache);
    let looked = world.ask(&asked(id)).await;
    assert_eq!(effect(&looked).outcome(), Outcome::SemanticHit);
    report(&replica, &looked, &format!("request {id}"), Verdict::Wrong).await;
    assert_eq!(effect(&world.ask(&asked(id)).await).outcome(), Outcome::Miss);
    assert_eq!(effect(&world.ask(&stored()).await).outcome(), Outcome::Miss);
}

#[tokio::test(start_paused = true)]
async fn reports_count_once_for_each_request_and_only_for_those_that_were_served() {
    let world = World::new();
    world.by_meaning("classify", Semantic::On);
    world.go(&stored(), "weather").await;
    give_evidence(&world).await;
    let tenant = world.service.cache.tenants.get("acme");
    let right = async || {
        let evidence = world.service.cache.evidence(&tenant, "classify").await.unwrap();
        evidence.pool.standing(0.99, 0.5, world.dependencies.clock.now()).observed.right.round()
    };
    let before = right().await;
    let id = served_id(&world.service.cache);
    let looked = world.ask(&asked(id)).await;
    for _ in 0..3 {
        report(&world, &looked, &format!("request {id}"), Verdict::Right).await;
    }
    assert_eq!(right().await, before + 1.0);
    let refused = try_report(&world, &looked, "somebody else", Verdict::Right).await.unwrap_err();
    assert_eq!(refused.message(), "entry_id: is not of an answer that this request_id got");
    assert_eq!(right().await, before + 1.0);
    let exact = world.ask(&stored()).await;
    report(&world, &exact, &stored().request_id, Verdict::Right).await;
    assert_eq!(right().await, before + 1.0, "exact hits are no evidence of near ones");
}

#[tokio::test(start_paused = true)]
async fn enough_wrong_answers_stop_near_hits() {
    let world = World::new();
    world.by_meaning("classify", Semantic::On);
    world.go(&stored(), "weather").await;
    give_evidence(&world).await;
    let cache = &world.service.cache;
    let id = served_id(cache);
    assert_eq!(effect(&world.ask(&asked(id)).await).outcome(), Outcome::SemanticHit);
    let tenant = cache.tenants.get("acme");
    for n in 0..8 {
        let seen =
            Observation { entry: Digest([n; 16]), similarity: similarity(), is_right: false, report: None };
        cache.observe(&tenant, "classify", seen).await.unwrap();
    }
    assert_eq!(met(&world.ask(&asked(id)).await), (Outcome::Miss, "evidence", None));
}

#[tokio::test(start_paused = true)]
async fn an_invalidated_task_begins_its_evidence_anew() {
    let world = World::new();
    world.by_meaning("classify", Semantic::On);
    give_evidence(&world).await;
    let scope = signalbox_api::v1::invalidate_request::Scope::TaskType("classify".into());
    world.invalidate(scope, true, false).await;
    world.go(&stored(), "weather").await;
    let id = served_id(&world.service.cache);
    assert_eq!(met(&world.ask(&asked(id)).await), (Outcome::Miss, "evidence", None));
}

/// Counts calls and takes its time.
#[derive(Debug)]
struct Remote {
    calls: AtomicUsize,
    takes: Duration,
    fails: bool,
}

impl Remote {
    fn new(takes: Duration, fails: bool) -> Arc<Self> {
        Arc::new(Self { calls: AtomicUsize::new(0), takes, fails })
    }
}

fn attempt(kind: Kind) -> Option<Box<UsageAttempt>> {
    let attempt = Attempt { vendor: "remote".into(), ..Default::default() };
    Some(Box::new(UsageAttempt { attempt: Some(attempt), kind: kind.into(), ..Default::default() }))
}

#[async_trait::async_trait]
impl Embedder for Remote {
    fn id(&self) -> &str {
        "remote/model"
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, NotEmbedded> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        sleep(self.takes).await;
        let attempt = attempt(Kind::CacheEmbedding);
        if self.fails {
            return Err(NotEmbedded { reason: "on purpose".into(), attempt });
        }
        let vectors = texts.iter().map(|text| signalbox_caching::ngrams::embed(text)).collect();
        Ok(Embedded { vectors, attempt })
    }
}

fn with(embedder: Arc<dyn Embedder>, verifier: Option<Arc<dyn Verifier>>) -> World {
    let clock = Arc::new(Hands::new());
    let store = Arc::new(MemoryCache::new(64 << 20, clock.clone()));
    let world = World::over(store, clock, embedder, verifier);
    world.by_meaning("classify", Semantic::Shadow);
    world
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_is_slow_costs_no_more_than_its_budget_and_its_vector_is_used_all_the_same() {
    let remote = Remote::new(Duration::from_millis(200), false);
    let world = with(remote.clone(), None);
    let began = Instant::now();
    let looked = world.ask(&stored()).await;
    assert_eq!(met(&looked), (Outcome::Miss, "timeout", None));
    assert!(began.elapsed() <= Duration::from_millis(26), "{:?}", began.elapsed());
    assert!(looked.attempts.is_empty());
    let kept = world.keep(&stored(), "weather", &looked.lookup_token).await;
    assert_eq!(kept.attempts.len(), 1, "whoever comes next has it in its account");
    assert_eq!(kept.attempts[0].kind(), Kind::CacheEmbedding);
    assert_eq!(remote.calls.load(Ordering::Relaxed), 1);
    world.ask(&asked(1)).await;
    sleep(Duration::from_secs(1)).await;
    let looked = world.ask(&asked(1)).await;
    assert_eq!(met(&looked), (Outcome::Miss, "shadow", None), "the stored answer has its vector");
    assert_eq!(remote.calls.load(Ordering::Relaxed), 2, "no text is embedded twice");
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_fails_is_a_miss_and_then_left_alone() {
    let remote = Remote::new(Duration::ZERO, true);
    let world = with(remote.clone(), None);
    for n in 0..20 {
        let looked = world.ask(&request(&format!("Name the topic, {n}"), "Rain.")).await;
        assert_eq!(met(&looked), (Outcome::Miss, "embedder", None));
    }
    assert_eq!(remote.calls.load(Ordering::Relaxed), 5);
    let kept = world.keep(&stored(), "weather", "").await;
    assert!(!kept.entry_id.is_empty(), "answers are kept without vectors");
    assert_eq!(effect(&world.ask(&stored()).await).outcome(), Outcome::ExactHit);
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_ran_out_of_time_is_paid_for_what_it_did() {
    let takes = crate::Options::default().embed_timeout + Duration::from_millis(100);
    let world = with(Remote::new(takes, true), None);
    let looked = world.ask(&stored()).await;
    assert_eq!(met(&looked), (Outcome::Miss, "timeout", None));
    sleep(Duration::from_secs(6)).await;
    let kept = world.keep(&stored(), "weather", &looked.lookup_token).await;
    assert!(!kept.attempts.is_empty());
}

/// Always of one mind.
#[derive(Debug)]
struct Mind(Verified);

#[async_trait::async_trait]
impl Verifier for Mind {
    async fn verify(&self, question: &Verification<'_>) -> Judgement {
        assert_eq!((question.stored, question.asked, question.answer), (STORED, ASKED, "weather"));
        Judgement { verdict: self.0, attempt: attempt(Kind::CacheVerification) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_verifier_is_asked_where_comparing_does_not_tell_and_its_cost_is_told() {
    for (verdict, expected) in
        [(Verified::Same, (1.0, 0.0)), (Verified::Different, (0.0, 1.0)), (Verified::Unsure, (0.0, 1.0))]
    {
        let world = with(Arc::new(HashedNgrams), Some(Arc::new(Mind(verdict))));
        world.set(
            "classify",
            Overrides {
                semantic: Some(Semantic::Shadow),
                floor: Some(0.5),
                judge: Some(signalbox_caching::Judge::Text),
                ..Overrides::default()
            },
        );
        world.go(&stored(), "weather").await;
        let looked = world.ask(&asked(1)).await;
        let kept = world.keep_answer(&asked(1), answer("bad weather"), &looked.lookup_token).await;
        assert_eq!(kept.attempts.len(), 1);
        assert_eq!(kept.attempts[0].kind(), Kind::CacheVerification);
        let tenant = world.service.cache.tenants.get("acme");
        let evidence = world.service.cache.evidence(&tenant, "classify").await.unwrap();
        let tally = evidence.pool.standing(0.99, 0.5, world.dependencies.clock.now()).observed;
        assert_eq!((tally.right.round(), tally.wrong.round()), expected, "{verdict:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_guard_refuses_what_differs_in_its_own_way() {
    let pairs = [
        ("number", "Give three tags for the article", "Give four tags for the article"),
        ("negation", "Say whether the law was approved", "Say whether the law was not approved"),
        ("date", "Name the events of Monday", "Name the events of Tuesday"),
        ("comparator", "Give at most 5 tags for it", "Give at least 5 tags for it"),
        ("language_name", "Say it from French into German", "Say it from German into French"),
        ("quote", "Explain the word \"bank\" in it", "Explain the word \"bench\" in it"),
        ("code", "Describe the ticket SB-4471 to me", "Describe the ticket SB-4417 to me"),
        ("named_entity", "Name the mayor of Rome in it", "Name the mayor of Bari in it"),
    ];
    for (guard, one, other) in pairs {
        let world = World::new();
        world.by_meaning("classify", Semantic::On);
        give_evidence(&world).await;
        world.go(&request(one, "It."), "an answer").await;
        let looked = world.ask(&request(other, "It.")).await;
        assert_eq!(met(&looked), (Outcome::Miss, guard, None), "{one} / {other}");
    }
}
