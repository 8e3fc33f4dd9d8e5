//! The budget service is away.

use crate::{
    Running, acme,
    fake::{EUR, FakeBudgets},
    pass, payer, with_limit, worst,
};
use signalbox_api::v1::{self, rate_slice::Level, tenant::FailureMode};
use signalbox_ports::{Admission, Payer};
use signalbox_types::{ErrorReason, Money};
use std::time::Duration;

const SLICE: i64 = EUR / 10;

#[tokio::test(start_paused = true)]
async fn leases_held_are_spent_until_their_fence_and_no_longer() {
    let fake = with_limit(10 * EUR);
    let router = Running::new(&fake, "r1").await;
    router.replica.standing(&payer()).await.unwrap();
    fake.kill();
    pass(Duration::from_secs(30)).await;
    router.replica.standing(&payer()).await.expect("what was known last");
    router.reserve(SLICE / 2).await.expect("the lease is still good").settle(Some(Money::ZERO), 0);
    assert_eq!(router.reserve(2 * SLICE).await.unwrap_err().failure.reason, ErrorReason::Unavailable);
    // Ten seconds before it ends.
    pass(Duration::from_secs(21)).await;
    let short = router.reserve(1).await.unwrap_err();
    assert_eq!(short.failure.reason, ErrorReason::Unavailable);
    assert!(short.failure.message.contains("budget service away"), "{}", short.failure.message);
    assert!(short.failure.retry_after.is_some());
}

#[tokio::test(start_paused = true)]
async fn requests_do_not_wait_for_a_service_that_is_away() {
    let fake = with_limit(10 * EUR);
    let router = Running::new(&fake, "r1").await;
    router.replica.standing(&payer()).await.unwrap();
    fake.kill();
    pass(Duration::from_secs(1)).await;
    let before = fake.calls("AcquireLeases");
    for _ in 0..1_000 {
        router.reserve(SLICE / 2).await.unwrap().settle(Some(Money::ZERO), 0);
        let _refused = router.reserve(2 * SLICE).await.unwrap_err();
    }
    assert!(fake.calls("AcquireLeases") - before <= 1);
}

#[tokio::test(start_paused = true)]
async fn who_has_never_heard_of_a_tenant_lets_nothing_pass() {
    let fake = FakeBudgets::new();
    fake.kill();
    let router = Running::new(&fake, "r1").await;
    let failure = router.replica.standing(&payer()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Unavailable);
    assert_eq!(router.reserve(1).await.unwrap_err().failure.reason, ErrorReason::Unavailable);
    fake.with_budget(acme(), EUR);
    fake.start();
    pass(Duration::from_secs(2)).await;
    router.reserve(1).await.expect("it is back");
}

#[tokio::test(start_paused = true)]
async fn a_tenant_that_wants_to_go_on_gets_its_part_of_rates_and_of_soft_budgets() {
    let fake = FakeBudgets::new();
    fake.with_budget(v1::Tenant { failure_mode: FailureMode::Open.into(), ..acme() }, 10 * EUR);
    fake.world().budgets[0].enforcement = v1::budget::Enforcement::Soft.into();
    fake.world().rates = vec![v1::RateSlice {
        level: Level::Tenant.into(),
        granted_requests: 2,
        limit: Some(v1::RateLimit { requests_per_minute: 60, ..Default::default() }),
        ..Default::default()
    }];
    fake.world().live_replicas = 3;
    let router = Running::new(&fake, "r1").await;
    router.replica.standing(&payer()).await.unwrap();
    fake.kill();
    pass(Duration::from_secs(70)).await;
    let mut served = 0;
    let refused = loop {
        match router.reserve(EUR).await {
            Ok(reservation) => {
                assert_eq!(reservation.charges()[0].budget_id, "monthly");
                assert_eq!(reservation.charges()[0].lease_id, "", "it is owed without a lease");
                reservation.settle(Some(Money::ZERO), 0);
                served += 1;
            }
            Err(short) => break short.failure,
        }
    };
    assert_eq!(served, 20, "a third of the rate");
    assert_eq!(refused.reason, ErrorReason::RateLimited);
}

#[tokio::test(start_paused = true)]
async fn a_hard_budget_stays_closed_beyond_its_lease_whatever_the_tenant_wants() {
    let fake = FakeBudgets::new();
    fake.with_budget(v1::Tenant { failure_mode: FailureMode::Open.into(), ..acme() }, 10 * EUR);
    let router = Running::new(&fake, "r1").await;
    router.replica.standing(&payer()).await.unwrap();
    fake.kill();
    pass(Duration::from_secs(1)).await;
    router.reserve(SLICE).await.expect("within the lease");
    assert_eq!(router.reserve(1).await.unwrap_err().failure.reason, ErrorReason::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_lost_while_the_process_stood_still_is_given_back() {
    let fake = with_limit(10 * EUR);
    let router = Running::new(&fake, "r1").await;
    router.reserve(SLICE / 2).await.unwrap().settle(Some(Money::from_nano_eur(5)), 0);
    fake.kill();
    pass(Duration::from_secs(66)).await;
    fake.world().expire();
    fake.start();
    pass(Duration::from_secs(5)).await;
    let (orphaned, outstanding) = {
        let world = fake.world();
        let lease = &world.leases["lease-1"];
        (lease.orphaned, lease.granted - lease.returned)
    };
    assert!(orphaned);
    assert_eq!(outstanding, 5, "all but what was spent");
    let reservation = router.reserve(SLICE / 2).await.unwrap();
    assert_eq!(reservation.charges()[0].lease_id, "lease-2");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_stands_still_is_noticed() {
    let fake = with_limit(10 * EUR);
    let router = Running::new(&fake, "r1").await;
    assert!(router.replica.is_in_touch());
    fake.world().silent = true;
    fake.world().latency = Duration::from_secs(3_600);
    pass(Duration::from_secs(3)).await;
    assert!(!router.replica.is_in_touch());
    let started = tokio::time::Instant::now();
    assert!(router.replica.reserve(&payer(), worst(1)).await.is_err());
    assert!(started.elapsed() <= Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn where_changes_are_not_heard_of_each_request_asks() {
    let fake = with_limit(10 * EUR);
    let router = Running::new(&fake, "r1").await;
    fake.world().silent = true;
    pass(Duration::from_secs(2)).await;
    for _ in 0..5 {
        let before = fake.calls("AcquireLeases");
        router.replica.standing(&payer()).await.unwrap();
        router.reserve(SLICE / 2).await.unwrap().settle(Some(Money::ZERO), 0);
        assert!(fake.calls("AcquireLeases") > before);
        // In between it is opened, and falls silent again.
        pass(Duration::from_millis(1_900)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_tenant_whose_limiter_is_away_stops_no_other() {
    let fake = with_limit(10 * EUR);
    fake.world().stuck = "other".into();
    let router = Running::new(&fake, "r1").await;
    let other = Payer { tenant_id: "other".into(), ..Payer::default() };
    let before = fake.calls("AcquireLeases");
    for _ in 0..50 {
        let short = router.replica.reserve(&other, worst(1)).await.unwrap_err();
        assert_eq!(short.failure.reason, ErrorReason::Unavailable);
        let message = &short.failure.message;
        assert!(message.starts_with("the rate limiter cannot be reached: whether"), "{message}");
        router.reserve(SLICE).await.unwrap().settle(Some(Money::from_nano_eur(SLICE)), 0);
    }
    assert!(fake.calls("AcquireLeases") - before <= 52, "and is asked for only now and then");
}
