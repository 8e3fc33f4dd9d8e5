//! Batches through the adapter, as the batch lane hands them over, at the simulated vendors.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

use arc_swap::ArcSwap;
use futures_util::{TryStreamExt as _, stream};
use signalbox_api::{
    convert,
    v1::{
        self, batch_item_error::Kind, provider_service_client::ProviderServiceClient,
        provider_service_server::ProviderServiceServer, stream_vendor_batch_results_response::Outcome,
        vendor_batch::State, vendor_batch_item::Request,
    },
};
use signalbox_kit::{
    FixedClock,
    config::{ConfigHandle, Environment},
};
use signalbox_ports::{CallRecord, CallSink, NoLog, Unlimited, VendorApi};
use signalbox_pricing::Day;
use signalbox_provider_adapter::{Adapter, CallHealth, Dependencies, server};
use signalbox_types::{Lane, ModelRef, VendorKind};
use signalbox_vendors::{Bulkhead, HttpVendor, Timeouts, VendorConfig};
use signalbox_vendorsim::{Fault, Match, Place, Simulator, Times, Vendor};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};
use tonic::{Code, Status};

/// 29 November 2026.
const TODAY: Duration = Duration::from_secs(1_795_910_400);

#[derive(Debug, Default)]
struct Accounts(Mutex<Vec<CallRecord>>);

impl CallSink for Accounts {
    fn record(&self, record: CallRecord) {
        self.0.lock().unwrap().push(record);
    }
}

/// An adapter whose vendors are simulated.
struct World {
    simulator: Simulator,
    config: Arc<ConfigHandle>,
    accounts: Arc<Accounts>,
    client: ProviderServiceClient<ProviderServiceServer<Adapter>>,
}

impl World {
    async fn new() -> Self {
        let simulator = Simulator::builder().bind("127.0.0.1:0").await.unwrap();
        let kinds = [VendorKind::Openai, VendorKind::Gemini, VendorKind::Ollama];
        let vendors: HashMap<Arc<str>, Arc<dyn VendorApi>> =
            kinds.into_iter().map(|kind| (kind.name().into(), vendor(kind, &simulator))).collect();
        let clock = Arc::new(FixedClock(SystemTime::UNIX_EPOCH + TODAY));
        let env = Environment::new([("OPENAI_API_KEY", "key"), ("GEMINI_API_KEY", "key")]);
        let config = Arc::new(ConfigHandle::start(None, env, clock.clone()).unwrap());
        let accounts = Arc::<Accounts>::default();
        let dependencies = Dependencies {
            config: config.clone(),
            vendors: Arc::new(ArcSwap::from_pointee(vendors)),
            calls: accounts.clone(),
            usage: Arc::new(NoLog),
            admission: Arc::new(Unlimited),
            health: CallHealth::new("a"),
            clock,
        };
        let client = ProviderServiceClient::new(server(dependencies, 4 << 20));
        Self { simulator, config, accounts, client }
    }

    async fn submit(
        &mut self,
        pieces: Vec<v1::SubmitVendorBatchRequest>,
    ) -> Result<v1::SubmitVendorBatchResponse, Status> {
        self.client.submit_vendor_batch(stream::iter(pieces)).await.map(tonic::Response::into_inner)
    }

    /// Looks at a batch until it has ended.
    async fn end(&mut self, target: v1::Target, id: &str) -> v1::VendorBatch {
        for _ in 0..100 {
            let request =
                v1::GetVendorBatchRequest { target: Some(target.clone()), vendor_batch_id: id.to_owned() };
            let batch = self.client.get_vendor_batch(request).await.unwrap().into_inner().batch.unwrap();
            if !matches!(batch.state(), State::Running | State::Cancelling) {
                return batch;
            }
        }
        panic!("{id} does not end")
    }

    async fn results(&mut self, target: v1::Target, id: &str) -> BTreeMap<String, Outcome> {
        let request = v1::StreamVendorBatchResultsRequest {
            target: Some(target),
            vendor_batch_id: id.to_owned(),
            json_tools: HashMap::new(),
        };
        let results = self.client.stream_vendor_batch_results(request).await.unwrap().into_inner();
        results.map_ok(|result| (result.item_key, result.outcome.unwrap())).try_collect().await.unwrap()
    }
}

fn vendor(kind: VendorKind, simulator: &Simulator) -> Arc<dyn VendorApi> {
    let long = Duration::from_secs(30);
    let config = VendorConfig {
        name: kind.name().to_owned(),
        kind,
        base_url: Some(simulator.base_url(kind.name())),
        api_key: Some("simulated".to_owned()),
        timeouts: Timeouts { connect: long, first_byte: long, idle: long, total: long },
        max_concurrency: 4,
        max_queue: 4,
        simulated: true,
    };
    let bulkhead = Bulkhead::for_vendor(&config);
    Arc::new(HttpVendor::new(config, bulkhead).unwrap())
}

fn target(model: &str) -> v1::Target {
    let model: ModelRef = model.parse().unwrap();
    v1::Target { vendor: model.vendor.to_string(), model: model.model.to_string() }
}

fn generate(key: &str, text: &str) -> v1::VendorBatchItem {
    let part = v1::Part { part: Some(v1::part::Part::Text(text.to_owned())), ..Default::default() };
    let message = v1::Message { role: v1::Role::User as i32, content: vec![part] };
    let request = v1::GenerateRequest {
        messages: vec![message],
        tenant_id: "acme".to_owned(),
        max_output_tokens: Some(1_000_000),
        ..Default::default()
    };
    v1::VendorBatchItem { item_key: key.to_owned(), request: Some(Request::Generate(request)) }
}

fn embed(key: &str) -> v1::VendorBatchItem {
    let request = v1::EmbedRequest { inputs: vec!["a".to_owned()], ..Default::default() };
    v1::VendorBatchItem { item_key: key.to_owned(), request: Some(Request::Embed(request)) }
}

fn first(model: &str, items: Vec<v1::VendorBatchItem>) -> v1::SubmitVendorBatchRequest {
    v1::SubmitVendorBatchRequest {
        target: Some(target(model)),
        batch_key: "w-1".to_owned(),
        maybe_since_time: None,
        items,
    }
}

fn more(items: Vec<v1::VendorBatchItem>) -> v1::SubmitVendorBatchRequest {
    v1::SubmitVendorBatchRequest { items, ..Default::default() }
}

const MODEL: &str = "openai/gpt-4o-mini";

#[tokio::test]
async fn items_are_handed_over_together_and_answered_at_the_batch_price() {
    let mut world = World::new().await;
    let item = Match::vendor(Vendor::Openai).at(Place::Item);
    world.simulator.set_fault(item, Fault::parse("kind=context").unwrap(), Times::First(1));
    let pieces = vec![
        first(MODEL, vec![generate("1-0", "one")]),
        more(vec![generate("1-1", "two"), generate("1-2", "three")]),
    ];
    let submitted = world.submit(pieces).await.unwrap();
    assert_eq!(submitted.notes.len(), 3, "each was asked for more than the model gives");
    assert!(submitted.notes.iter().all(|note| note.adjustments[0].field == "max_output_tokens"));
    let batch = submitted.batch.unwrap();
    assert!(batch.simulated && batch.create_time.is_some(), "{batch:?}");

    let batch = world.end(target(MODEL), &batch.vendor_batch_id).await;
    assert_eq!((batch.state(), batch.total, batch.succeeded, batch.failed), (State::Ended, 3, 2, 1));
    let results = world.results(target(MODEL), &batch.vendor_batch_id).await;
    let catalog = world.config.catalog();
    let day = Day::of(SystemTime::UNIX_EPOCH + TODAY);
    for outcome in results.values() {
        match outcome {
            Outcome::Generate(answer) => {
                let facts = answer.facts.as_ref().unwrap();
                let usage = convert::usage_from_proto(facts.usage.as_ref().unwrap());
                let cost = catalog.prices().cost(&MODEL.parse().unwrap(), &usage, Lane::Batch, day).unwrap();
                assert_eq!(facts.cost.as_ref().unwrap().nano_eur, cost.nano_eur());
                assert!(cost.nano_eur() > 0 && facts.simulated && facts.latency.is_none(), "{facts:?}");
                assert!(!answer.content.is_empty() && !facts.vendor_request_id.is_empty());
            }
            Outcome::Error(error) => {
                assert_eq!((error.kind(), error.reason.as_str()), (Kind::Failed, "CONTEXT_LENGTH_EXCEEDED"));
            }
            outcome @ Outcome::Embed(_) => panic!("{outcome:?}"),
        }
    }
    let accounts = world.accounts.0.lock().unwrap();
    assert_eq!(accounts.len(), 2, "what failed costs nothing");
    assert!(accounts.iter().all(|record| record.latency.is_none() && record.cost.is_some()));
}

#[tokio::test]
async fn an_item_that_cannot_be_said_is_rejected_and_the_others_are_handed_over() {
    let mut world = World::new().await;
    let empty = v1::VendorBatchItem {
        item_key: "1-1".to_owned(),
        request: Some(Request::Generate(v1::GenerateRequest::default())),
    };
    let pieces = vec![first(MODEL, vec![generate("1-0", "one"), empty.clone()])];
    let submitted = world.submit(pieces).await.unwrap();
    let rejected = submitted.notes.iter().find(|note| note.item_key == "1-1").unwrap();
    let rejection = rejected.rejection.as_ref().unwrap();
    assert_eq!((rejection.kind(), rejection.reason.as_str()), (Kind::Failed, "INVALID_REQUEST"));
    assert!(rejection.message.contains("messages"), "{rejection:?}");
    assert_eq!(world.simulator.batches()[0].items.len(), 1);

    let submitted = world.submit(vec![first(MODEL, vec![empty])]).await.unwrap();
    assert!(submitted.batch.is_none() && submitted.notes.len() == 1);
    assert_eq!(world.simulator.batches().len(), 1, "nobody was asked");
}

#[tokio::test]
async fn a_batch_that_may_have_been_handed_over_is_looked_for_first() {
    let mut world = World::new().await;
    let once = world.submit(vec![first(MODEL, vec![generate("1-0", "one")])]).await.unwrap();
    let mut again = first(MODEL, vec![generate("1-0", "one")]);
    again.maybe_since_time = Some((SystemTime::UNIX_EPOCH + TODAY).into());
    let twice = world.submit(vec![again]).await.unwrap();
    let id = |submitted: v1::SubmitVendorBatchResponse| submitted.batch.unwrap().vendor_batch_id;
    assert_eq!(id(once), id(twice));
    assert_eq!(world.simulator.batches().len(), 1);
}

#[tokio::test]
async fn what_takes_no_batches_is_to_be_called_as_usual() {
    let mut world = World::new().await;
    for (model, item) in [
        ("ollama/llama3.1:8b", generate("1-0", "one")),
        ("gemini/gemini-embedding-001", embed("1-0")),
        ("gemini/gemini-embedding-2", embed("1-0")),
        ("openai/text-embedding-ada-002", embed("1-0")),
    ] {
        let status = world.submit(vec![first(model, vec![item])]).await.unwrap_err();
        assert_eq!(status.code(), Code::Unimplemented, "{model}: {status}");
        assert!(status.message().contains("as usual"), "{status}");
    }
    assert_eq!(world.simulator.request_count(), 0);
}

#[tokio::test]
async fn a_stream_that_makes_no_sense_is_refused_by_the_field_at_fault() {
    let mut world = World::new().await;
    let one = || generate("1-0", "one");
    let nameless = v1::SubmitVendorBatchRequest { batch_key: String::new(), ..first(MODEL, vec![one()]) };
    for (pieces, field) in [
        (vec![], "items"),
        (vec![first(MODEL, vec![])], "items"),
        (vec![more(vec![one()])], "target"),
        (vec![nameless], "batch_key"),
        (vec![first(MODEL, vec![one()]), first(MODEL, vec![])], "target"),
        (vec![first(MODEL, vec![one()]), more(vec![one()])], "items[1].item_key"),
        (vec![first(MODEL, vec![one(), generate("a b", "two")])], "items[1].item_key"),
        (vec![first(MODEL, vec![one(), embed("1-1")])], "items[1].request"),
    ] {
        let status = world.submit(pieces).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status}");
        assert!(status.message().starts_with(field), "{field}: {status}");
    }
    let elsewhere =
        v1::GetVendorBatchRequest { target: Some(target(MODEL)), vendor_batch_id: "../files".to_owned() };
    let status = world.client.get_vendor_batch(elsewhere).await.unwrap_err();
    assert!(status.message().starts_with("vendor_batch_id"), "{status}");
    assert_eq!(world.simulator.request_count(), 0);
}

#[tokio::test]
async fn a_stopped_batch_says_which_items_were_stopped() {
    let mut world = World::new().await;
    let create = Match::vendor(Vendor::Openai).at(Place::Create);
    world.simulator.set_fault(create, Fault::parse("hold=1").unwrap(), Times::First(1));
    let items = vec![generate("1-0", "one"), generate("1-1", "two")];
    let id = world.submit(vec![first(MODEL, items)]).await.unwrap().batch.unwrap().vendor_batch_id;
    world
        .client
        .get_vendor_batch(v1::GetVendorBatchRequest {
            target: Some(target(MODEL)),
            vendor_batch_id: id.clone(),
        })
        .await
        .unwrap();
    let cancel = v1::CancelVendorBatchRequest { target: Some(target(MODEL)), vendor_batch_id: id.clone() };
    world.client.cancel_vendor_batch(cancel).await.unwrap();
    world.end(target(MODEL), &id).await;
    let results = world.results(target(MODEL), &id).await;
    let cancelled = |outcome: &&Outcome| matches!(outcome, Outcome::Error(error) if error.kind() == Kind::Cancelled && error.reason == "CANCELLED");
    assert_eq!((results.len(), results.values().filter(cancelled).count()), (2, 1), "{results:?}");
}
