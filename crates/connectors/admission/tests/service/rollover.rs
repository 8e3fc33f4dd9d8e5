//! The tenant's midnight, while everybody spends.

use crate::{
    world::{CENT, EUR, World, payer},
    worst,
};
use signalbox_admission::Replica;
use signalbox_api::v1::{self, UsageCharge, budget::Period};
use signalbox_kit::Clock;
use signalbox_ports::Admission as _;
use signalbox_types::Money;
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{task::JoinSet, time::sleep};

const REPLICAS: usize = 3;
const CLIENTS: usize = 4;
/// Either side of midnight.
const SECONDS: Duration = Duration::from_secs(2);
/// What midnight is known by: a request that asks in this time may be admitted on either side.
const BREATH: Duration = Duration::from_millis(50);

/// A request that was served: when it asked and got its answer, and who pays.
struct Served {
    asked: SystemTime,
    answered: SystemTime,
    charge: UsageCharge,
}

/// Spends as fast as it may until the time has come; a limit is reached on either side of midnight.
async fn spend(replica: Replica, clock: Arc<dyn Clock>, until: SystemTime) -> Vec<Served> {
    let mut served = Vec::new();
    while clock.now() < until {
        let asked = clock.now();
        match replica.reserve(&payer(), worst(CENT)).await {
            Ok(reservation) => {
                let charge = reservation.charges()[0].clone();
                served.push(Served { asked, answered: clock.now(), charge });
                reservation.settle(Some(Money::from_nano_eur(CENT)), 10);
            }
            Err(_) => sleep(BREATH).await,
        }
    }
    served
}

/// Lets a budget roll over at a midnight that comes two seconds after `start`.
async fn rolls_over(start: &str, period: Period, before: &str, after: &str) {
    let world = World::start_at(start).await;
    world.acme_in("Europe/Rome", period, EUR).await;
    let start: SystemTime = start.parse::<prost_types::Timestamp>().unwrap().try_into().unwrap();
    let midnight = start + SECONDS;
    let mut clients = JoinSet::new();
    for number in 0..REPLICAS {
        let replica = world.replica(&format!("r{number}"));
        for _ in 0..CLIENTS {
            clients.spawn(spend(replica.clone(), world.clock(), midnight + SECONDS));
        }
    }
    let served: Vec<Served> = clients.join_all().await.into_iter().flatten().collect();

    for Served { asked, answered, charge } in &served {
        assert!(*answered >= midnight || charge.period_id == before, "{charge:?} {answered:?}");
        assert!(*asked < midnight || charge.period_id == after, "{charge:?} {asked:?}");
    }
    for (number, Served { charge, .. }) in served.iter().enumerate() {
        world.settle(&number.to_string(), std::slice::from_ref(charge), CENT).await;
    }
    for period in [before, after] {
        let paid = served.iter().filter(|served| served.charge.period_id == period).count();
        assert_eq!(paid, 100, "{period} has its limit, all of it and no more");
        assert_eq!(settled(&world, period).await, EUR);
    }
    assert_eq!(world.status().await.period_id, after);
}

/// What the ledger has settled in a period.
async fn settled(world: &World, period_id: &str) -> i64 {
    let request = v1::ListLedgerEntriesRequest {
        tenant_id: "acme".into(),
        period_id: period_id.into(),
        kinds: vec![v1::ledger_entry::Kind::Settle.into()],
        page_size: 1000,
        ..Default::default()
    };
    let entries = world.client().list_ledger_entries(request).await.unwrap().into_inner().entries;
    entries.iter().map(|entry| entry.amount_nano_eur).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_month_rolls_over_at_the_tenants_midnight_while_everybody_spends() {
    rolls_over("2026-11-30T22:59:58Z", Period::Monthly, "2026-11", "2026-12").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn days_roll_over_exactly_also_when_the_clocks_are_put_forward_or_back() {
    tokio::join!(
        // The 28th has 23 hours.
        rolls_over("2027-03-27T22:59:58Z", Period::Daily, "2027-03-27", "2027-03-28"),
        rolls_over("2027-03-28T21:59:58Z", Period::Daily, "2027-03-28", "2027-03-29"),
        // The 31st has 25, and ends a month in which midnight was at 22:00 UTC.
        rolls_over("2027-10-31T22:59:58Z", Period::Monthly, "2027-10", "2027-11"),
    );
}
