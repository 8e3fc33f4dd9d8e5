//! Signalbox with the role batch: in the one process of a bank, or in processes of its own beside the bank's fleet, with
//! their jobs in its PostgreSQL.

use crate::budgets::bank::{Bank, LUNA, Shape, acme};
use serde_json::{Value, json};
use signalbox_api::v1::{
    self, BatchItem, BatchJob, BatchResult, GenerateRequest, Lane, UsageEvent, batch_item::Request,
    batch_job::State, batch_result::Outcome, batch_service_client::BatchServiceClient,
    usage_service_client::UsageServiceClient,
};
use signalbox_testkit::{
    Fleet, Keyed, Options, PostgresServer, Signalbox, Topology, ask, at_simulator, eventually,
    eventually_some, merge,
};
use signalbox_vendorsim::{Fault, Match, Place, SubmittedBatch, Times, Vendor};
use tempfile::TempDir;
use tonic::Status;

pub(crate) const HAIKU: &str = "anthropic/claude-haiku-5-5";
/// More money than anything here costs.
pub(crate) const MUCH: i64 = 1_000_000_000_000;

/// Signalbox, its books, its vendors, and whoever has the role batch.
pub(crate) struct Lab {
    pub(crate) bank: Bank,
    /// Processes with the role batch, where they are not the bank's one.
    lanes: Vec<Signalbox>,
    _files: TempDir,
}

impl Lab {
    /// A lab whose tenant has much money.
    pub(crate) async fn open(topology: Topology) -> Self {
        Self::with(topology, 1, json!({})).await
    }

    /// The same, with so many processes of the role where they are apart, and a configuration of its own.
    pub(crate) async fn with(topology: Topology, lanes: usize, change: Value) -> Self {
        let lab = Self::without_money(topology, lanes, change).await;
        lab.bank.add(crate::budgets::bank::budget(MUCH)).await;
        lab
    }

    /// The same, whose tenant has no budget yet.
    pub(crate) async fn without_money(topology: Topology, lanes: usize, change: Value) -> Self {
        let mut config = json!({
            "batch": {
                "window_wait": "100ms",
                "poll_interval": "50ms",
                "max_poll_interval": "200ms",
                "lease": "1s",
            },
            "aliases": {"pair": {"targets": [LUNA, HAIKU]}},
        });
        merge(&mut config, change);
        let mut bank = Bank::open(topology, config.clone()).await;
        let files = tempfile::tempdir().unwrap();
        let mut apart = Vec::new();
        match &mut bank.shape {
            Shape::Whole(_) => {}
            Shape::Up { system, .. } => {
                let names = ["batch-1", "batch-2"].iter().take(lanes);
                apart.extend(names.map(|name| system.part(name)));
            }
            Shape::Fleet { .. } => {
                for number in 1..=lanes {
                    let file = files.path().join(format!("batch-{number}.yaml"));
                    std::fs::write(&file, beside(&mut bank, &config).to_string()).unwrap();
                    apart.push(serve(file).await);
                }
            }
        }
        let lab = Self { bank, lanes: apart, _files: files };
        for lane in &lab.lanes {
            eventually("the lane is ready", || async { lane.ready().await.is_ok() }).await;
        }
        lab
    }

    /// A process with the role batch.
    pub(crate) fn lane(&self, index: usize) -> &Signalbox {
        match &self.bank.shape {
            Shape::Whole(process) => process,
            _ => &self.lanes[index],
        }
    }

    /// The same, to end it and start it again.
    pub(crate) fn lane_mut(&mut self, index: usize) -> &mut Signalbox {
        match &mut self.bank.shape {
            Shape::Whole(process) => process,
            _ => &mut self.lanes[index],
        }
    }

    pub(crate) fn client(&self, key: &str) -> BatchServiceClient<Keyed> {
        self.client_at(0, key)
    }

    pub(crate) fn client_at(&self, lane: usize, key: &str) -> BatchServiceClient<Keyed> {
        BatchServiceClient::new(self.lane(lane).keyed(key)).max_decoding_message_size(64 << 20)
    }

    /// Hands in a job of the tenant.
    pub(crate) async fn submit(&self, id: &str, items: Vec<BatchItem>) -> Result<BatchJob, Status> {
        self.submit_job(job(id), items).await
    }

    pub(crate) async fn submit_job(&self, job: BatchJob, items: Vec<BatchItem>) -> Result<BatchJob, Status> {
        submit(self.client(Fleet::ADMIN_KEY), job, items).await
    }

    pub(crate) async fn job(&self, id: &str) -> Result<BatchJob, Status> {
        let request = v1::GetBatchJobRequest { job_id: id.to_owned(), tenant_id: acme() };
        let answer = self.client(Fleet::ADMIN_KEY).get_batch_job(request).await?;
        Ok(answer.into_inner().job.unwrap())
    }

    pub(crate) async fn cancel(&self, id: &str) -> BatchJob {
        let request = v1::CancelBatchJobRequest { job_id: id.to_owned(), tenant_id: acme() };
        self.client(Fleet::ADMIN_KEY).cancel_batch_job(request).await.unwrap().into_inner().job.unwrap()
    }

    /// The job once each of its items has ended.
    pub(crate) async fn ended(&self, id: &str) -> BatchJob {
        eventually_some(&format!("job {id} ends"), || async {
            self.job(id).await.ok().filter(|job| job.state() == State::Ended)
        })
        .await
    }

    /// All results that there are, in the order in which they came.
    pub(crate) async fn results(&self, id: &str) -> Vec<BatchResult> {
        let request =
            v1::StreamBatchResultsRequest { job_id: id.to_owned(), tenant_id: acme(), ..Default::default() };
        let stream = self.client(Fleet::ADMIN_KEY).stream_batch_results(request).await;
        read(stream.unwrap().into_inner()).await.into_iter().map(|(result, _)| result).collect()
    }

    /// The one result of an item of an ended job.
    pub(crate) async fn result(&self, id: &str, item: &str) -> BatchResult {
        let mut of_item = self.results(id).await;
        of_item.retain(|result| result.item_id == item);
        assert_eq!(of_item.len(), 1, "{item}: {of_item:?}");
        of_item.remove(0)
    }

    /// What was handed to a vendor's batch endpoint.
    pub(crate) fn batches(&self, vendor: Vendor) -> Vec<SubmittedBatch> {
        let mut batches = self.bank.vendors.batches();
        batches.retain(|batch| batch.vendor == vendor);
        batches
    }

    /// Lets a fault strike in one place.
    pub(crate) fn strike(&self, vendor: Vendor, place: Place, fault: &str, times: Times) {
        self.bank.vendors.set_fault(Match::vendor(vendor).at(place), Fault::parse(fault).unwrap(), times);
    }

    /// Waits until a vendor has so many batches.
    pub(crate) async fn handed(&self, vendor: Vendor, batches: usize) {
        eventually(&format!("{vendor:?} has {batches} batches"), || async {
            self.batches(vendor).len() == batches
        })
        .await;
    }

    /// The accounts of a job's items in the usage store, once there are so many: by its reference.
    pub(crate) async fn accounts(&self, id: &str, count: usize) -> Vec<UsageEvent> {
        let request = v1::ListRequestsRequest {
            filter: Some(v1::UsageFilter {
                tenant_ids: vec![acme()],
                references: vec![id.to_owned()],
                ..Default::default()
            }),
            start_time: Some(prost_types::Timestamp { seconds: 1_700_000_000, nanos: 0 }),
            page_size: 500,
            ..Default::default()
        };
        let events = eventually_some(&format!("{count} items are accounted for"), || async {
            let found = self.usage().list_requests(request.clone()).await.ok()?.into_inner().events;
            (found.len() >= count).then_some(found)
        })
        .await;
        assert_eq!(events.len(), count, "{events:?}");
        assert!(events.iter().all(|event| event.lane() == Lane::Batch));
        events
    }

    fn usage(&self) -> UsageServiceClient<Keyed> {
        let process = match &self.bank.shape {
            Shape::Whole(process) => process.keyed(Fleet::ADMIN_KEY),
            Shape::Fleet { _ingester, .. } => _ingester.keyed(Fleet::ADMIN_KEY),
            Shape::Up { system, .. } => system.part("ingest-1").keyed(Fleet::ADMIN_KEY),
        };
        UsageServiceClient::new(process)
    }

    /// The books after a job: so much was paid, nothing is held any more, and usage store, ledger and results agree.
    pub(crate) async fn books_are_closed(&self, id: &str, items: usize) -> i64 {
        let job = self.ended(id).await;
        let results = self.results(id).await;
        assert_eq!(results.len(), items, "{results:?}");
        let told: i64 = results.iter().map(paid).sum();
        let accounts = self.accounts(id, items).await;
        let accounted: i64 = accounts.iter().map(crate::budgets::bank::cost).sum();
        assert_eq!((told, accounted), (job.cost.unwrap().nano_eur, told));
        let budget = crate::budgets::bank::BUDGET;
        self.bank.settled(budget, told).await;
        eventually("nothing is reserved any more", || async {
            self.bank.status(budget).await.reserved_nano_eur == 0
        })
        .await;
        told
    }
}

/// The configuration of a process of the role batch in the bank's fleet.
fn beside(bank: &mut Bank, change: &Value) -> Value {
    let mut config = at_simulator(&bank.vendors);
    // Who calls vendors is an adapter; this process only has to know that there are any.
    let Shape::Fleet { fleet, _nats, .. } = &mut bank.shape else { panic!("it is no fleet") };
    let peers = |processes: &[Signalbox]| processes.iter().map(Signalbox::peer).collect::<Vec<_>>();
    let place = format!("postgres://{}@127.0.0.1:{}/postgres", PostgresServer::USER, fleet.postgres.port());
    let own = json!({
        "nats": {"servers": [_nats.url()]},
        "batch": {"store": {"postgres": {"url": place, "password": {"env": "POSTGRES_PASSWORD"}}}},
        "peers": {
            "router": peers(&fleet.routers),
            "budget": peers(&fleet.budgets),
            "adapter": [fleet.adapter.peer()],
        },
    });
    merge(&mut config, change.clone());
    merge(&mut config, own);
    merge(&mut config, fleet.certificates.issue("batch"));
    config
}

async fn serve(file: std::path::PathBuf) -> Signalbox {
    let own = [("SIGNALBOX_ADMIN_KEY", Fleet::ADMIN_KEY), ("POSTGRES_PASSWORD", PostgresServer::PASSWORD)];
    let env = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let internal_listen = Some(Options::FREE);
    Signalbox::serve(Options {
        config: Some(file),
        roles: "batch",
        env,
        internal_listen,
        ..Options::default()
    })
    .await
}

/// Hands in a job, an item a message.
pub(crate) async fn submit(
    mut client: BatchServiceClient<Keyed>,
    job: BatchJob,
    items: Vec<BatchItem>,
) -> Result<BatchJob, Status> {
    let first = v1::SubmitBatchJobRequest { job: Some(job), items: Vec::new() };
    let more = items.into_iter().map(|item| v1::SubmitBatchJobRequest { job: None, items: vec![item] });
    let pieces: Vec<_> = std::iter::once(first).chain(more).collect();
    let answer = client.submit_batch_job(futures_util::stream::iter(pieces)).await?;
    Ok(answer.into_inner().job.unwrap())
}

/// Reads results to their end, each with where to go on after it.
pub(crate) async fn read(
    mut stream: tonic::Streaming<v1::StreamBatchResultsResponse>,
) -> Vec<(BatchResult, String)> {
    let mut results = Vec::new();
    while let Some(message) = stream.message().await.unwrap() {
        results.push((message.result.unwrap(), message.resume_token));
    }
    results
}

/// A job of the tenant, by whose id its accounts are found again.
pub(crate) fn job(id: &str) -> BatchJob {
    BatchJob { job_id: id.to_owned(), tenant_id: acme(), reference: id.to_owned(), ..BatchJob::default() }
}

/// An item that asks for a short answer.
pub(crate) fn item(id: &str, model: &str) -> BatchItem {
    asking(
        id,
        GenerateRequest { max_output_tokens: Some(100), ..ask::request(model, "Why is the sky blue?") },
    )
}

pub(crate) fn asking(id: &str, request: GenerateRequest) -> BatchItem {
    BatchItem { item_id: id.to_owned(), request: Some(Request::Generate(request)) }
}

pub(crate) fn embedding(id: &str, model: &str) -> BatchItem {
    let request = v1::EmbedRequest {
        inputs: vec!["Rome".into(), "Lviv".into()],
        model: model.into(),
        ..Default::default()
    };
    BatchItem { item_id: id.to_owned(), request: Some(Request::Embed(request)) }
}

/// What an item cost, all its calls together.
pub(crate) fn paid(result: &BatchResult) -> i64 {
    let route = |route: &Option<v1::Route>| route.as_ref().unwrap().total_cost.clone().unwrap().nano_eur;
    match result.outcome.as_ref().unwrap() {
        Outcome::Generate(answer) => route(&answer.route),
        Outcome::Embed(answer) => route(&answer.route),
        Outcome::Error(error) => {
            let failure = error.failure.as_ref();
            failure.and_then(|failure| failure.total_cost.as_ref()).map_or(0, |cost| cost.nano_eur)
        }
    }
}

/// An answer that there must be.
pub(crate) fn answer(result: &BatchResult) -> &v1::GenerateResponse {
    match result.outcome.as_ref() {
        Some(Outcome::Generate(answer)) => answer,
        other => panic!("no answer: {other:?}"),
    }
}

/// An error that there must be.
pub(crate) fn error(result: &BatchResult) -> &v1::BatchItemError {
    match result.outcome.as_ref() {
        Some(Outcome::Error(error)) => error,
        other => panic!("no error: {other:?}"),
    }
}
