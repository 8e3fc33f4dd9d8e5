//! What runs beside the calls: the workers, once the tables are there.

use crate::{roles::Role, wire::Shared};
use signalbox_batch::{Dependencies, Lane};
use signalbox_kit::{Hop, hop, readiness::Readiness};
use std::time::Duration;
use tokio::{
    task::{JoinHandle, JoinSet},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tonic::Request;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// What `/readyz` calls the store.
const STORE: &str = "batch store";
/// And the router, which says who may serve an item.
const ROUTER: &str = "router";
/// How often is looked whether it answers.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// So many unanswered questions in a row mean that it is away.
const MISSES: u32 = 3;

/// What was started.
#[derive(Default)]
pub(crate) struct Running {
    workers: Option<(Dependencies, JoinHandle<()>)>,
    stop: CancellationToken,
    looking: JoinSet<()>,
}

impl Running {
    /// Takes nothing new, lets those go who wait for results, and begins to finish what is under way.
    pub(crate) fn drain(&self) {
        self.stop.cancel();
        self.workers.iter().for_each(|(dependencies, _)| dependencies.followers.close());
    }

    /// Waits until nothing is under way any more and all that has ended is accounted for.
    pub(crate) async fn finish(mut self) {
        self.looking.abort_all();
        self.stop.cancel();
        if let Some((_, workers)) = self.workers {
            let _ended = workers.await;
        }
    }
}

/// Starts the workers of a process that has the role.
pub(crate) fn start(shared: &Shared, readiness: &Readiness) -> Running {
    let mut running = Running::default();
    let Some(dependencies) = &shared.batch else { return running };
    // A router goes on without.
    if !shared.serves(Role::Router) {
        readiness.set(STORE, Err("not reached yet".to_owned()));
        running.looking.spawn(look_at_store(dependencies.clone(), readiness.clone()));
        readiness.set(ROUTER, Err("not heard yet".to_owned()));
        running.looking.spawn(await_router(dependencies.router.clone(), readiness.clone()));
    }
    let workers = tokio::spawn(work(dependencies.clone(), running.stop.clone()));
    running.workers = Some((dependencies.clone(), workers));
    running
}

/// Makes the tables, however long the store is away, and then works.
async fn work(dependencies: Dependencies, stop: CancellationToken) {
    let mut told = None;
    while let Err(failure) = dependencies.store.migrate().await {
        let why = failure.to_string();
        if told.as_ref() != Some(&why) {
            tracing::warn!(why, "the store of batch jobs is not ready");
        }
        told = Some(why);
        if stop.run_until_cancelled(sleep(LOOK_EVERY)).await.is_none() {
            return;
        }
    }
    tracing::info!("the store of batch jobs is ready");
    Lane::new(dependencies).run(stop).await;
}

/// The service is not ready before it has heard of a router that is ready. Later, one that is away holds up new jobs only.
async fn await_router(router: Hop, readiness: Readiness) {
    let mut client = HealthClient::new(router);
    loop {
        let mut request = Request::new(HealthCheckRequest::default());
        request.set_timeout(LOOK_EVERY);
        match client.check(request).await {
            Ok(answer) if answer.get_ref().status() == ServingStatus::Serving => {
                return readiness.set(ROUTER, Ok(()));
            }
            Ok(_) => readiness.set(ROUTER, Err("not ready yet".to_owned())),
            Err(status) => readiness.set(ROUTER, Err(hop::cause(&status))),
        }
        sleep(LOOK_EVERY).await;
    }
}

/// The service is ready while its store can be written: one that can only be read takes no job, and keeps no result.
async fn look_at_store(dependencies: Dependencies, readiness: Readiness) {
    let (mut misses, mut reached) = (0, false);
    loop {
        let answer =
            dependencies.store.beat(dependencies.clock.now()).await.map_err(|error| error.to_string());
        misses = if answer.is_ok() { 0 } else { misses + 1 };
        if answer.is_ok() || misses >= MISSES || !reached {
            reached |= answer.is_ok();
            readiness.set(STORE, answer);
        }
        sleep(LOOK_EVERY).await;
    }
}
