//! What runs beside the calls: who looks after the ledger, who holds leases, and who settles.

use super::{Budgets, Settling};
use crate::{roles::Role, wire::Shared};
use signalbox_admission::Replica;
use signalbox_api::v1::budget_service_client::BudgetServiceClient;
use signalbox_budget::{Dependencies, Keeper};
use signalbox_kit::readiness::Readiness;
use signalbox_settler::{Settler, SettlerOptions};
use std::{sync::Arc, time::Duration};
use tokio::{
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// What `/readyz` calls the store.
const STORE: &str = "budget store";
/// What it calls the service, here or in another process.
const SERVICE: &str = "budget service";
/// How often is looked whether one or the other answers.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// So many unanswered questions in a row mean that the store is away.
const MISSES: u32 = 3;
/// The same while something is waited for, and how long that holds up the start.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the last settlements may take when the process ends. The rest is made at the next start.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);

/// What was started, in the order in which it ends.
pub(crate) struct Running {
    tasks: Vec<(CancellationToken, JoinHandle<()>)>,
    looking: JoinSet<()>,
}

impl Running {
    /// Gives back what is idle, settles what the last requests have spent, and lets the service go, in this order. To
    /// be called when no request is under way any more.
    pub(crate) async fn finish(mut self) {
        self.looking.abort_all();
        for (stop, task) in self.tasks {
            stop.cancel();
            let _ended = task.await;
        }
    }
}

/// Something that runs until it is stopped.
fn until_stopped<F>(work: impl FnOnce(CancellationToken) -> F) -> (CancellationToken, JoinHandle<()>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let stop = CancellationToken::new();
    (stop.clone(), tokio::spawn(work(stop)))
}

/// Starts what the process has to do with budgets. The service comes first, and is waited for a moment, so that the
/// first caller finds it there.
pub(crate) async fn start(shared: &Shared, budgets: Budgets, readiness: &Readiness) -> Running {
    let (mut tasks, mut looking) = (Vec::new(), JoinSet::new());
    let Budgets { service, replica, settling, way: _ } = budgets;
    let feed = service.as_ref().map(|service| service.feed.clone());
    let keeper = service.map(|service| {
        // A router goes on with what it holds.
        if !shared.serves(Role::Router) {
            readiness.set(STORE, Err("not reached yet".to_owned()));
            looking.spawn(look_at_store(service.clone(), readiness.clone()));
        }
        until_stopped(|stop| keep(service, stop))
    });
    if let Some(feed) = feed {
        let _away = timeout(PATIENCE, until(|| feed.is_heard())).await;
    }
    if let Some(replica) = replica {
        readiness.set(SERVICE, Err("not heard yet".to_owned()));
        let running = replica.clone();
        tasks.push(until_stopped(|stop| async move { running.run(stop).await }));
        match timeout(PATIENCE, until(|| replica.is_in_touch())).await {
            Ok(()) => readiness.set(SERVICE, Ok(())),
            Err(_) => drop(looking.spawn(await_service(replica, readiness.clone()))),
        }
    }
    if let Some(Settling { runs, outbox, ledger }) = settling {
        let options = SettlerOptions { last_attempt: LAST_ATTEMPT, clock: shared.clock.clone() };
        let settler = Settler::new(runs, Arc::new(outbox), BudgetServiceClient::new(ledger), options);
        tasks.push(until_stopped(|stop| settler.run(stop)));
    }
    tasks.extend(keeper);
    Running { tasks, looking }
}

/// Looks again and again until something holds.
async fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        sleep(LOOK_AGAIN).await;
    }
}

/// Makes the tables, however long the store is away, and then looks after them.
async fn keep(service: Dependencies, stop: CancellationToken) {
    let mut told = None;
    while let Err(failure) = service.ledger.migrate().await {
        signalbox_budget::store_away(true);
        let why = failure.to_string();
        if told.as_ref() != Some(&why) {
            tracing::warn!(why, "the ledger of budgets is not ready");
        }
        told = Some(why);
        if stop.run_until_cancelled(sleep(LOOK_EVERY)).await.is_none() {
            return service.feed.close();
        }
    }
    tracing::info!("the ledger of budgets is ready");
    Keeper::new(service).run(stop).await;
}

/// A process is ready once it has heard of the budget service. Later it goes on without one for as long as it may.
async fn await_service(replica: Replica, readiness: Readiness) {
    until(|| replica.is_in_touch()).await;
    readiness.set(SERVICE, Ok(()));
}

/// A budget service is ready while its store can be written: one that can only be read lends and settles nothing.
async fn look_at_store(service: Dependencies, readiness: Readiness) {
    let (mut misses, mut reached) = (0, false);
    loop {
        let answer = service.tenants.beat().await.map_err(|error| error.to_string());
        misses = if answer.is_ok() { 0 } else { misses + 1 };
        if answer.is_ok() || misses >= MISSES || !reached {
            reached |= answer.is_ok();
            readiness.set(STORE, answer);
        }
        sleep(LOOK_EVERY).await;
    }
}
