//! What admission adds to a request while leases are warm: `cargo bench -p signalbox-admission`. The aim is less than
//! 10 µs for standing, reservation and settlement together.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run shows where")]

#[path = "../tests/replica/fake.rs"]
#[expect(dead_code, reason = "a benchmark needs little of it")]
mod fake;

use fake::{EUR, FakeBudgets};
use signalbox_admission::{Replica, Settings};
use signalbox_api::v1::{Tenant, budget_service_server::BudgetServiceServer};
use signalbox_kit::{SystemClock, hop};
use signalbox_ports::{Admission, Payer, Worst};
use signalbox_types::Money;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 100_000;

fn main() {
    for shards in [1, 2] {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(shards).enable_all().build().unwrap();
        let (fake, replica) = runtime.block_on(replica());
        let before = fake.all_calls();
        let tasks: Vec<_> = (0..shards).map(|_| runtime.spawn(measured(replica.clone()))).collect();
        let mut nanos: Vec<u128> =
            tasks.into_iter().flat_map(|task| runtime.block_on(task).unwrap()).collect();
        nanos.sort_unstable();
        let at = |share: usize| nanos[nanos.len() * share / 1_000];
        let asked = fake.all_calls() - before;
        println!(
            "{shards} at once: p50 {:>5} ns, p99 {:>6} ns, {asked} calls to the service",
            at(500),
            at(990)
        );
    }
}

async fn replica() -> (FakeBudgets, Replica) {
    let fake = FakeBudgets::new();
    fake.with_budget(Tenant { tenant_id: "acme".into(), ..Tenant::default() }, 1_000 * EUR);
    fake.with_budget(Tenant { tenant_id: "acme".into(), ..Tenant::default() }, 1_000 * EUR);
    fake.world().budgets[1].budget_id = "daily".into();
    let hop = hop::local(BudgetServiceServer::new(fake.clone()));
    let replica = Replica::new(hop, "bench", Arc::new(SystemClock), Settings::default());
    let running = replica.clone();
    tokio::spawn(async move { running.run(CancellationToken::new()).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    replica.standing(&payer()).await.unwrap();
    (fake, replica)
}

fn payer() -> Payer {
    Payer { tenant_id: "acme".into(), key_id: "k7f2".into(), scene: "web".into() }
}

async fn measured(replica: Replica) -> Vec<u128> {
    let worst = Worst { cost: Money::from_nano_eur(EUR / 1_000), tokens: 2_000 };
    let payer = payer();
    replica.reserve(&payer, worst).await.unwrap().settle(Some(Money::ZERO), 10);
    let mut nanos = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        if round % 100 == 0 {
            // Others have work to do, too.
            tokio::task::yield_now().await;
        }
        let start = Instant::now();
        let standing = replica.standing(&payer).await.unwrap();
        let reservation = replica.reserve(&payer, worst).await.unwrap();
        reservation.settle(Some(Money::ZERO), 700);
        drop(standing);
        nanos.push(start.elapsed().as_nanos());
    }
    nanos
}
