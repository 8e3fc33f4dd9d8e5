//! Replicas that die.

use super::world::{EUR, World, monthly, slices, told};
use crate::Keeper;
use signalbox_api::v1::{self, budget_service_server::BudgetService};
use std::time::Duration;
use tonic::Request;

async fn sweep(world: &World) {
    Keeper::new(world.dependencies.clone()).keep().await;
}

async fn end(world: &World, replica_id: &str) -> i64 {
    let request = v1::EndReplicaRequest { replica_id: replica_id.to_owned() };
    told(world.service.end_replica(Request::new(request)).await).released_nano_eur
}

#[tokio::test]
async fn what_a_lost_replica_held_stays_held_until_it_is_known_what_it_spent() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = slices(&world.acquire("r1", "g1", 4 * EUR).await.unwrap());
    world.clock.forward(Duration::from_secs(64));
    sweep(&world).await;
    assert_eq!(world.status("m").await.leased_nano_eur, 4 * EUR, "clocks may differ a little");
    world.clock.forward(Duration::from_secs(2));
    sweep(&world).await;
    let status = world.status("m").await;
    assert_eq!((status.leased_nano_eur, status.reserved_nano_eur), (0, 4 * EUR));
    assert!(world.acquire("r2", "g2", 7 * EUR).await.is_err(), "it may all be spent");
    world.settle("q1", &granted[0], EUR).await;
    assert_eq!(world.status("m").await.reserved_nano_eur, 3 * EUR);
    assert_eq!(end(&world, "r1").await, 3 * EUR);
    let status = world.status("m").await;
    assert_eq!((status.settled_nano_eur, status.free_nano_eur), (EUR, 9 * EUR));
    assert_eq!(end(&world, "r1").await, 0, "once is enough");
}

#[tokio::test]
async fn what_nobody_tells_of_is_written_off_and_a_late_settlement_takes_its_place() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = slices(&world.acquire("r1", "g1", 4 * EUR).await.unwrap());
    world.clock.forward(Duration::from_secs(66));
    sweep(&world).await;
    world.clock.forward(Duration::from_secs(3_600));
    sweep(&world).await;
    let status = world.status("m").await;
    assert_eq!((status.settled_nano_eur, status.reserved_nano_eur), (4 * EUR, 0));
    world.settle("q1", &granted[0], EUR).await;
    assert_eq!(world.status("m").await.settled_nano_eur, 4 * EUR, "it was booked already, by estimate");
}

#[tokio::test]
async fn any_number_of_keepers_do_it_once() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    world.acquire("r1", "g1", 4 * EUR).await.unwrap();
    world.clock.forward(Duration::from_secs(66));
    futures_util::future::join_all((0..4).map(|_| sweep(&world))).await;
    assert_eq!(world.status("m").await.reserved_nano_eur, 4 * EUR);
}
