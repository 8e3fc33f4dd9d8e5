//! Keeps leases alive, and gives back what is not needed.

use crate::{
    calls::Refused,
    desk::{Asked, Desk, State},
    replica::Inner,
};
use signalbox_api::v1::{LeaseRecall, RenewLeasesRequest};
use signalbox_types::Money;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// How often leases are looked at.
const EVERY: Duration = Duration::from_secs(1);
/// A slice of money that nobody used for so long goes back.
const MONEY_UNUSED: Duration = Duration::from_secs(60);
/// A slice of a rate that nobody used for so long goes back.
const RATE_UNUSED: Duration = Duration::from_secs(10);
/// Most leases that one call renews.
const MOST: usize = 500;
/// How long a process that stops takes to give back what is idle.
const GOODBYE: Duration = Duration::from_secs(2);

/// Does so, for ever.
pub(crate) async fn keep(inner: &Arc<Inner>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                renew(inner).await;
                tidy(inner);
            }
            () = inner.outbox.filled.notified() => {}
        }
        inner.send_back().await;
    }
}

/// Gives back all that is idle, before the process ends.
pub(crate) async fn give_all_back(inner: &Arc<Inner>) {
    let now = Instant::now();
    for desk in inner.desks.all() {
        let mut state = desk.lock();
        let (money, rates) = (state.wallet.close(now.into_std()), state.rates.tidy(Duration::ZERO, now));
        inner.outbox.put(&inner.replica_id, money, rates);
    }
    let _late = timeout(GOODBYE, inner.send_back()).await;
}

/// Others need the money of a lease.
pub(crate) fn recalled(inner: &Inner, recall: &LeaseRecall) {
    let keep = Money::from_nano_eur(recall.keep_nano_eur);
    let back = inner.desks.all().iter().find_map(|desk| desk.lock().wallet.recall(&recall.lease_id, keep));
    inner.outbox.put(&inner.replica_id, back.into_iter().collect(), Vec::new());
}

fn tidy(inner: &Inner) {
    // What cannot be sent may as well be spent.
    if inner.calls.is_away() {
        return;
    }
    let now = Instant::now();
    for desk in inner.desks.all() {
        let mut state = desk.lock();
        let (money, rates) =
            (state.wallet.tidy(MONEY_UNUSED, now.into_std()), state.rates.tidy(RATE_UNUSED, now));
        inner.outbox.put(&inner.replica_id, money, rates);
    }
    inner.desks.forget_idle(now);
}

/// Renews the leases whose time it is.
async fn renew(inner: &Arc<Inner>) {
    let now = Instant::now();
    let due: Vec<(Arc<Desk>, Vec<String>)> = inner
        .desks
        .all()
        .into_iter()
        .filter_map(|desk| {
            let ids = desk.lock().to_renew(now);
            (!ids.is_empty()).then_some((desk, ids))
        })
        .collect();
    let mut batch = Vec::new();
    let mut size = 0;
    for (desk, ids) in due {
        size += ids.len();
        batch.push((desk, ids));
        if size >= MOST {
            // One that fails is tried again with the next look, and so are those behind it.
            if renew_batch(inner, std::mem::take(&mut batch)).await.is_err() {
                return;
            }
            size = 0;
        }
    }
    let _next_time = renew_batch(inner, batch).await;
}

/// Renews leases of some desks, and hears how their budgets stand.
pub(crate) async fn renew_batch(inner: &Inner, batch: Vec<(Arc<Desk>, Vec<String>)>) -> Result<(), Refused> {
    if batch.iter().all(|(_, ids)| ids.is_empty()) {
        return Ok(());
    }
    let (wall, replicas) = (inner.clock.now(), inner.heard.replicas());
    let asked: Vec<Asked> = batch.iter().map(|(desk, _)| desk.lock().asked(wall, replicas)).collect();
    let request = RenewLeasesRequest {
        replica_id: inner.replica_id.clone(),
        lease_ids: batch.iter().flat_map(|(_, ids)| ids.iter().cloned()).collect(),
        under_way: batch.iter().flat_map(|(desk, ids)| desk.lock().rates.under_way(ids)).collect(),
    };
    let answer = inner.calls.renew(request).await?;
    let mut leases: HashMap<&str, _> =
        answer.leases.iter().map(|lease| (lease.lease_id.as_str(), lease)).collect();
    let now = Instant::now();
    for ((desk, ids), asked) in batch.iter().zip(asked) {
        let mut state = desk.lock();
        state.renew_at = None;
        for id in ids {
            match leases.remove(id.as_str()) {
                Some(lease) => state.renewed(lease, asked),
                None => {
                    state.wallet.lost([id.as_str()], now.into_std());
                    state.rates.lost(id, now);
                }
            }
        }
    }
    Ok(())
}

impl State {
    /// The leases to renew, if it is time.
    fn to_renew(&self, now: Instant) -> Vec<String> {
        if self.renew_at.is_none_or(|at| now < at) {
            return Vec::new();
        }
        let money = self.wallet.to_renew(MONEY_UNUSED, now.into_std()).map(|id| id.to_string());
        money.chain(self.rates.to_renew(now).map(str::to_owned)).collect()
    }
}
