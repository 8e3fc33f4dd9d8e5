//! What replicas hear of.

use super::world::{EUR, World, monthly, slices, told};
use crate::{Keeper, feed::Reader};
use futures_util::{FutureExt, StreamExt, stream::BoxStream};
use signalbox_api::v1::{
    self, ApiKey, Budget, Tenant, WatchAdmissionRequest, WatchAdmissionResponse,
    budget::{Action, Threshold},
    budget_service_server::BudgetService,
    watch_admission_response::Change,
};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status};

struct Ears(BoxStream<'static, Result<WatchAdmissionResponse, Status>>);

impl Ears {
    async fn of(world: &World, replica_id: &str) -> Self {
        let request = WatchAdmissionRequest { replica_id: replica_id.to_owned() };
        Self(told(world.service.watch_admission(Request::new(request)).await))
    }

    /// All that has been said by now, without heartbeats.
    fn heard(&mut self) -> Vec<Change> {
        let said = std::iter::from_fn(|| self.0.next().now_or_never().flatten());
        let changes = said.map(|said| said.unwrap().change.unwrap());
        changes.filter(|change| !matches!(change, Change::Heartbeat(_))).collect()
    }
}

/// A reader of changes from now on.
async fn reader(world: &World) -> Reader {
    let mut reader = Reader::new(world.dependencies.clone());
    reader.look().await;
    reader
}

#[tokio::test]
async fn every_replica_hears_of_tenants_and_keys() {
    let world = World::with_acme().await;
    let mut reader = reader(&world).await;
    let (mut one, mut other) = (Ears::of(&world, "r1").await, Ears::of(&world, "r2").await);
    let (key, _) = world.key(ApiKey::default()).await;
    let tenant = Tenant { tenant_id: "acme".into(), display_name: "ACME".into(), ..Tenant::default() };
    let request = v1::UpdateTenantRequest { tenant: Some(tenant), update_mask: None };
    let tenant = told(world.service.update_tenant(Request::new(request)).await).tenant.unwrap();
    reader.look().await;
    let expected = [Change::ApiKey(key), Change::Tenant(tenant)];
    assert_eq!(one.heard(), expected);
    assert_eq!(other.heard(), expected);
}

#[tokio::test]
async fn a_heartbeat_says_whether_callers_must_have_a_key() {
    let world = World::with_acme().await;
    let mut reader = reader(&world).await;
    let required = async |world: &World| {
        let mut ears = Ears::of(world, "r1").await;
        match ears.0.next().await.unwrap().unwrap().change.unwrap() {
            Change::Heartbeat(heartbeat) => heartbeat.authentication_required,
            other => panic!("{other:?}"),
        }
    };
    assert!(!required(&world).await);
    world.key(ApiKey::default()).await;
    reader.look().await;
    assert!(required(&world).await);
}

#[tokio::test]
async fn a_heartbeat_says_how_many_replicas_share_a_rate() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    for replica in ["r1", "r2", "r3"] {
        world.acquire(replica, replica, EUR).await.unwrap();
    }
    reader(&world).await;
    Keeper::new(world.dependencies.clone()).keep().await;
    let mut ears = Ears::of(&world, "r1").await;
    let first = ears.0.next().await.unwrap().unwrap().change.unwrap();
    assert!(matches!(first, Change::Heartbeat(heartbeat) if heartbeat.live_replicas == 3), "{first:?}");
}

#[tokio::test]
async fn a_budget_that_is_short_is_called_back_from_those_who_hold_it() {
    let world = World::with_acme().await;
    world.budget(monthly("m", EUR)).await;
    let held = slices(&world.acquire("r1", "g1", EUR).await.unwrap());
    let mut reader = reader(&world).await;
    let (mut holder, mut other) = (Ears::of(&world, "r1").await, Ears::of(&world, "r2").await);
    for number in 0..20 {
        assert!(world.acquire("r2", &format!("g{number}x"), EUR / 2).await.is_err());
    }
    reader.look().await;
    let heard = holder.heard();
    let [Change::Recall(recall)] = &heard[..] else { panic!("called back once: {heard:?}") };
    assert_eq!((&recall.lease_id, recall.keep_nano_eur), (&held[0].0, 0));
    assert_eq!(other.heard(), []);
    let part = v1::LeaseReturn { lease_id: held[0].0.clone(), amount_nano_eur: EUR, ..Default::default() };
    let request =
        v1::ReturnLeasesRequest { replica_id: "r1".into(), return_id: "b1".into(), returns: vec![part] };
    told(world.service.return_leases(Request::new(request)).await);
    assert!(world.acquire("r2", "again", EUR / 2).await.is_ok());
}

#[tokio::test]
async fn nobody_is_called_back_for_what_is_spent() {
    let world = World::with_acme().await;
    world.budget(monthly("m", EUR)).await;
    let held = slices(&world.acquire("r1", "g1", EUR).await.unwrap());
    world.settle("q1", &held[0], EUR).await;
    let mut reader = reader(&world).await;
    let mut holder = Ears::of(&world, "r1").await;
    assert!(world.acquire("r2", "g2", 1).await.is_err());
    reader.look().await;
    assert_eq!(holder.heard(), []);
}

#[tokio::test]
async fn a_threshold_that_is_reached_is_told_to_those_who_hold_the_budget() {
    let world = World::with_acme().await;
    let free_only = Threshold { used_share: 0.5, action: Action::FreeOnly as i32, ..Threshold::default() };
    world.budget(Budget { thresholds: vec![free_only], ..monthly("m", 10 * EUR) }).await;
    let held = slices(&world.acquire("r1", "g1", 5 * EUR).await.unwrap());
    let mut keeper = Keeper::new(world.dependencies.clone());
    let mut reader = reader(&world).await;
    let (mut holder, mut other) = (Ears::of(&world, "r1").await, Ears::of(&world, "r2").await);
    keeper.keep().await;
    reader.look().await;
    assert_eq!(holder.heard(), [], "nothing is new");
    world.settle("q1", &held[0], 5 * EUR).await;
    for _ in 0..2 {
        keeper.keep().await;
        reader.look().await;
    }
    let heard = holder.heard();
    let [Change::Budget(budget)] = &heard[..] else { panic!("told once: {heard:?}") };
    assert_eq!(budget.status.as_ref().unwrap().action(), Action::FreeOnly);
    assert_eq!(other.heard(), []);
}

#[tokio::test]
async fn a_new_budget_is_told_as_its_tenant_to_those_who_thought_there_was_no_limit() {
    let world = World::with_acme().await;
    let mut reader = reader(&world).await;
    let mut ears = Ears::of(&world, "r1").await;
    world.budget(monthly("m", EUR)).await;
    reader.look().await;
    let heard = ears.heard();
    assert!(matches!(&heard[..], [Change::Tenant(tenant)] if tenant.tenant_id == "acme"), "{heard:?}");
}

#[tokio::test]
async fn another_process_over_the_same_store_tells_the_same() {
    let world = World::with_acme().await;
    let elsewhere = crate::Dependencies { feed: crate::Feed::default(), ..world.dependencies.clone() };
    let mut reader = Reader::new(elsewhere.clone());
    reader.look().await;
    let mut heard = std::pin::pin!(elsewhere.feed.follow("r9").unwrap());
    world.key(ApiKey::default()).await;
    reader.look().await;
    let said: Vec<_> = std::iter::from_fn(|| heard.next().now_or_never().flatten()).collect();
    assert!(said.iter().any(|said| matches!(said.as_ref().unwrap().change, Some(Change::ApiKey(_)))));
}

#[tokio::test]
async fn when_a_key_was_used_is_written_down() {
    let world = World::with_acme().await;
    let (key, text) = world.key(ApiKey::default()).await;
    world.resolve(&text).await.unwrap();
    Keeper::new(world.dependencies.clone()).keep().await;
    let (stored, _) = world.dependencies.tenants.key(&key.key_id).await.unwrap().unwrap();
    assert!(stored.last_use_time.is_some());
}

#[tokio::test]
async fn a_keeper_that_stops_sends_its_watchers_home() {
    let world = World::with_acme().await;
    reader(&world).await;
    let mut ears = Ears::of(&world, "r1").await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(Keeper::new(world.dependencies.clone()).run(stop.clone()));
    stop.cancel();
    running.await.unwrap();
    while ears.0.next().await.is_some() {}
}
