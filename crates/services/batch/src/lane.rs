//! What is done without being asked: windows are handed over, asked about and collected, accounts told, results removed.

mod account;
mod end;
mod estimate;
mod files;
mod free;
mod hand;
mod judge;
mod look;
mod overdue;
mod refused;
mod tell;
mod tidy;
mod tried;
mod trouble;
mod usual;
mod worker;

pub(crate) use tidy::end_waiting;

use crate::{Dependencies, metrics};
use futures_util::FutureExt as _;
use signalbox_api::v1::{
    budget_service_client::BudgetServiceClient, provider_service_client::ProviderServiceClient,
};
use signalbox_batching::{ItemKey, Missing};
use signalbox_kit::{Hop, content::Means};
use signalbox_ports::batches::{BatchStoreError, Claim, Lease, Step, WindowEnd};
use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// Steps that are taken at once.
const AT_ONCE: usize = 100;
/// A lane that has nothing to do rests for so long at least.
const SHORTEST_IDLE: Duration = Duration::from_millis(1);
/// Bytes of requests that are read at once.
const PAGE: u64 = 1 << 20;

/// The workers of the lane: one for each process.
#[derive(Debug)]
pub struct Lane {
    dependencies: Dependencies,
}

impl Lane {
    /// Over the same dependencies as the service.
    pub fn new(mut dependencies: Dependencies) -> Self {
        dependencies.options.idle = dependencies.options.idle.max(SHORTEST_IDLE);
        Self { dependencies }
    }

    /// Works until `stop` is cancelled; then what is under way is finished, for as long as that may take, and leases are
    /// given back.
    pub async fn run(self, stop: CancellationToken) {
        let place = Arc::new(Workplace::new(self.dependencies));
        let mut workers = JoinSet::new();
        for _ in 0..place.dependencies.options.windows_at_once {
            workers.spawn(again_after_panic(place.clone(), stop.clone(), worker::work));
        }
        workers.spawn(again_after_panic(place.clone(), stop, tidy::run));
        let told = CancellationToken::new();
        let teller = tokio::spawn(again_after_panic(place.clone(), told.clone(), tell::run));
        let _ends = workers.join_all().await;
        // What they ended last is to be told, too.
        told.cancel();
        let _told_or_given_up = timeout(place.dependencies.options.drain, teller).await;
    }
}

/// Goes on with a worker that panicked: one bad item must not stop the lane.
async fn again_after_panic<F: Future<Output = ()>>(
    place: Arc<Workplace>,
    stop: CancellationToken,
    work: fn(Arc<Workplace>, CancellationToken) -> F,
) {
    while AssertUnwindSafe(work(place.clone(), stop.clone())).catch_unwind().await.is_err() {
        tracing::error!("a worker of the batch lane panicked; it goes on");
        sleep(place.dependencies.options.idle).await;
    }
}

/// Where the work is done: what all workers share.
#[derive(Debug)]
struct Workplace {
    dependencies: Dependencies,
    adapter: ProviderServiceClient<Hop>,
    budget: Option<BudgetServiceClient<Hop>>,
    /// Calls that may be under way to vendors without a batch endpoint.
    calls: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// Batches that their vendors say they do not know, by window.
    missing: Mutex<HashMap<String, Missing>>,
    /// Held by the worker that looks out for what is due.
    lookout: tokio::sync::Mutex<()>,
}

impl Workplace {
    fn new(dependencies: Dependencies) -> Self {
        let limit = dependencies.options.max_message_bytes;
        let adapter = ProviderServiceClient::new(dependencies.adapter.clone())
            .max_decoding_message_size(limit)
            .max_encoding_message_size(limit);
        let budget = dependencies.budget.clone().map(BudgetServiceClient::new);
        Self {
            dependencies,
            adapter,
            budget,
            calls: Mutex::default(),
            missing: Mutex::default(),
            lookout: Default::default(),
        }
    }

    /// What content policies are applied with.
    fn means(&self) -> Means<'_> {
        let environment = self.dependencies.config.environment();
        Means { environment, moderator: self.dependencies.moderator.as_ref() }
    }

    /// Calls that may be under way to a vendor.
    fn calls_to(&self, vendor: &str) -> Arc<Semaphore> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let most = self.dependencies.options.concurrency;
        calls.entry(vendor.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(most))).clone()
    }

    /// Items end or go on.
    async fn step(&self, lease: &Lease, steps: &[(ItemKey, Step)]) -> Result<(), BatchStoreError> {
        let Dependencies { store, clock, options, followers, .. } = &self.dependencies;
        for steps in steps.chunks(AT_ONCE) {
            let taken = store.step(lease, steps, clock.now(), &options.rules).await?;
            if taken == steps.len() as u64 {
                steps.iter().for_each(|(_, step)| count(step));
            }
            followers.wake();
        }
        Ok(())
    }

    /// The window is over, and all that came of it is stored.
    async fn close(&self, claim: &Claim, refused: Option<String>) -> Result<(), BatchStoreError> {
        self.delete_files(claim).await;
        let end = WindowEnd { end_time: self.dependencies.clock.now(), refused };
        self.dependencies.store.close(&claim.lease, &end).await
    }
}

fn count(step: &Step) {
    if let Step::End(end) = step {
        metrics::ended(end.outcome);
    }
}
