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
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// What `/readyz` calls the store.
const STORE: &str = "budget store";
/// What it calls the service in another process.
const SERVICE: &str = "budget service";
/// How often is looked whether one or the other answers.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// So many unanswered questions in a row mean that the store is away.
const MISSES: u32 = 3;
/// How long the last settlements may take when the process ends. The rest is made at the next start.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);

/// What was started, in the order in which it ends.
pub(crate) struct Running {
    tasks: Vec<(CancellationToken, JoinHandle<()>)>,
    looking: JoinSet<()>,
}

impl Running {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&mut self, work: impl FnOnce(CancellationToken) -> F) {
        let stop = CancellationToken::new();
        self.tasks.push((stop.clone(), tokio::spawn(work(stop))));
    }

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

/// Starts what the process has to do with budgets.
pub(crate) fn start(shared: &Shared, budgets: Budgets, readiness: &Readiness) -> Running {
    let mut running = Running { tasks: Vec::new(), looking: JoinSet::new() };
    let Budgets { service, replica, settling, remote } = budgets;
    if let Some(replica) = replica {
        if remote {
            readiness.set(SERVICE, Err("not heard yet".to_owned()));
            running.looking.spawn(await_service(replica.clone(), readiness.clone()));
        }
        running.spawn(|stop| async move { replica.run(stop).await });
    }
    if let Some(Settling { runs, outbox, ledger }) = settling {
        let options = SettlerOptions { last_attempt: LAST_ATTEMPT, clock: shared.clock.clone() };
        let settler = Settler::new(runs, Arc::new(outbox), BudgetServiceClient::new(ledger), options);
        running.spawn(|stop| settler.run(stop));
    }
    if let Some(service) = service {
        // A router goes on with what it holds.
        if !shared.serves(Role::Router) {
            readiness.set(STORE, Err("not reached yet".to_owned()));
            running.looking.spawn(look_at_store(service.clone(), readiness.clone()));
        }
        running.spawn(|stop| keep(service, stop));
    }
    running
}

/// Makes the tables, however long the store is away, and then looks after them.
async fn keep(service: Dependencies, stop: CancellationToken) {
    let mut told = None;
    while let Err(failure) = service.ledger.migrate().await {
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

/// A process that admits is ready once it has heard of the budget service. Later it goes on without one for as long
/// as it may.
async fn await_service(replica: Replica, readiness: Readiness) {
    while !replica.is_in_touch() {
        sleep(LOOK_EVERY / 10).await;
    }
    tracing::info!("the budget service answers");
    readiness.set(SERVICE, Ok(()));
}

/// A budget service is ready while its store answers.
async fn look_at_store(service: Dependencies, readiness: Readiness) {
    let (mut misses, mut reached) = (0, false);
    loop {
        let answer = service.tenants.last_change().await.map(|_| ()).map_err(|error| error.to_string());
        misses = if answer.is_ok() { 0 } else { misses + 1 };
        if answer.is_ok() || misses >= MISSES || !reached {
            reached |= answer.is_ok();
            readiness.set(STORE, answer);
        }
        sleep(LOOK_EVERY).await;
    }
}
