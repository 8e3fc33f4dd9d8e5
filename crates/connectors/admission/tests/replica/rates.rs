//! Limits of requests, of tokens and of requests at once.

use crate::{Running, acme, fake::FakeBudgets, pass, payer};
use signalbox_api::v1::{self, rate_slice::Level};
use signalbox_ports::{Admission, Worst};
use signalbox_types::{ErrorReason, Money};
use std::time::Duration;

fn limited(slice: v1::RateSlice) -> FakeBudgets {
    let fake = FakeBudgets::new();
    let mut world = fake.world();
    world.tenants.insert("acme".into(), acme());
    world.rates = vec![v1::RateSlice { level: Level::Tenant.into(), ..slice }];
    drop(world);
    fake
}

fn tokens(tokens: u64) -> Worst {
    Worst { cost: Money::ZERO, tokens }
}

#[tokio::test(start_paused = true)]
async fn a_slice_of_a_rate_serves_without_asking_and_what_is_told_to_be_left_falls() {
    let fake = limited(v1::RateSlice {
        granted_requests: 10,
        granted_tokens: 5_000,
        limit: Some(v1::RateLimit {
            requests_per_minute: 100,
            tokens_per_minute: 50_000,
            ..Default::default()
        }),
        remaining: Some(v1::RateLimit {
            requests_per_minute: 90,
            tokens_per_minute: 45_000,
            ..Default::default()
        }),
        ..Default::default()
    });
    let router = Running::new(&fake, "r1").await;
    let mut before = u64::MAX;
    for left in (90..100).rev() {
        let reservation = router.replica.reserve(&payer(), tokens(100)).await.unwrap();
        let rates = reservation.rates();
        assert_eq!(rates.requests.unwrap().remaining, left);
        assert!(rates.tokens.unwrap().remaining < before);
        before = rates.tokens.unwrap().remaining;
        reservation.settle(Some(Money::ZERO), 40);
    }
    assert_eq!(fake.calls("AcquireLeases"), 1);
    router.replica.reserve(&payer(), tokens(100)).await.unwrap().settle(None, 40);
    assert_eq!(fake.calls("AcquireLeases"), 2, "the slice is used up");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waited_for_a_slice_is_counted_too() {
    let fake = limited(v1::RateSlice {
        granted_requests: 2,
        limit: Some(v1::RateLimit { requests_per_minute: 100, ..Default::default() }),
        ..Default::default()
    });
    fake.world().latency = Duration::from_millis(10);
    let router = Running::new(&fake, "r1").await;
    for served in 0..8 {
        router.replica.reserve(&payer(), tokens(1)).await.unwrap().settle(None, 1);
        assert_eq!(fake.calls("AcquireLeases"), served / 2 + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_fits_is_not_told_to_wait_though_others_are() {
    let fake = limited(v1::RateSlice {
        granted_tokens: 500,
        limit: Some(v1::RateLimit { tokens_per_minute: 2_000, ..Default::default() }),
        ..Default::default()
    });
    let router = Running::new(&fake, "r1").await;
    router.replica.reserve(&payer(), tokens(100)).await.unwrap().settle(None, 100);
    fake.world().rates_used_up = true;
    fake.world().latency = Duration::from_millis(10);
    let wait = async |needed| {
        router.replica.reserve(&payer(), tokens(needed)).await.unwrap_err().failure.retry_after
    };
    let (waits, never, waits_too) = tokio::join!(wait(1_000), wait(2_100), wait(1_500));
    assert!(waits.is_some() && waits_too.is_some());
    assert_eq!((never, wait(5_000).await), (None, None));
}

#[tokio::test(start_paused = true)]
async fn more_tokens_than_the_slice_has_are_asked_for() {
    let fake = limited(v1::RateSlice {
        granted_tokens: 1_000,
        limit: Some(v1::RateLimit { tokens_per_minute: 50_000, ..Default::default() }),
        ..Default::default()
    });
    let router = Running::new(&fake, "r1").await;
    router.replica.standing(&payer()).await.unwrap();
    router.replica.reserve(&payer(), tokens(9_000)).await.unwrap().settle(None, 9_000);
    let asked = fake.world().asked.last().unwrap().needed_tokens;
    assert_eq!(asked, 8_000);
}

#[tokio::test(start_paused = true)]
async fn requests_at_once_find_a_place_when_one_ends() {
    let fake = limited(v1::RateSlice {
        granted_concurrent_requests: 2,
        limit: Some(v1::RateLimit { concurrent_requests: 2, ..Default::default() }),
        ..Default::default()
    });
    let router = Running::new(&fake, "r1").await;
    let one = router.replica.reserve(&payer(), tokens(1)).await.unwrap();
    let two = router.replica.reserve(&payer(), tokens(1)).await.unwrap();
    assert!(router.replica.reserve(&payer(), tokens(1)).await.is_err());
    let told = fake.world().asked.last().unwrap().rate_uses[0].under_way;
    assert_eq!(told, 2, "the service hears what is under way");
    one.settle(None, 1);
    router.replica.reserve(&payer(), tokens(1)).await.expect("a place is free").settle(None, 1);
    drop(two);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_uses_goes_back() {
    let fake = limited(v1::RateSlice {
        granted_requests: 10,
        limit: Some(v1::RateLimit { requests_per_minute: 100, ..Default::default() }),
        ..Default::default()
    });
    let router = Running::new(&fake, "r1").await;
    router.replica.reserve(&payer(), tokens(1)).await.unwrap().settle(None, 1);
    pass(Duration::from_secs(12)).await;
    assert_eq!(fake.world().rate_returned, 9);
}

#[tokio::test(start_paused = true)]
async fn while_the_limiter_is_away_each_replica_lets_through_its_own_part() {
    let limit =
        Some(v1::RateLimit { requests_per_minute: 60, tokens_per_minute: 6_000, ..Default::default() });
    let fake = limited(v1::RateSlice { limit, own_part: true, ..Default::default() });
    fake.world().live_replicas = 3;
    fake.world().ttl_of_rates = Duration::from_secs(1);
    let router = Running::new(&fake, "r1").await;
    for _ in 0..20 {
        router.replica.reserve(&payer(), tokens(100)).await.unwrap().settle(None, 50);
    }
    let short = router.replica.reserve(&payer(), tokens(100)).await.unwrap_err();
    assert_eq!(short.failure.reason, ErrorReason::RateLimited);
    let asked = fake.calls("AcquireLeases");
    assert_eq!(asked, 1, "nobody is asked for what nobody hands out");
    pass(Duration::from_secs(3)).await;
    router
        .replica
        .reserve(&payer(), tokens(1_050))
        .await
        .expect("a request fills up in 3 s, and tokens came back");
    assert!(fake.calls("AcquireLeases") > asked, "but from time to time, whether somebody does again");
    fake.world().rates[0].own_part = false;
    fake.world().rates[0].granted_requests = 30;
    pass(Duration::from_secs(1)).await;
    for _ in 0..30 {
        router.replica.reserve(&payer(), tokens(100)).await.expect("out of a slice").settle(None, 50);
    }
}
