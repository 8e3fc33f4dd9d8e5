use super::world::{EUR, World, monthly, slices, told};
use signalbox_api::v1::{
    self, AcquireLeasesRequest, ApiKey, Budget, LeaseReturn, Tenant,
    budget::{Action, Enforcement, Period, Threshold},
    budget_service_server::BudgetService,
};
use signalbox_types::ErrorReason;
use std::{collections::HashMap, time::Duration};
use tonic::Request;

#[tokio::test]
async fn a_tenant_that_nobody_knows_has_no_limits() {
    let world = World::new().await;
    let answer = world.acquire("r1", "g1", 1_000 * EUR).await.unwrap();
    assert_eq!((answer.leases.len(), answer.tenant), (0, None));
    assert!(answer.ttl.is_some());
}

#[tokio::test]
async fn a_request_falls_under_its_tenants_its_keys_and_its_scenes_budgets() {
    let world = World::with_acme().await;
    let (key, _) = world.key(ApiKey::default()).await;
    world.budget(monthly("all", 10 * EUR)).await;
    world.budget(Budget { key_id: key.key_id.clone(), ..monthly("key", 10 * EUR) }).await;
    world.budget(Budget { scene: "web".into(), ..monthly("scene", 10 * EUR) }).await;
    let of = |grant_id: &str, key_id: &str, scene: &str| {
        let request = AcquireLeasesRequest {
            replica_id: "r1".into(),
            grant_id: grant_id.into(),
            tenant_id: "acme".into(),
            key_id: key_id.into(),
            scene: scene.into(),
            needed_nano_eur: 1,
            ..Default::default()
        };
        let answer = world.acquire_as(request);
        async move {
            let slices = slices(&answer.await.unwrap());
            slices.into_iter().map(|(_, slice)| slice.budget.unwrap().budget_id).collect::<Vec<_>>()
        }
    };
    assert_eq!(of("g1", "", "").await, ["all"]);
    assert_eq!(of("g2", &key.key_id, "app").await, ["all", "key"]);
    assert_eq!(of("g3", &key.key_id, "web").await, ["all", "key", "scene"]);
}

#[tokio::test]
async fn a_replica_has_one_lease_of_a_budget_and_more_of_it_is_told_as_the_whole() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 100 * EUR)).await;
    let first = slices(&world.acquire("r1", "g1", EUR).await.unwrap());
    let again = slices(&world.acquire("r1", "g1", EUR).await.unwrap());
    let second = slices(&world.acquire("r1", "g2", EUR).await.unwrap());
    assert_eq!((&first[0].0, first[0].1.granted_nano_eur), (&again[0].0, again[0].1.granted_nano_eur));
    assert_eq!((&first[0].0, second[0].1.granted_nano_eur), (&second[0].0, 2 * EUR));
    assert_eq!(world.status("m").await.leased_nano_eur, 2 * EUR);
}

#[tokio::test]
async fn what_is_short_is_named_with_what_is_free_and_nothing_is_taken() {
    let world = World::with_acme().await;
    world.budget(monthly("large", 100 * EUR)).await;
    world.budget(monthly("small", EUR)).await;
    let failure = world.acquire("r1", "g1", 2 * EUR).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::BudgetExhausted);
    let quota = failure.quota.unwrap();
    assert_eq!(quota.violations[0].subject, "tenant/acme/budget/small");
    let told = "of €1.00 €0.00 is spent, €0.00 is held for requests under way, €1.00 is left";
    assert_eq!(quota.violations[0].description, told);
    assert_eq!(failure.retry_after, None, "nothing that comes back would make it fit");
    assert_eq!(quota.left["free_nano_eur"], EUR.to_string());
    assert_eq!(world.status("large").await.leased_nano_eur, 0);
}

#[tokio::test]
async fn what_is_short_only_for_what_others_hold_may_be_tried_again_soon() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = slices(&world.acquire("r1", "g1", 8 * EUR).await.unwrap());
    let held = world.acquire("r2", "g2", 5 * EUR).await.unwrap_err();
    assert!(held.retry_after.is_some(), "{held:?}");
    world.settle("q1", &granted[0], 8 * EUR).await;
    let spent = world.acquire("r2", "g3", 5 * EUR).await.unwrap_err();
    assert_eq!(spent.retry_after, None, "{spent:?}");
    assert!(spent.message.contains("€8.00 is spent"), "{spent:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_first_requests_at_once_are_never_granted_more_than_the_limit() {
    let world = World::with_acme().await;
    world.budget(monthly("m", EUR)).await;
    let cent = EUR / 100;
    let asks = (0..1_000).map(|number| AcquireLeasesRequest {
        replica_id: format!("r{}", number % 16),
        grant_id: format!("g{number}"),
        tenant_id: "acme".into(),
        needed_nano_eur: cent,
        ..Default::default()
    });
    let running: Vec<_> = asks.map(|ask| tokio::spawn(world.acquire_as(ask))).collect();
    let (mut by_lease, mut admitted) = (HashMap::new(), 0);
    for ask in running {
        match ask.await.unwrap() {
            Ok(answer) => {
                admitted += 1;
                for (lease_id, slice) in slices(&answer) {
                    let granted: &mut i64 = by_lease.entry(lease_id).or_default();
                    *granted = slice.granted_nano_eur.max(*granted);
                }
            }
            Err(failure) => assert_eq!(failure.reason, ErrorReason::BudgetExhausted, "{failure}"),
        }
    }
    let granted: i64 = by_lease.values().sum();
    assert!(granted <= EUR, "{granted}");
    assert!(granted > EUR - cent, "{granted}: what is needed is granted as long as it is there");
    assert!((16..=100).contains(&admitted), "{admitted}");
    let status = world.status("m").await;
    assert_eq!(status.leased_nano_eur, granted);
}

#[tokio::test]
async fn a_soft_budget_goes_on_beyond_its_limit_with_the_cheapest_models() {
    let world = World::with_acme().await;
    world.budget(Budget { enforcement: Enforcement::Soft as i32, ..monthly("m", EUR) }).await;
    let granted = slices(&world.acquire("r1", "g1", 2 * EUR).await.unwrap());
    world.settle("q1", &granted[0], 2 * EUR).await;
    let status = world.status("m").await;
    assert_eq!((status.action(), status.free_nano_eur), (Action::LimitTier, -EUR));
    assert!(world.acquire("r1", "g2", EUR).await.is_ok());
}

#[tokio::test]
async fn a_threshold_that_refuses_grants_nothing_but_for_what_costs_nothing() {
    let world = World::with_acme().await;
    let refuse = Threshold { used_share: 0.5, action: Action::Refuse as i32, ..Threshold::default() };
    world.budget(Budget { thresholds: vec![refuse], ..monthly("m", 10 * EUR) }).await;
    let granted = slices(&world.acquire("r1", "g1", 5 * EUR).await.unwrap());
    world.settle("q1", &granted[0], 5 * EUR).await;
    let failure = world.acquire("r1", "g2", 1).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::BudgetExhausted);
    assert!(failure.message.contains("m 50%"), "{}", failure.message);
    let free = slices(&world.acquire("r2", "g3", 0).await.unwrap());
    assert_eq!(free[0].1.granted_nano_eur, 0);
    assert_eq!(free[0].1.budget.as_ref().unwrap().status.as_ref().unwrap().action(), Action::Refuse);
}

#[tokio::test]
async fn slices_are_a_share_of_the_limit_with_what_was_paid_in() {
    let world = World::with_acme().await;
    world.budget(Budget { period: Period::Prepaid as i32, ..monthly("m", 0) }).await;
    world.top_up("pay-1", 50 * EUR).await;
    assert_eq!(slices(&world.acquire("r1", "g1", 1).await.unwrap())[0].1.granted_nano_eur, EUR / 2);
}

#[tokio::test]
async fn leases_live_on_while_they_are_renewed_and_come_back_in_part_or_whole() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 100 * EUR)).await;
    let granted = slices(&world.acquire("r1", "g1", 10 * EUR).await.unwrap());
    let lease_id = granted[0].0.clone();
    let renew = |replica_id: &str| {
        let request = v1::RenewLeasesRequest {
            replica_id: replica_id.to_owned(),
            lease_ids: vec![lease_id.clone()],
            ..Default::default()
        };
        world.service.renew_leases(Request::new(request))
    };
    world.clock.forward(Duration::from_secs(40));
    let renewed = told(renew("r1").await).leases;
    assert_eq!(renewed[0].ttl.unwrap().seconds, 60);
    assert_eq!(told(renew("r2").await).leases, [], "it is another's");
    let give_back = |return_id: &str, amount_nano_eur, end| {
        let part = LeaseReturn { lease_id: lease_id.clone(), amount_nano_eur, end, ..Default::default() };
        let request = v1::ReturnLeasesRequest {
            replica_id: "r1".into(),
            return_id: return_id.to_owned(),
            returns: vec![part],
        };
        world.service.return_leases(Request::new(request))
    };
    for _ in 0..2 {
        told(give_back("b1", 4 * EUR, false).await);
        assert_eq!(world.status("m").await.leased_nano_eur, 6 * EUR, "counted once");
    }
    told(give_back("b2", 0, true).await);
    assert_eq!(world.status("m").await.free_nano_eur, 100 * EUR);
    world.clock.forward(Duration::from_secs(61));
    assert_eq!(told(renew("r1").await).leases, [], "too late");
}

#[tokio::test]
async fn a_reservation_names_its_charges_and_is_settled_once() {
    let world = World::with_acme().await;
    world.budget(monthly("a", 10 * EUR)).await;
    world.budget(monthly("b", 10 * EUR)).await;
    let reserve = |amount_nano_eur| {
        let request = v1::ReserveRequest {
            reservation_id: "batch-1".into(),
            tenant_id: "acme".into(),
            amount_nano_eur,
            ttl: Some(prost_types::Duration { seconds: 3_600, nanos: 0 }),
            ..Default::default()
        };
        world.service.reserve(Request::new(request))
    };
    let made = told(reserve(4 * EUR).await);
    assert_eq!(told(reserve(4 * EUR).await).charges, made.charges);
    assert_eq!(made.charges.iter().map(|charge| charge.budget_id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(world.status("a").await.reserved_nano_eur, 4 * EUR);
    let settlement = v1::Settlement {
        settlement_id: "s1".into(),
        tenant_id: "acme".into(),
        charges: made.charges,
        amount_nano_eur: EUR,
        ..Default::default()
    };
    for _ in 0..3 {
        let request = v1::SettleRequest { settlements: vec![settlement.clone()] };
        told(world.service.settle(Request::new(request)).await);
        let status = world.status("b").await;
        assert_eq!((status.settled_nano_eur, status.reserved_nano_eur), (EUR, 0));
    }
}

#[tokio::test]
async fn a_reservation_that_does_not_fit_takes_nothing() {
    let world = World::with_acme().await;
    world.budget(monthly("a", 10 * EUR)).await;
    world.budget(monthly("b", EUR)).await;
    let request = v1::ReserveRequest {
        reservation_id: "batch-1".into(),
        tenant_id: "acme".into(),
        amount_nano_eur: 2 * EUR,
        ttl: Some(prost_types::Duration { seconds: 3_600, nanos: 0 }),
        ..Default::default()
    };
    let failure = super::world::refused(world.service.reserve(Request::new(request)).await);
    assert_eq!(failure.quota.unwrap().violations[0].subject, "tenant/acme/budget/b");
    assert_eq!(world.status("a").await.reserved_nano_eur, 0);
}

#[tokio::test]
async fn tenants_do_not_pay_for_each_other() {
    let world = World::with_acme().await;
    world.tenant(Tenant { tenant_id: "other".into(), ..Tenant::default() }).await;
    world.budget(monthly("m", EUR)).await;
    let request = AcquireLeasesRequest {
        replica_id: "r1".into(),
        grant_id: "g1".into(),
        tenant_id: "other".into(),
        needed_nano_eur: 5 * EUR,
        ..Default::default()
    };
    assert_eq!(world.acquire_as(request).await.unwrap().leases, []);
    assert_eq!(world.status("m").await.free_nano_eur, EUR);
}
