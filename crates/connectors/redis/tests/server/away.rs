//! A server that is away, comes back, or does not let us in.

use crate::support::{PATIENCE, ask, connect, rates, take};
use signalbox_ports::{NoRate, RateLimiter as _};
use signalbox_redis::{Redis, RedisOptions, RedisRates};
use signalbox_testkit::{RedisServer, eventually, eventually_some};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

#[tokio::test]
async fn a_server_that_was_killed_is_away_at_once_and_used_again_when_it_is_back() {
    let mut server = RedisServer::start().await;
    let rates = rates(&server.url());
    let ask = ask("replica", 60, 0, 0);
    take(&rates, &ask, 0).await.unwrap();
    server.kill().await;
    eventually("it is away", || async { matches!(take(&rates, &ask, 0).await, Err(NoRate::Away(_))) }).await;
    let begin = Instant::now();
    assert!(matches!(take(&rates, &ask, 0).await, Err(NoRate::Away(_))));
    assert!(begin.elapsed() < PATIENCE / 2, "nobody waits for a server that refuses connections");
    assert!(matches!(rates.give_back(&ask, &Default::default()).await, Err(NoRate::Away(_))));
    server.restart().await;
    let grant = eventually_some("it is back", || async { take(&rates, &ask, 0).await.ok() }).await;
    assert_eq!(grant.remaining.requests_per_minute, 57, "its scripts are gone, and so is what was used");
}

#[tokio::test]
async fn a_server_that_is_not_there_yet_is_used_once_it_is() {
    let mut server = RedisServer::start().await;
    server.kill().await;
    let redis = connect(&server.url());
    let rates = RedisRates::new(redis.clone());
    assert!(matches!(take(&rates, &ask("replica", 1, 0, 0), 0).await, Err(NoRate::Away(_))));
    assert!(!redis.is_connected());
    server.restart().await;
    eventually("it is connected", || async { redis.is_connected() }).await;
    take(&rates, &ask("replica", 1, 0, 0), 0).await.unwrap();
}

#[tokio::test]
async fn a_server_that_stands_still_is_away_within_the_time_an_answer_may_take() {
    let server = RedisServer::start().await;
    let options = RedisOptions { patience: Duration::from_millis(300), ..RedisOptions::new(server.url()) };
    let rates = RedisRates::new(Redis::connect(&options).unwrap());
    eventually("it answers", || async { take(&rates, &ask("replica", 60, 0, 0), 0).await.is_ok() }).await;
    server.freeze();
    let begin = Instant::now();
    let away = take(&rates, &ask("replica", 60, 0, 0), 0).await.unwrap_err();
    assert_eq!(away, NoRate::Away("no answer within 300 ms".to_owned()));
    assert!(begin.elapsed() < PATIENCE);
    server.thaw();
    eventually("it answers again", || async { take(&rates, &ask("replica", 60, 0, 0), 0).await.is_ok() })
        .await;
}

#[tokio::test]
async fn a_server_that_can_be_read_and_not_written_is_away_until_it_can() {
    let server = RedisServer::start().await;
    let redis = connect(&server.url());
    let rates = RedisRates::new(redis.clone());
    take(&rates, &ask("replica", 60, 0, 0), 0).await.unwrap();
    for (hurt, mend, why) in [
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "read only"),
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "maxmemory"),
        ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "replicas"),
    ] {
        assert_eq!(server.say(hurt).await, "+OK");
        // Though nobody asks for anything.
        eventually("it is not usable", || async { !redis.is_connected() }).await;
        let told = eventually_some("it is said why", || async {
            let told = take(&rates, &ask("replica", 60, 0, 0), 0).await.unwrap_err();
            matches!(&told, NoRate::Away(told) if told.contains(why)).then_some(told)
        });
        told.await;
        assert!(!redis.is_connected(), "it answers, and that is not enough");
        assert_eq!(server.say(mend).await, "+OK");
        eventually("it is used again", || async { take(&rates, &ask("replica", 60, 0, 0), 0).await.is_ok() })
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_tasks_never_get_more_than_each_life_of_a_killed_server_has() {
    let mut server = RedisServer::start().await;
    let limiters: Vec<_> = (0..4).map(|_| Arc::new(rates(&server.url()))).collect();
    let (end, lives) = (tokio::sync::watch::channel(false), 4);
    let begin = Instant::now();
    let mut tasks = JoinSet::new();
    for task in 0..64 {
        let (rates, end) = (limiters[task % 4].clone(), end.1.clone());
        tasks.spawn(async move {
            let (ask, mut got, mut away) = (ask(&format!("replica-{}", task % 8), 2_000, 0, 0), 0, 0);
            while !*end.borrow() {
                match take(&rates, &ask, 0).await {
                    Ok(grant) => got += grant.requests,
                    Err(NoRate::Away(_)) => away += 1,
                    Err(NoRate::Short { .. }) => {}
                    Err(other) => panic!("{other:?}"),
                }
                tokio::task::yield_now().await;
            }
            (got, away)
        });
    }
    for _ in 1..lives {
        let used_up = || async {
            matches!(take(&limiters[0], &ask("me", 2_000, 0, 0), 0).await, Err(NoRate::Short { .. }))
        };
        eventually("the limit is used up", used_up).await;
        server.kill().await;
        server.restart().await;
    }
    end.0.send_replace(true);
    let (got, away) =
        tasks.join_all().await.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let most = 2_000.0 * (f64::from(lives) + begin.elapsed().as_secs_f64() / 60.0);
    assert!(got as f64 <= most, "{got} of {most}");
    assert!(got >= 2_000 * (u64::from(lives as u32) - 1) * 9 / 10 && away > 0, "{got}, {away} times away");
}

#[tokio::test]
async fn scripts_that_the_server_has_forgotten_are_sent_again() {
    let server = RedisServer::start().await;
    let rates = rates(&server.url());
    take(&rates, &ask("replica", 60, 0, 0), 0).await.unwrap();
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("SCRIPT").arg("FLUSH").exec_async(&mut connection).await.unwrap();
    let grant = take(&rates, &ask("replica", 60, 0, 0), 0).await.unwrap();
    assert_eq!(grant.remaining.requests_per_minute, 54);
}

#[tokio::test]
async fn a_password_lets_in_and_is_never_told() {
    let server = RedisServer::with(&["--requirepass", "hunter2"]).await;
    let at = |password: &str| format!("redis://:{password}@127.0.0.1:{}", server.port());
    take(&rates(&at("hunter2")), &ask("replica", 60, 0, 0), 0).await.unwrap();
    let wrong = RedisOptions { patience: PATIENCE, ..RedisOptions::new(at("swordfish")) };
    let redis = Redis::connect(&wrong).unwrap();
    let rates = RedisRates::new(redis.clone());
    let error = take(&rates, &ask("replica", 60, 0, 0), 0).await.unwrap_err();
    let said = format!("{wrong:?} {redis:?} {rates:?} {error:?} {error}");
    assert!(matches!(error, NoRate::Away(_)) && !said.contains("swordfish"), "{said}");
    let unreadable = Redis::connect(&RedisOptions::new("redis://:swordfish@[")).unwrap_err();
    let said = format!("{unreadable:?} {unreadable}");
    assert!(said.contains("redis://host:6379") && !said.contains("swordfish"), "{said}");
}
