//! Many at once.

use super::{
    Fresh,
    support::{LIMIT, World, ask, from_lease, opening, settlement, slice},
};
use crate::random::Random;
use futures_util::future::join_all;
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_kit::Clock;
use signalbox_ports::ledger::{Granted, Ledger};
use std::sync::Arc;

const TASKS: u64 = 64;
const REPLICAS: u64 = 8;

/// Sixty-four tasks of eight replicas, each with its own connections, take leases of two accounts, spend a part, give
/// back the rest, and go on until nothing is left. Calls are made twice now and then.
pub async fn a_crowd_never_spends_beyond_the_limit(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let replicas: Vec<Arc<dyn Ledger>> = (0..REPLICAS).map(|_| (world.another)()).collect();
    let tasks = (0..TASKS).map(|task| {
        let replica = task % REPLICAS;
        let spender = Spender { ledger: replicas[replica as usize].clone(), replica, task };
        tokio::spawn(spender.spend())
    });
    let mut spent = 0;
    for task in join_all(tasks).await {
        spent += task.unwrap();
    }
    let (daily, monthly) = (world.account("daily").await, world.account("monthly").await);
    assert_eq!((daily.settled, daily.reserved, daily.leased), (spent, 0, 0));
    assert_eq!((monthly.settled, monthly.reserved, monthly.leased), (spent, 0, 0));
    assert!((LIMIT - MOST..=LIMIT).contains(&spent), "{spent}");
    let entries = world.entries().await;
    let settled = entries.iter().filter(|entry| entry.kind() == Kind::Settle);
    assert_eq!(settled.map(|entry| entry.amount_nano_eur).sum::<i64>(), 2 * spent);
}

/// The most that a task takes at a time.
const MOST: i64 = 300;

struct Spender {
    ledger: Arc<dyn Ledger>,
    replica: u64,
    task: u64,
}

impl Spender {
    /// Spends until it is short of even the least; how much that was.
    async fn spend(self) -> i64 {
        let mut random = Random::new(5, self.task);
        let (mut spent, mut most) = (0, MOST);
        // A lease belongs to a replica, and tasks of one share it; each gives back only what it took.
        let name = format!("replica-{}", self.replica);
        while most > 0 {
            let take = 1 + random.below(most.cast_unsigned()).cast_signed();
            let id = format!("{}-{spent}-{most}-{take}", self.task);
            let wish = ask(&name, &id, &[slice("daily", take, take), slice("monthly", take, take)]);
            let mut granted = self.ledger.grant(&wish).await.unwrap();
            if random.percent(20) {
                granted = self.ledger.grant(&wish).await.unwrap();
            }
            let Granted::All(leases) = granted else {
                most = take - 1;
                continue;
            };
            let cost = take - random.below(take.cast_unsigned() / 2 + 1).cast_signed();
            let mut settlement = settlement(&id, from_lease(&leases[0].0), cost);
            settlement.charges.push(from_lease(&leases[1].0));
            for _ in 0..=random.below(2) {
                assert_eq!(self.ledger.settle(std::slice::from_ref(&settlement)).await.unwrap(), []);
            }
            let rest: Vec<_> =
                leases.iter().map(|(lease, _)| (lease.lease_id.clone(), take - cost)).collect();
            for _ in 0..=random.below(2) {
                self.ledger.give_back(&name, &id, &rest).await.unwrap();
            }
            spent += cost;
        }
        spent
    }
}

/// A tenant that nobody has seen before.
pub async fn a_thousand_first_calls_stay_within_the_limit(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let replicas: Vec<Arc<dyn Ledger>> = (0..4).map(|_| (world.another)()).collect();
    let calls = (0..1000_usize).map(|call| {
        let ledger = replicas[call % 4].clone();
        tokio::spawn(async move {
            let wish = ask(&format!("replica-{call}"), &format!("g{call}"), &[slice("daily", 30, 1000)]);
            match ledger.grant(&wish).await.unwrap() {
                Granted::All(leases) => leases[0].0.granted,
                Granted::Short { .. } => 0,
            }
        })
    });
    let mut granted = 0;
    for call in join_all(calls).await {
        granted += call.unwrap();
    }
    assert!((LIMIT - 30..=LIMIT).contains(&granted), "{granted}");
    assert_eq!(world.stands("daily").await, (0, 0, granted));
}

/// Whichever of them is first.
pub async fn settlements_sent_by_many_at_once_count_once(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 5000).await;
    let mut all: Vec<_> = (0..60).map(|id| settlement(&format!("s{id}"), from_lease(&lease), id)).collect();
    let senders: Vec<Arc<dyn Ledger>> = (0..6).map(|_| (world.another)()).collect();
    let mut sent = Vec::new();
    for (number, ledger) in senders.iter().enumerate() {
        all.rotate_left(7 * number);
        for batch in all.chunks(25) {
            let (ledger, batch) = (ledger.clone(), batch.to_vec());
            sent.push(tokio::spawn(async move { ledger.settle(&batch).await.unwrap() }));
        }
    }
    for refusals in join_all(sent).await {
        assert_eq!(refusals.unwrap(), []);
    }
    let expected = (0..60).sum::<i64>();
    assert_eq!(world.stands("daily").await, (expected, 0, 5000 - expected));
    assert_eq!(world.movements().await.len(), 61);
    assert_eq!(world.ledger.accounts(&[opening("daily")]).await.unwrap()[0].limit, LIMIT);
}
