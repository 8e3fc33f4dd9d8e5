use super::world::{EUR, World, monthly, slices, told};
use crate::{BudgetKeeping, Dependencies};
use signalbox_api::v1::{
    self, AcquireLeasesRequest, ApiKey, Lease, LeaseReturn, RateLimit, RateSlice, RateUse, ScenePolicy,
    Tenant, budget_service_server::BudgetService, lease::Slice, rate_slice::Level, tenant::FailureMode,
};
use signalbox_ports::{NoRate, RateAsk, RateGrant, RateLimiter};
use signalbox_types::ErrorReason;
use std::{sync::Arc, time::Duration};
use tonic::{Code, Request};

fn requests(requests_per_minute: u32) -> Option<RateLimit> {
    Some(RateLimit { requests_per_minute, ..RateLimit::default() })
}

fn rates(leases: &[Lease]) -> Vec<RateSlice> {
    let of_rate = |lease: &Lease| match &lease.slice {
        Some(Slice::Rate(slice)) => Some(slice.clone()),
        _ => None,
    };
    leases.iter().filter_map(of_rate).collect()
}

fn ask(grant_id: &str) -> AcquireLeasesRequest {
    AcquireLeasesRequest {
        replica_id: "r1".into(),
        grant_id: grant_id.into(),
        tenant_id: "acme".into(),
        ..AcquireLeasesRequest::default()
    }
}

async fn world(tenant: Tenant) -> World {
    let world = World::new().await;
    world.tenant(Tenant { tenant_id: "acme".into(), ..tenant }).await;
    world
}

#[tokio::test]
async fn a_request_gets_a_slice_of_every_rate_it_falls_under() {
    let scene = ScenePolicy { scene: "web".into(), rate_limit: requests(300), ..ScenePolicy::default() };
    let world = world(Tenant { rate_limit: requests(600), scenes: vec![scene], ..Tenant::default() }).await;
    let (key, _) = world.key(ApiKey { rate_limit: requests(60), ..ApiKey::default() }).await;
    let ask = AcquireLeasesRequest { scene: "web".into(), key_id: key.key_id.clone(), ..ask("g1") };
    let granted = rates(&world.acquire_as(ask).await.unwrap().leases);
    let told: Vec<_> = granted.iter().map(|slice| (slice.level(), slice.name.as_str())).collect();
    assert_eq!(told, [(Level::Tenant, ""), (Level::Scene, "web"), (Level::Key, key.key_id.as_str())]);
    assert!(granted.iter().all(|slice| slice.granted_requests > 0));
    let remaining = granted[0].remaining.unwrap().requests_per_minute;
    assert!(u64::from(remaining) + granted[0].granted_requests == 600, "{granted:?}");
}

#[tokio::test]
async fn a_rate_that_is_short_is_named_with_the_wait_and_no_money_is_taken() {
    let world = world(Tenant { rate_limit: requests(1), ..Tenant::default() }).await;
    world.budget(monthly("m", 10 * EUR)).await;
    world.acquire_as(AcquireLeasesRequest { needed_nano_eur: 1, ..ask("g1") }).await.unwrap();
    let leased = world.status("m").await.leased_nano_eur;
    let failure =
        world.acquire_as(AcquireLeasesRequest { needed_nano_eur: EUR, ..ask("g2") }).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::RateLimited);
    assert!(failure.retry_after.is_some_and(|wait| wait > Duration::ZERO));
    let quota = failure.quota.unwrap();
    assert_eq!(quota.violations[0].subject, "tenant/acme/rate/requests_per_minute");
    let left = [("limited_by", "requests_per_minute"), ("remaining_requests", "0")];
    let left = left.map(|(name, told)| (name.to_owned(), told.to_owned()));
    assert_eq!(quota.left, left.into(), "nothing is told of limits that are not set");
    assert!(failure.message.contains("1 requests a minute"), "{}", failure.message);
    assert_eq!(world.status("m").await.leased_nano_eur, leased);
}

#[tokio::test]
async fn money_that_is_short_costs_no_rate() {
    let world = world(Tenant { rate_limit: requests(2), ..Tenant::default() }).await;
    world.budget(monthly("m", EUR)).await;
    for number in 0..5 {
        let dear = AcquireLeasesRequest { needed_nano_eur: 2 * EUR, ..ask(&format!("dear{number}")) };
        assert_eq!(world.acquire_as(dear).await.unwrap_err().reason, ErrorReason::BudgetExhausted);
    }
    assert!(world.acquire_as(AcquireLeasesRequest { needed_nano_eur: 1, ..ask("g1") }).await.is_ok());
}

#[tokio::test]
async fn a_request_that_never_fits_a_rate_is_told_so() {
    let limit = Some(RateLimit { tokens_per_minute: 1_000, ..RateLimit::default() });
    let world = world(Tenant { rate_limit: limit, ..Tenant::default() }).await;
    let failure =
        world.acquire_as(AcquireLeasesRequest { needed_tokens: 1_001, ..ask("g1") }).await.unwrap_err();
    assert_eq!((failure.reason, failure.retry_after), (ErrorReason::RateLimited, None));
    assert!(failure.message.contains("1000 a minute"), "{}", failure.message);
}

#[tokio::test]
async fn places_of_requests_under_way_are_kept_while_they_are_renewed() {
    let limit = Some(RateLimit { concurrent_requests: 4, ..RateLimit::default() });
    let world = world(Tenant { rate_limit: limit, ..Tenant::default() }).await;
    let level = Level::Tenant as i32;
    let busy = AcquireLeasesRequest {
        rate_uses: vec![RateUse { level, under_way: 2, ..RateUse::default() }],
        ..ask("g1")
    };
    let granted = world.acquire_as(busy).await.unwrap().leases;
    assert!(rates(&granted)[0].granted_concurrent_requests >= 3);
    let lease_id = granted[0].lease_id.clone();
    world.clock.forward(Duration::from_secs(30));
    let request = v1::RenewLeasesRequest {
        replica_id: "r1".into(),
        lease_ids: vec![lease_id.clone()],
        under_way: [(lease_id.clone(), 3)].into(),
    };
    let renewed = told(world.service.renew_leases(Request::new(request)).await).leases;
    assert!(rates(&renewed)[0].granted_concurrent_requests >= 3, "{renewed:?}");
    world.clock.forward(Duration::from_secs(45));
    let other = AcquireLeasesRequest {
        replica_id: "r2".into(),
        rate_uses: vec![RateUse { level, under_way: 1, ..RateUse::default() }],
        ..ask("g2")
    };
    assert_eq!(world.acquire_as(other.clone()).await.unwrap_err().reason, ErrorReason::RateLimited);
    let end = LeaseReturn { lease_id, end: true, ..LeaseReturn::default() };
    let request =
        v1::ReturnLeasesRequest { replica_id: "r1".into(), return_id: "b1".into(), returns: vec![end] };
    told(world.service.return_leases(Request::new(request)).await);
    assert!(world.acquire_as(other).await.is_ok());
}

#[tokio::test]
async fn money_and_rates_are_renewed_together() {
    let world = world(Tenant { rate_limit: requests(60), ..Tenant::default() }).await;
    world.budget(monthly("m", EUR)).await;
    let granted = world.acquire_as(ask("g1")).await.unwrap();
    let lease_ids = granted.leases.iter().map(|lease| lease.lease_id.clone()).collect();
    let request = v1::RenewLeasesRequest { replica_id: "r1".into(), lease_ids, ..Default::default() };
    let renewed = told(world.service.renew_leases(Request::new(request)).await);
    assert_eq!((renewed.leases.len(), rates(&renewed.leases).len()), (2, 1));
    assert_eq!(slices(&granted).len(), 1);
}

#[derive(Debug)]
struct NobodyLimits;

#[async_trait::async_trait]
impl RateLimiter for NobodyLimits {
    async fn take(&self, _: &[RateAsk], _: u64) -> Result<Vec<RateGrant>, NoRate> {
        Err(NoRate::Away("nobody listens".into()))
    }

    async fn renew(&self, _: &RateAsk) -> Result<Option<RateGrant>, NoRate> {
        Err(NoRate::Away("nobody listens".into()))
    }

    async fn give_back(&self, _: &RateAsk, _: &RateGrant) -> Result<(), NoRate> {
        Err(NoRate::Away("nobody listens".into()))
    }
}

#[tokio::test]
async fn while_the_limiter_is_away_a_tenant_is_refused_or_left_to_each_replicas_own_part_as_it_wants() {
    for (failure_mode, goes_on) in [(FailureMode::Closed, false), (FailureMode::Open, true)] {
        let tenant =
            Tenant { rate_limit: requests(60), failure_mode: failure_mode.into(), ..Tenant::default() };
        let world = world(tenant).await;
        world.budget(monthly("m", 10 * EUR)).await;
        let dependencies = Dependencies { rates: Arc::new(NobodyLimits), ..world.dependencies.clone() };
        let service = BudgetKeeping::new(dependencies);
        let answer = service.acquire_leases(Request::new(ask("g1"))).await;
        if !goes_on {
            assert_eq!(answer.unwrap_err().code(), Code::Unavailable);
            continue;
        }
        let leases = answer.unwrap().into_inner().leases;
        let rate = &rates(&leases)[0];
        assert!(rate.own_part && rate.granted_requests == 0 && rate.limit == requests(60), "{rate:?}");
        assert_eq!(leases.len(), 2, "money is granted as ever");
    }
}
