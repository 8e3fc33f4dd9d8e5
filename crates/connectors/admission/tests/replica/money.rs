//! What is spent, and what goes back.

use crate::{Running, fake::EUR, pass, payer, with_limit, worst};
use signalbox_api::v1::{self, budget_effect::Outcome, watch_admission_response::Change};
use signalbox_ports::{Admission, Payer, SpendLimit};
use signalbox_types::{ErrorReason, Money, Tier};
use std::time::Duration;

const CENT: i64 = EUR / 100;

#[tokio::test(start_paused = true)]
async fn while_there_is_a_lease_nobody_is_asked() {
    let fake = with_limit(1_000 * EUR);
    let router = Running::new(&fake, "r1").await;
    router.replica.standing(&payer()).await.unwrap();
    let before = fake.all_calls();
    for _ in 0..1_000 {
        let standing = router.replica.standing(&payer()).await.unwrap();
        assert_eq!(standing.limit, SpendLimit::None);
        let reservation = router.reserve(CENT).await.unwrap();
        assert_eq!(reservation.charges()[0].reserved_nano_eur, CENT);
        reservation.settle(Some(Money::from_nano_eur(CENT / 100)), 10);
    }
    assert_eq!(fake.all_calls(), before);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_first_calls_ask_a_few_times_and_stay_within_the_limit() {
    let fake = with_limit(EUR);
    fake.world().latency = Duration::from_millis(3);
    let router = Running::new(&fake, "r1").await;
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let replica = router.replica.clone();
            tokio::spawn(async move {
                replica.standing(&payer()).await.unwrap();
                let reservation = replica.reserve(&payer(), worst(CENT)).await;
                pass(Duration::from_secs(2)).await;
                reservation
                    .map(|reservation| reservation.settle(Some(Money::from_nano_eur(CENT)), 10))
                    .is_ok()
            })
        })
        .collect();
    let mut served = 0;
    for call in calls {
        served += i64::from(call.await.unwrap());
    }
    assert_eq!(served * CENT, EUR, "all that there was, and no more");
    assert!(fake.calls("AcquireLeases") < 30, "{} calls", fake.calls("AcquireLeases"));
}

#[tokio::test(start_paused = true)]
async fn what_is_short_says_which_budget_and_how_much_is_left() {
    let fake = with_limit(EUR);
    let router = Running::new(&fake, "r1").await;
    let held = router.reserve(EUR * 7 / 10).await.unwrap();
    let short = router.reserve(EUR / 2).await.unwrap_err();
    assert_eq!(short.failure.reason, ErrorReason::BudgetExhausted);
    assert_eq!(short.available, Money::from_nano_eur(EUR * 3 / 10));
    let quota = short.failure.quota.unwrap();
    assert_eq!(quota.violations[0].subject, "tenant/acme/budget/monthly");
    let cheaper = router.reserve(short.available.nano_eur()).await.unwrap();
    drop((held, cheaper));
    assert!(router.reserve(1).await.is_err(), "dropped without a word counts as spent");
    router.reserve(0).await.expect("what costs nothing stays possible");
}

#[tokio::test(start_paused = true)]
async fn another_call_of_the_same_request_raises_what_is_held() {
    let fake = with_limit(EUR);
    let router = Running::new(&fake, "r1").await;
    let mut reservation = router.reserve(EUR / 10).await.unwrap();
    reservation.raise(Money::from_nano_eur(EUR / 2)).await.unwrap();
    assert_eq!(reservation.charges()[0].reserved_nano_eur, EUR / 2);
    let short = reservation.raise(Money::from_nano_eur(2 * EUR)).await.unwrap_err();
    assert_eq!(short.failure.reason, ErrorReason::BudgetExhausted);
    assert_eq!(reservation.charges()[0].reserved_nano_eur, EUR / 2, "it keeps what it had");
    reservation.settle(Some(Money::from_nano_eur(EUR / 10)), 10);
    router.reserve(EUR * 9 / 10).await.expect("the rest is there for others");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_comes_short_gets_what_lies_idle_in_another() {
    let fake = with_limit(EUR);
    let (one, two) = (Running::new(&fake, "r1").await, Running::new(&fake, "r2").await);
    let reservation = one.reserve(EUR * 9 / 10).await.unwrap();
    reservation.settle(Some(Money::ZERO), 0);
    let reservation = two.reserve(EUR / 2).await.expect("called back and granted within the wait");
    assert!(fake.world().leased(0) <= EUR);
    drop(reservation);
}

#[tokio::test(start_paused = true)]
async fn idle_money_goes_back_when_it_is_much_or_long_unused() {
    let fake = with_limit(100 * EUR);
    let router = Running::new(&fake, "r1").await;
    let reservation = router.reserve(10 * EUR).await.unwrap();
    reservation.settle(Some(Money::ZERO), 0);
    pass(Duration::from_secs(2)).await;
    assert_eq!(fake.world().leased(0), EUR, "one slice is kept");
    pass(Duration::from_secs(62)).await;
    assert_eq!(fake.world().leased(0), 0);
    router.reserve(EUR / 2).await.expect("and comes again when it is wanted");
    assert!(fake.world().leased(0) >= EUR / 2);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_gives_back_what_is_idle() {
    let fake = with_limit(100 * EUR);
    let router = Running::new(&fake, "r1").await;
    router.reserve(EUR / 2).await.unwrap().settle(Some(Money::from_nano_eur(7)), 10);
    drop(router);
    pass(Duration::from_secs(1)).await;
    assert_eq!(fake.world().leased(0), 7, "all but what was spent");
}

#[tokio::test(start_paused = true)]
async fn leases_in_use_are_renewed() {
    let fake = with_limit(100 * EUR);
    let router = Running::new(&fake, "r1").await;
    for _ in 0..20 {
        router.reserve(CENT).await.unwrap().settle(Some(Money::ZERO), 0);
        pass(Duration::from_secs(15)).await;
    }
    assert_eq!(fake.calls("AcquireLeases"), 1);
    assert!((10..=20).contains(&fake.calls("RenewLeases")), "{}", fake.calls("RenewLeases"));
    assert_eq!(fake.world().leases.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_threshold_in_force_is_told_and_obeyed_at_once() {
    let fake = with_limit(100 * EUR);
    let router = Running::new(&fake, "r1").await;
    router.replica.standing(&payer()).await.unwrap();
    let mut budget = fake.world().budgets[0].clone();
    budget.status = Some(v1::BudgetStatus {
        period_id: "2026-11".into(),
        limit_nano_eur: 100 * EUR,
        free_nano_eur: 9 * EUR,
        threshold: "monthly 90%".into(),
        action: v1::budget::Action::LimitTier.into(),
        tier: v1::Tier::Economy.into(),
        ..Default::default()
    });
    fake.tell("r1", Change::Budget(budget));
    pass(Duration::from_millis(1)).await;
    let standing = router.replica.standing(&payer()).await.unwrap();
    assert_eq!(standing.tiers, [Tier::Economy]);
    assert_eq!(standing.effect.outcome(), Outcome::Downgraded);
    assert_eq!(standing.effect.threshold, "monthly 90%");
    assert_eq!(standing.allowance, Some(Money::from_nano_eur(10 * EUR)), "a slice here and what is free");
}

#[tokio::test(start_paused = true)]
async fn a_new_budget_is_asked_for_when_its_tenant_is_told_of() {
    let fake = with_limit(100 * EUR);
    fake.world().budgets.clear();
    let router = Running::new(&fake, "r1").await;
    assert_eq!(router.replica.standing(&payer()).await.unwrap().allowance, None);
    fake.with_budget(crate::acme(), EUR);
    fake.tell("", Change::Tenant(crate::acme()));
    pass(Duration::from_millis(1)).await;
    assert_eq!(router.replica.standing(&payer()).await.unwrap().allowance, Some(Money::from_nano_eur(EUR)));
}

#[tokio::test(start_paused = true)]
async fn a_suspended_tenant_is_refused() {
    let fake = with_limit(100 * EUR);
    let router = Running::new(&fake, "r1").await;
    router.replica.standing(&payer()).await.unwrap();
    let tenant = v1::Tenant { state: v1::tenant::State::Suspended.into(), ..crate::acme() };
    fake.world().tenants.insert("acme".into(), tenant.clone());
    fake.tell("", Change::Tenant(tenant));
    pass(Duration::from_millis(1)).await;
    let failure = router.replica.standing(&payer()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::PermissionDenied);
}

#[tokio::test(start_paused = true)]
async fn tenants_that_nobody_stored_have_no_limits_and_cost_no_calls() {
    let fake = with_limit(EUR);
    let router = Running::new(&fake, "r1").await;
    let stranger = Payer { tenant_id: "stranger".into(), ..Payer::default() };
    for _ in 0..100 {
        let standing = router.replica.standing(&stranger).await.unwrap();
        assert!(standing.tenant.is_none() && standing.allowance.is_none());
        let reservation = router.replica.reserve(&stranger, worst(1_000 * EUR)).await.unwrap();
        assert!(reservation.charges().is_empty());
    }
    let nobody = Payer::default();
    router.replica.standing(&nobody).await.unwrap();
    router.replica.reserve(&nobody, worst(1)).await.unwrap();
    assert_eq!(fake.calls("AcquireLeases"), 1);
}
