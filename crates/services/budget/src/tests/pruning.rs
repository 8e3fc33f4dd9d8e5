//! Movements that are older than they are kept.

use super::world::{EUR, World, at, fields, monthly, settlement, slices, told};
use crate::{BudgetKeeping, Dependencies, Keeper, Options};
use signalbox_api::v1::{
    Budget, EndReplicaRequest, LedgerEntry, ListLedgerEntriesRequest, ReconcileLedgerRequest, budget::Period,
    budget_service_server::BudgetService, ledger_entry::Kind,
};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::Request;

const DAY: Duration = Duration::from_hours(24);
/// More than are deleted at a time.
const REQUESTS: i64 = 1_100;

impl World {
    /// The same where movements are kept for 62 days.
    fn forgetful(&self) -> Dependencies {
        let options = Options { retention: Some(62 * DAY), ..self.dependencies.options.clone() };
        Dependencies { options, ..self.dependencies.clone() }
    }

    /// The newest entries but those of limits.
    async fn moved(&self) -> Vec<LedgerEntry> {
        let request = ListLedgerEntriesRequest { tenant_id: "acme".into(), ..Default::default() };
        let mut entries = told(self.service.list_ledger_entries(Request::new(request)).await).entries;
        entries.retain(|entry| entry.kind() != Kind::Limit);
        entries
    }
}

#[tokio::test]
async fn a_keeper_deletes_what_is_older_than_it_is_kept_and_no_budget_shows_it() {
    let world = World::with_acme().await;
    world.budget(Budget { period: Period::Prepaid as i32, ..monthly("m", 10 * EUR) }).await;
    let granted = slices(&world.acquire("r1", "g1", EUR).await.unwrap());
    let old = |number: i64| settlement(&format!("old {number}"), &granted[0], 1_000);
    world.settle_all((0..REQUESTS).map(old).collect()).await;
    let end = EndReplicaRequest { replica_id: "r1".into() };
    told(world.service.end_replica(Request::new(end)).await);
    world.clock.forward(62 * DAY + Duration::from_secs(1));
    world.settle("young", &granted[0], 7).await;
    let status = world.status("m").await;
    assert_eq!(status.settled_nano_eur, REQUESTS * 1_000 + 7);

    let stop = CancellationToken::new();
    let keeper = tokio::spawn(Keeper::new(world.forgetful()).run(stop.clone()));
    let only_young = async { while world.moved().await.len() > 1 {} };
    timeout(Duration::from_secs(30), only_young).await.unwrap();
    stop.cancel();
    keeper.await.unwrap();
    assert_eq!(world.moved().await[0].request_id, "young");
    assert_eq!(world.status("m").await, status);
}

#[tokio::test]
async fn while_nobody_says_how_long_movements_are_kept_they_stay() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = slices(&world.acquire("r1", "g1", EUR).await.unwrap());
    world.settle("q1", &granted[0], 7).await;
    world.clock.forward(40_000 * DAY);
    let stop = CancellationToken::new();
    let keeper = tokio::spawn(Keeper::new(world.dependencies.clone()).run(stop.clone()));
    let swept = async { while world.moved().await.iter().all(|entry| entry.kind() != Kind::Orphan) {} };
    timeout(Duration::from_secs(30), swept).await.unwrap();
    stop.cancel();
    keeper.await.unwrap();
    let kinds: Vec<_> = world.moved().await.iter().rev().map(LedgerEntry::kind).take(2).collect();
    assert_eq!(kinds, [Kind::Grant, Kind::Settle]);
}

#[tokio::test]
async fn a_time_of_which_the_ledger_knows_nothing_any_more_is_not_reconciled() {
    let world = World::with_acme().await;
    let service = Arc::new(BudgetKeeping::new(world.forgetful()));
    let reconcile = async |start: &str| {
        let start_time = Some(at(start).into());
        let request = ReconcileLedgerRequest { start_time, ..Default::default() };
        service.reconcile_ledger(Request::new(request)).await
    };
    assert_eq!(fields(reconcile("2026-09-29T11:00:00Z").await), ["start_time"]);
    told(reconcile("2026-09-29T13:00:00Z").await);
}
