//! Redis shared by routers, and Redis in trouble: nobody's request fails, and none waits for long.

use super::{hall::Hall, met, of, on};
use futures_util::future::join_all;
use serde_json::{Value, json};
use signalbox_api::v1::{GenerateRequest, cache_effect::Outcome};
use signalbox_testkit::{eventually, eventually_some};
use signalbox_vendorsim::Vendor;
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

/// How a request met the cache at a router.
async fn outcome(hall: &Hall, router: usize, request: GenerateRequest) -> Outcome {
    met(&hall.ask(router, request).await.unwrap().route.unwrap()).0
}

fn calls(hall: &Hall) -> usize {
    hall.vendors.requests().iter().filter(|request| request.vendor == Vendor::Openai).count()
}

#[tokio::test]
async fn what_one_router_was_told_all_know() {
    let mut hall = Hall::open(2, on()).await;
    let asked = of("acme", "Who knows what?");
    hall.ask(0, asked.clone()).await.unwrap();
    eventually("the other router gives the answer", || async {
        outcome(&hall, 1, asked.clone()).await == Outcome::ExactHit
    })
    .await;
    // Other tenants have their own.
    assert_eq!(
        outcome(&hall, 1, GenerateRequest { tenant_id: "other".to_owned(), ..asked.clone() }).await,
        Outcome::Miss
    );
    // Redis holds the answer past a restart of whoever asked.
    hall.routers[1].kill().await;
    hall.routers[1].restart().await;
    eventually("it is ready", || async { hall.routers[1].ready().await.is_ok() }).await;
    eventually("the answer is there again", || async {
        hall.ask(1, asked.clone())
            .await
            .is_ok_and(|answer| met(&answer.route.unwrap()).0 == Outcome::ExactHit)
    })
    .await;
}

/// The same question, a thousand times at once over three routers: how many calls that made.
async fn calls_of_a_thousand(hall: &Hall, text: &str) -> usize {
    hall.slow(1_500);
    let before = calls(hall);
    let many = (0..1_000).map(|index| hall.ask(index, of("acme", text)));
    let answers = join_all(many).await;
    assert!(answers.iter().all(Result::is_ok), "{:?}", answers.iter().find(|answer| answer.is_err()));
    calls(hall) - before
}

/// A hall whose routers have all met Redis.
async fn awake(config: Value) -> Hall {
    let hall = Hall::open(3, config).await;
    for router in 0..3 {
        hall.ask(router, of("acme", &format!("Are you there, router {router}?"))).await.unwrap();
    }
    hall
}

#[tokio::test]
async fn a_thousand_identical_requests_are_one_call_and_without_redis_one_for_each_router() {
    let mut hall = awake(on()).await;
    assert_eq!(calls_of_a_thousand(&hall, "What does everybody want to know?").await, 1);
    hall.redis.kill().await;
    let made = calls_of_a_thousand(&hall, "What does everybody want to know once it is gone?").await;
    assert!((1..=3).contains(&made), "{made}");
}

/// Lookups of all routers.
async fn lookups(hall: &Hall) -> usize {
    let mut all = 0.0;
    for router in &hall.routers {
        all += router.metrics().await.sum("signalbox_router_cache_lookup_seconds_count", &[]);
    }
    all as usize
}

/// By default a lookup has 5 ms, which a crowd leaves to the one of each router. A machine that has much else to do may
/// take longer for it; then the next crowd shows it.
#[tokio::test]
async fn a_thousand_identical_requests_are_one_call_within_the_usual_time_too() {
    let hall = awake(json!({})).await;
    let mut made = Vec::new();
    while !made.contains(&1) {
        let before = lookups(&hall).await;
        made.push(calls_of_a_thousand(&hall, &format!("What does crowd {} want to know?", made.len())).await);
        assert_eq!(lookups(&hall).await - before, 3, "one of each router");
        assert!(made.iter().all(|made| *made <= 3) && made.len() < 10, "{made:?}");
    }
    println!("calls made for each crowd: {made:?}");
}

/// Asks without a pause, and tells the longest that one request took, until told to stop.
async fn under_load(hall: &Hall, stop: &AtomicBool, asked: &AtomicUsize) -> Duration {
    let mut longest = Duration::ZERO;
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number = asked.fetch_add(1, Ordering::Relaxed).max(number);
        // Every third was asked before.
        let text = format!("Question number {}?", number - number % 3);
        let began = Instant::now();
        hall.ask(number, of("acme", &text)).await.unwrap();
        longest = longest.max(began.elapsed());
    }
    longest
}

/// Lets something happen to Redis while eight clients ask: the longest that one request took.
async fn while_asked(hall: &Hall, happens: impl AsyncFnOnce()) -> Duration {
    let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let clients = join_all((0..8).map(|_| under_load(hall, &stop, &asked)));
    let happening = async {
        happens().await;
        let seen = asked.load(Ordering::Relaxed);
        eventually("requests went on", || async { asked.load(Ordering::Relaxed) > seen + 200 }).await;
        stop.store(true, Ordering::Relaxed);
    };
    let (longest, ()) = tokio::join!(clients, happening);
    longest.into_iter().max().unwrap_or_default()
}

#[tokio::test]
async fn redis_may_die_stand_still_and_come_back_without_anybody_noticing() {
    // Far more than the 6 ms of a lookup that is given up, for machines that have much else to do.
    const LONG: Duration = Duration::from_secs(1);
    let mut hall = Hall::open(2, json!({})).await;
    let asked = of("acme", "Is it there?");
    hall.ask(0, asked.clone()).await.unwrap();
    eventually("it is kept", || async { outcome(&hall, 0, asked.clone()).await == Outcome::ExactHit }).await;

    let frozen = while_asked(&hall, async || hall.redis.freeze()).await;
    assert!(frozen < LONG, "{frozen:?}");
    assert_eq!(outcome(&hall, 0, asked.clone()).await, Outcome::Miss);
    let thawed = while_asked(&hall, async || hall.redis.thaw()).await;
    assert!(thawed < LONG, "{thawed:?}");
    for router in [0, 1] {
        eventually("it is used again", || async {
            outcome(&hall, router, asked.clone()).await == Outcome::ExactHit
        })
        .await;
    }

    hall.redis.kill().await;
    let dead = while_asked(&hall, async || {}).await;
    assert!(dead < LONG, "{dead:?}");
    hall.redis.restart().await;
    let fresh = of("acme", "Is it there again?");
    for router in [0, 1] {
        eventually_some("it is used again", || async {
            (outcome(&hall, router, fresh.clone()).await == Outcome::ExactHit).then_some(())
        })
        .await;
    }
    println!("longest request while frozen {frozen:?}, thawed {thawed:?}, dead {dead:?}");
}
