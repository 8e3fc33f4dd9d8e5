//! What every test needs.

use super::{bank::Bank, router::PreparingRouter, vendor::Vendor};
use crate::{Dependencies, Followers, Lane, Options, server};
use futures_util::{StreamExt as _, stream};
use signalbox_api::v1::{
    self, BatchItem, BatchJob, BatchResult, UsageEvent, batch_item::Request as Asked, batch_result::Outcome,
    batch_service_client::BatchServiceClient, provider_service_server::ProviderServiceServer,
    router_service_server::RouterServiceServer,
};
use signalbox_batches::SqlBatches;
use signalbox_kit::{
    Clock, Hop, SystemClock,
    config::{ConfigHandle, Environment},
    hop,
};
use signalbox_ports::{
    LogFull, OpenAccount, UsageLog,
    batches::{BatchStore, JobWindow},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};
use tempfile::TempDir;
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

pub(crate) const TENANT: &str = "acme";

/// The machine's clock, set forward.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ahead(Arc<AtomicU64>);

impl Ahead {
    pub(crate) fn forward(&self, by: Duration) {
        self.0.fetch_add(by.as_secs(), Ordering::SeqCst);
    }
}

impl Clock for Ahead {
    fn now(&self) -> SystemTime {
        SystemClock.now() + Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

/// Accounts that were told, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<BTreeMap<String, UsageEvent>>);

impl Told {
    pub(crate) fn all(&self) -> Vec<UsageEvent> {
        self.0.lock().unwrap().values().cloned().collect()
    }
}

impl UsageLog for Told {
    fn open(&self, _: &UsageEvent) -> Result<OpenAccount, LogFull> {
        Ok(OpenAccount(0))
    }

    fn revise(&self, _: &OpenAccount, _: &UsageEvent) {}

    fn close(&self, _: OpenAccount, event: &UsageEvent) {
        let _kept = self.append(event);
    }

    fn append(&self, event: &UsageEvent) -> Result<(), LogFull> {
        self.0.lock().unwrap().insert(event.event_id.clone(), event.clone());
        Ok(())
    }
}

/// A lane and all that it works with.
pub(crate) struct World {
    pub(crate) dependencies: Dependencies,
    pub(crate) clock: Ahead,
    pub(crate) vendor: Vendor,
    pub(crate) bank: Bank,
    pub(crate) told: Arc<Told>,
    pub(crate) store: SqlBatches,
    _dir: TempDir,
}

/// Everything at once, so that a test waits for nothing but work.
pub(crate) fn options() -> Options {
    let usual = Options::default();
    Options {
        rules: signalbox_batching::Rules { window_wait: Duration::ZERO, ..usual.rules.clone() },
        poll_interval: Duration::from_millis(1),
        max_poll_interval: Duration::from_millis(5),
        windows_at_once: 2,
        idle: Duration::from_millis(2),
        drain: Duration::from_secs(5),
        ..usual
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        let world = Self::without_tables();
        world.store.migrate().await.unwrap();
        world
    }

    /// Its store fails until it is migrated.
    pub(crate) fn without_tables() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (clock, vendor, bank) = (Ahead::default(), Vendor::default(), Bank::default());
        let told = Arc::new(Told::default());
        let config = ConfigHandle::start(None, Environment::default(), Arc::new(clock.clone())).unwrap();
        let path = dir.path().join("batches.db");
        let store = SqlBatches::open(&format!("sqlite:{}", path.display())).unwrap();
        let dependencies = Dependencies {
            config: Arc::new(config),
            store: Arc::new(store.clone()),
            router: hop::local(RouterServiceServer::new(PreparingRouter)),
            adapter: hop::local(ProviderServiceServer::new(vendor.clone())),
            budget: Some(bank.hop()),
            usage: told.clone(),
            moderator: None,
            followers: Followers::default(),
            clock: Arc::new(clock.clone()),
            owner: "one".to_owned(),
            options: options(),
        };
        Self { dependencies, clock, vendor, bank, told, store, _dir: dir }
    }

    pub(crate) fn client(&self) -> BatchServiceClient<Hop> {
        BatchServiceClient::new(hop::local(server(self.dependencies.clone())))
    }

    /// Hands a job in.
    pub(crate) async fn submit(&self, job_id: &str, items: Vec<BatchItem>) -> BatchJob {
        self.try_submit(job(job_id), items).await.unwrap()
    }

    pub(crate) async fn try_submit(
        &self,
        job: BatchJob,
        items: Vec<BatchItem>,
    ) -> Result<BatchJob, tonic::Status> {
        let first = v1::SubmitBatchJobRequest { job: Some(job), items: Vec::new() };
        let each = items.into_iter().map(|item| v1::SubmitBatchJobRequest { job: None, items: vec![item] });
        let messages: Vec<_> = std::iter::once(first).chain(each).collect();
        let answer = self.client().submit_batch_job(stream::iter(messages)).await?;
        Ok(answer.into_inner().job.unwrap())
    }

    /// Starts the lane's workers.
    pub(crate) fn work(&self) -> Working {
        self.work_as("one")
    }

    pub(crate) fn work_as(&self, owner: &str) -> Working {
        let stop = CancellationToken::new();
        let dependencies = Dependencies { owner: owner.to_owned(), ..self.dependencies.clone() };
        let lane = tokio::spawn(Lane::new(dependencies).run(stop.clone()));
        Working { stop, lane }
    }

    pub(crate) async fn job(&self, job_id: &str) -> BatchJob {
        let asked = v1::GetBatchJobRequest { job_id: job_id.into(), tenant_id: TENANT.into() };
        self.client().get_batch_job(asked).await.unwrap().into_inner().job.unwrap()
    }

    /// All results of a job, once it has ended.
    pub(crate) async fn results(&self, job_id: &str) -> BTreeMap<String, Outcome> {
        let asked = v1::StreamBatchResultsRequest { follow: true, ..following(job_id) };
        let results = self.client().stream_batch_results(asked).await.unwrap().into_inner();
        let all = results.map(|result| named(result.unwrap().result.unwrap())).collect();
        timeout(Duration::from_secs(20), all).await.expect("the job ends")
    }

    /// The same, for a job that takes hours. They pass while nothing of it is to be done: however slow the machine is, nothing
    /// is late for it.
    pub(crate) async fn results_in_time(&self, job_id: &str) -> BTreeMap<String, Outcome> {
        let passing = async {
            loop {
                tokio::time::sleep(Duration::from_millis(5)).await;
                if !self.is_anything_due(job_id).await {
                    self.clock.forward(Duration::from_mins(10));
                }
            }
        };
        tokio::select! {
            results = self.results(job_id) => results,
            () = passing => BTreeMap::new(),
        }
    }

    async fn is_anything_due(&self, job_id: &str) -> bool {
        let now = self.clock.now();
        let (_, windows) = self.store.job(TENANT, job_id).await.unwrap().unwrap();
        windows.iter().any(|JobWindow { window, .. }| !window.state.is_over() && window.due <= now)
    }

    /// Waits until all accounts are told and nothing is reserved any more.
    pub(crate) async fn settled(&self) {
        let settled = async {
            while self.bank.held() > 0 || !self.store.untold(1).await.unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(Duration::from_secs(20), settled).await.expect("the job is settled");
    }
}

/// Workers at work.
pub(crate) struct Working {
    stop: CancellationToken,
    lane: JoinHandle<()>,
}

impl Working {
    /// The process drains.
    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.lane.await.unwrap();
    }

    /// The process dies.
    pub(crate) async fn die(self) {
        self.lane.abort();
        let _aborted = self.lane.await;
    }
}

fn named(result: BatchResult) -> (String, Outcome) {
    (result.item_id, result.outcome.unwrap())
}

pub(crate) fn job(job_id: &str) -> BatchJob {
    BatchJob { job_id: job_id.into(), tenant_id: TENANT.into(), scene: "night".into(), ..Default::default() }
}

pub(crate) fn following(job_id: &str) -> v1::StreamBatchResultsRequest {
    v1::StreamBatchResultsRequest { job_id: job_id.into(), tenant_id: TENANT.into(), ..Default::default() }
}

/// An item that names a model of the fake router's, see there.
pub(crate) fn item(item_id: &str, model: &str) -> BatchItem {
    BatchItem { item_id: item_id.into(), request: Some(Asked::Generate(asking(model, item_id))) }
}

pub(crate) fn asking(model: &str, text: &str) -> v1::GenerateRequest {
    let part = v1::Part { part: Some(v1::part::Part::Text(text.into())), ..Default::default() };
    let message = v1::Message { role: v1::Role::User.into(), content: vec![part] };
    v1::GenerateRequest { model: model.into(), messages: vec![message], ..Default::default() }
}

/// The answer of an item that has one.
pub(crate) fn answer(outcome: &Outcome) -> &v1::GenerateResponse {
    let Outcome::Generate(answer) = outcome else { panic!("no answer but {outcome:?}") };
    answer
}

/// The error of an item that has one.
pub(crate) fn error(outcome: &Outcome) -> &v1::BatchItemError {
    let Outcome::Error(error) = outcome else { panic!("no error but {outcome:?}") };
    error
}

pub(crate) fn text(answer: &v1::GenerateResponse) -> String {
    let text = |part: &v1::Part| match &part.part {
        Some(v1::part::Part::Text(text)) => text.clone(),
        _ => String::new(),
    };
    answer.content.iter().map(text).collect()
}
