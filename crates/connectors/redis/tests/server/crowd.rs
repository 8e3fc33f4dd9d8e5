//! Many at once, by the server's own clock.

use crate::support::{ask, rates, take};
use signalbox_ports::{NoRate, RateAsk, RateGrant, RateLimiter as _};
use signalbox_redis::RedisRates;
use signalbox_testkit::RedisServer;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

const TASKS: usize = 64;

/// Four limiters, as of four processes, shared by all tasks.
fn limiters(server: &RedisServer) -> Vec<Arc<RedisRates>> {
    (0..4).map(|_| Arc::new(rates(&server.url()))).collect()
}

/// What a task got until nothing was left.
async fn take_all(rates: Arc<RedisRates>, ask: RateAsk, tokens: u64) -> (u64, u64) {
    let mut sum = (0, 0);
    loop {
        match take(&rates, &ask, tokens).await {
            Ok(grant) => sum = (sum.0 + grant.requests, sum.1 + grant.tokens),
            Err(NoRate::Short { .. }) => return sum,
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_at_once_get_the_limit_and_what_fills_meanwhile_and_no_more() {
    let server = RedisServer::start().await;
    let limiters = limiters(&server);
    let (begin, mut tasks) = (Instant::now(), JoinSet::new());
    for task in 0..TASKS {
        let ask = ask(&format!("replica-{}", task % 8), 3_000, 600_000, 0);
        tasks.spawn(take_all(limiters[task % 4].clone(), ask, 150));
    }
    let sums = tasks.join_all().await;
    let elapsed = begin.elapsed().as_secs_f64();
    let (requests, tokens) = sums.iter().fold((0, 0), |sum, got| (sum.0 + got.0, sum.1 + got.1));
    let limit = |a_minute: f64| a_minute * (1.0 + elapsed / 60.0);
    assert!(requests as f64 <= limit(3_000.0) && tokens as f64 <= limit(600_000.0), "{requests} {tokens}");
    assert!(requests >= 3_000 || tokens > 600_000 - 150, "{requests} {tokens}");
}

#[tokio::test(flavor = "multi_thread")]
async fn permits_that_go_round_among_sixty_four_are_never_too_many_and_none_is_lost() {
    let server = RedisServer::start().await;
    let limiters = limiters(&server);
    let mut tasks = JoinSet::new();
    let under_way = Arc::new(std::sync::atomic::AtomicU32::new(0));
    for task in 0..TASKS {
        let (rates, under_way) = (limiters[task % 4].clone(), under_way.clone());
        tasks.spawn(async move {
            use std::sync::atomic::Ordering::SeqCst;
            let ask = ask(&format!("task-{task}"), 0, 0, 10);
            for _ in 0..20 {
                if take(&rates, &ask, 0).await.is_ok() {
                    assert!(under_way.fetch_add(1, SeqCst) < 10);
                    tokio::task::yield_now().await;
                    under_way.fetch_sub(1, SeqCst);
                    let back = RateGrant { concurrent: 1, ..RateGrant::default() };
                    rates.give_back(&ask, &back).await.unwrap();
                }
            }
        });
    }
    tasks.join_all().await;
    for replica in 0..10 {
        take(&limiters[0], &ask(&format!("after-{replica}"), 0, 0, 10), 0).await.unwrap();
    }
}

#[tokio::test]
async fn a_key_is_gone_when_nobody_uses_it_any_more() {
    let server = RedisServer::start().await;
    let rates = rates(&server.url());
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let lasting = RateAsk { ttl: Duration::from_secs(3600), ..ask("replica", 10, 1000, 5) };
    take(&rates, &lasting, 10).await.unwrap();
    take(&rates, &ask("other", 10, 1000, 5), 10).await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    assert_eq!(keys.len(), 2, "{keys:?}");
    for key in keys {
        let left: i64 = redis::cmd("PTTL").arg(&key).query_async(&mut connection).await.unwrap();
        assert!((3_590_000..=3_600_000).contains(&left), "{key}: {left}");
    }
}
