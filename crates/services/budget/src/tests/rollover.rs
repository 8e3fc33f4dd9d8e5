//! Days and months begin at the tenant's midnight.

use super::world::{EUR, World, monthly, slices, told};
use prost_types::FieldMask;
use signalbox_api::v1::{self, Budget, Tenant, budget::Period, budget_service_server::BudgetService};
use tonic::Request;

async fn rome() -> World {
    let world = World::new().await;
    world
        .tenant(Tenant { tenant_id: "acme".into(), time_zone: "Europe/Rome".into(), ..Tenant::default() })
        .await;
    world
}

async fn move_to(world: &World, time_zone: &str) {
    let tenant = Tenant { tenant_id: "acme".into(), time_zone: time_zone.to_owned(), ..Tenant::default() };
    let update_mask = Some(FieldMask { paths: vec!["time_zone".into()] });
    let request = v1::UpdateTenantRequest { tenant: Some(tenant), update_mask };
    told(world.service.update_tenant(Request::new(request)).await);
}

#[tokio::test]
async fn a_month_ends_at_the_tenants_midnight_and_what_was_admitted_before_is_settled_there() {
    let world = rome().await;
    world.clock.set("2026-11-30T22:59:59Z");
    world.budget(monthly("m", EUR)).await;
    let last = world.acquire("r1", "g1", EUR).await.unwrap();
    assert_eq!(last.leases[0].ttl.unwrap().seconds, 1, "no lease outlives its period");
    assert!(world.acquire("r2", "g2", 1).await.is_err());
    world.clock.set("2026-11-30T23:00:00Z");
    let first = slices(&world.acquire("r1", "g3", EUR).await.unwrap());
    assert_eq!(first[0].1.period_id, "2026-12");
    assert_ne!(first[0].0, last.leases[0].lease_id);
    world.settle("late", &slices(&last)[0], EUR).await;
    let status = world.status("m").await;
    assert_eq!((status.period_id.as_str(), status.settled_nano_eur), ("2026-12", 0));
    let request = v1::ListLedgerEntriesRequest {
        tenant_id: "acme".into(),
        period_id: "2026-11".into(),
        request_id: "late".into(),
        ..Default::default()
    };
    assert_eq!(told(world.service.list_ledger_entries(Request::new(request)).await).entries.len(), 1);
}

#[tokio::test]
async fn a_lease_of_the_month_before_lives_on_but_pays_for_nothing_new() {
    let world = rome().await;
    world.clock.set("2026-11-30T22:59:40Z");
    world.budget(monthly("m", EUR)).await;
    let last = world.acquire("r1", "g1", EUR).await.unwrap();
    world.clock.set("2026-11-30T23:00:10Z");
    let lease_ids = vec![last.leases[0].lease_id.clone()];
    let request = v1::RenewLeasesRequest { replica_id: "r1".into(), lease_ids, ..Default::default() };
    let renewed = told(world.service.renew_leases(Request::new(request)).await).leases;
    assert_eq!(renewed[0].ttl.unwrap(), prost_types::Duration::default());
    assert_eq!(
        slices(&v1::AcquireLeasesResponse { leases: renewed, ..Default::default() })[0].1.period_id,
        "2026-11"
    );
}

#[tokio::test]
async fn days_are_as_long_as_the_clocks_make_them() {
    let world = rome().await;
    world.budget(Budget { period: Period::Daily as i32, ..monthly("d", EUR) }).await;
    let hours = async |time: &str| {
        world.clock.set(time);
        let status = world.status("d").await;
        let length = status.period_end_time.unwrap().seconds - status.period_start_time.unwrap().seconds;
        (status.period_id, length / 3_600)
    };
    assert_eq!(hours("2027-03-28T12:00:00Z").await, ("2027-03-28".to_owned(), 23));
    assert_eq!(hours("2027-10-31T12:00:00Z").await, ("2027-10-31".to_owned(), 25));
    assert_eq!(hours("2027-10-31T22:59:59Z").await.0, "2027-10-31", "an hour later than in summer");
    assert_eq!(hours("2027-10-31T23:00:00Z").await.0, "2027-11-01");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollover_under_load_grants_each_month_its_limit() {
    let world = rome().await;
    world.clock.set("2026-11-30T22:59:59Z");
    world.budget(monthly("m", EUR)).await;
    let ask = |number: usize| v1::AcquireLeasesRequest {
        replica_id: format!("r{}", number % 8),
        grant_id: format!("g{number}"),
        tenant_id: "acme".into(),
        needed_nano_eur: EUR / 50,
        ..Default::default()
    };
    let running: Vec<_> = (0..200).map(|number| tokio::spawn(world.acquire_as(ask(number)))).collect();
    world.clock.set("2026-11-30T23:00:00Z");
    let later: Vec<_> = (200..400).map(|number| tokio::spawn(world.acquire_as(ask(number)))).collect();
    let mut granted = std::collections::BTreeMap::<(String, String), i64>::new();
    for ask in running.into_iter().chain(later) {
        for (lease_id, slice) in ask.await.unwrap().iter().flat_map(slices) {
            let of = granted.entry((slice.period_id, lease_id)).or_default();
            *of = slice.granted_nano_eur.max(*of);
        }
    }
    for month in ["2026-11", "2026-12"] {
        let sum: i64 = granted.iter().filter(|((period, _), _)| period == month).map(|(_, sum)| sum).sum();
        assert!(sum <= EUR, "{month}: {sum}");
    }
    assert_eq!(world.status("m").await.period_id, "2026-12");
}

#[tokio::test]
async fn a_tenant_that_moves_has_its_new_midnight_from_the_next_period_on() {
    let world = rome().await;
    world.clock.set("2026-11-15T12:00:00Z");
    world.budget(monthly("m", EUR)).await;
    let end = async || world.status("m").await.period_end_time.unwrap().to_string();
    move_to(&world, "America/New_York").await;
    assert_eq!(end().await, "2026-11-30T23:00:00Z", "this month ends as it was to");
    world.clock.set("2026-12-15T12:00:00Z");
    assert_eq!(end().await, "2027-01-01T05:00:00Z");
}
