//! Batches at the simulated vendors: handed over, looked at, stopped, read, and never handed over twice.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

use futures_util::TryStreamExt as _;
use signalbox_ports::{
    VendorApi, VendorTarget,
    vendor_batch::{BatchAsk, ItemOutcome, ItemResult, Parcel, VendorBatch, VendorBatchState, VendorBatches},
};
use signalbox_types::{
    EmbedRequest, ErrorReason, Failure, Message, ModelFacts, Part, Prompt, Role, UsageSource, VendorKind,
};
use signalbox_vendors::{Bulkhead, HttpVendor, Timeouts, VendorConfig};
use signalbox_vendorsim::{Fault, Match, Place, Simulator, Times, Vendor};
use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
    time::{Duration, SystemTime},
};

static FACTS: LazyLock<ModelFacts> = LazyLock::new(ModelFacts::default);

/// Every vendor that has a batch endpoint, as it is simulated.
const ALL: [Kind; 4] = [
    Kind { kind: VendorKind::Openai, sim: Vendor::Openai, path: "openai", model: "gpt-4o-mini" },
    Kind {
        kind: VendorKind::Anthropic,
        sim: Vendor::Anthropic,
        path: "anthropic",
        model: "claude-haiku-5-5",
    },
    Kind { kind: VendorKind::Gemini, sim: Vendor::Gemini, path: "gemini", model: "gemini-2.5-flash" },
    Kind { kind: VendorKind::Xai, sim: Vendor::Xai, path: "xai", model: "grok-4.3" },
];

#[derive(Debug, Clone, Copy)]
struct Kind {
    kind: VendorKind,
    sim: Vendor,
    path: &'static str,
    model: &'static str,
}

impl Kind {
    /// How many of the answers that were made come back of a batch that was cut short.
    fn kept(self, made: usize) -> usize {
        if self.kind == VendorKind::Gemini { 0 } else { made }
    }
}

/// A vendor of a kind, and its simulator.
struct Bench {
    of: Kind,
    simulator: Simulator,
    vendor: HttpVendor,
}

impl Bench {
    async fn new(of: Kind) -> Self {
        let simulator = Simulator::builder().clock(now).bind("127.0.0.1:0").await.unwrap();
        let long = Duration::from_secs(30);
        let config = VendorConfig {
            name: "acme".to_owned(),
            kind: of.kind,
            base_url: Some(simulator.base_url(of.path)),
            api_key: Some("sk-hunter2".to_owned()),
            timeouts: Timeouts { connect: long, first_byte: long, idle: long, total: long },
            max_concurrency: 4,
            max_queue: 4,
            simulated: true,
        };
        let bulkhead = Bulkhead::for_vendor(&config);
        Self { of, simulator, vendor: HttpVendor::new(config, bulkhead).unwrap() }
    }

    fn batches(&self) -> &dyn VendorBatches {
        self.vendor.batches().unwrap()
    }

    fn target(&self) -> VendorTarget<'_> {
        VendorTarget { model: self.of.model, facts: &FACTS, timeout: None }
    }

    /// A parcel of items with these keys.
    fn parcel(&self, key: &str, items: impl IntoIterator<Item = String>) -> Parcel {
        let prompt = |item: &str| Prompt {
            messages: vec![Message { role: Role::User, parts: vec![Part::text(format!("say {item}"))] }],
            max_output_tokens: Some(64),
            ..Prompt::default()
        };
        let encode = |item: String| {
            self.batches().encode(self.target(), &item, BatchAsk::Generate(&prompt(&item))).unwrap()
        };
        Parcel { key: key.to_owned(), maybe_since: None, items: items.into_iter().map(encode).collect() }
    }

    async fn submit(&self, parcel: Parcel) -> Result<VendorBatch, Failure> {
        self.batches().submit(self.target(), parcel).await
    }

    async fn get(&self, batch: &VendorBatch) -> VendorBatch {
        self.batches().get(&batch.id, None).await.unwrap()
    }

    /// Looks at a batch until it has ended: it moves on as it is looked at.
    async fn end(&self, batch: &VendorBatch) -> VendorBatch {
        for _ in 0..100 {
            let batch = self.get(batch).await;
            if matches!(batch.state, VendorBatchState::Ended | VendorBatchState::Refused) {
                return batch;
            }
        }
        panic!("{}: batch {} does not end", self.of.kind, batch.id)
    }

    async fn results(&self, batch: &VendorBatch) -> BTreeMap<String, ItemOutcome> {
        let results = self.batches().results(&batch.id, HashMap::new()).await.unwrap();
        let results: Vec<ItemResult> = results.try_collect().await.unwrap();
        let count = results.len();
        let results: BTreeMap<_, _> =
            results.into_iter().map(|result| (result.key, result.outcome)).collect();
        assert_eq!(results.len(), count, "{}: each item once", self.of.kind);
        results
    }

    fn fault(&self, place: Place, fault: &str) {
        let matching = Match::vendor(self.of.sim).at(place);
        self.simulator.set_fault(matching, Fault::parse(fault).unwrap(), Times::First(1));
    }
}

/// The vendors' clock, which stands still: 2026-11-29T12:00:00Z.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_953_600)
}

fn keys(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|item| format!("1-{item}"))
}

/// A parcel that may have been handed over a minute ago.
fn again(parcel: &Parcel) -> Parcel {
    Parcel { maybe_since: Some(now() - Duration::from_mins(1)), ..parcel.clone() }
}

fn answers(results: &BTreeMap<String, ItemOutcome>) -> usize {
    results.values().filter(|outcome| matches!(outcome, ItemOutcome::Answer(_))).count()
}

#[tokio::test]
async fn every_item_of_a_batch_comes_to_its_own_end() {
    for of in ALL {
        let bench = Bench::new(of).await;
        bench.fault(Place::Item, "kind=context");
        let batch = bench.submit(bench.parcel("w-1", keys(3))).await.unwrap();
        let batch = bench.end(&batch).await;
        let told = (batch.state, batch.total, batch.succeeded, batch.failed);
        assert_eq!(told, (VendorBatchState::Ended, 3, 2, 1), "{}", of.kind);
        assert!(batch.created.is_some() && batch.refusal.is_none(), "{batch:?}");

        let results = bench.results(&batch).await;
        assert_eq!(results.keys().cloned().collect::<Vec<_>>(), keys(3).collect::<Vec<_>>(), "{}", of.kind);
        for (key, outcome) in &results {
            match outcome {
                ItemOutcome::Answer(answer) => {
                    assert!(
                        matches!(answer.parts.as_slice(), [Part::Text { text, .. }] if text.contains(key.as_str())),
                        "{}: {answer:?}",
                        of.kind
                    );
                    assert_eq!(answer.usage.source, UsageSource::Vendor);
                }
                ItemOutcome::Failed(failure) => {
                    assert_eq!(failure.reason, ErrorReason::ContextLengthExceeded, "{failure}");
                }
                outcome => panic!("{}: {outcome:?}", of.kind),
            }
        }
        assert_eq!(answers(&results), 2);
    }
}

#[tokio::test]
async fn a_batch_that_was_handed_over_is_found_and_not_handed_over_again() {
    for of in ALL {
        let bench = Bench::new(of).await;
        // As large as ours, and somebody else's.
        let other = bench.submit(bench.parcel("w-0", (0..3).map(|item| format!("2-{item}")))).await.unwrap();
        bench.end(&other).await;
        let parcel = bench.parcel("w-1", keys(3));
        bench.fault(Place::Create, "lost");
        let failure = bench.submit(parcel.clone()).await.unwrap_err();
        assert_eq!(failure.reason, ErrorReason::VendorUnreachable, "{failure}");

        let found = match bench.submit(again(&parcel)).await {
            Ok(found) => found,
            // Which of two it is can be told once it has ended, where batches have no names.
            Err(failure) => {
                assert_eq!((of.kind, failure.reason), (VendorKind::Anthropic, ErrorReason::VendorBusy));
                assert!(failure.retry_after.is_some());
                bench.submit(again(&parcel)).await.unwrap()
            }
        };
        assert_ne!(found.id, other.id);
        let found = bench.end(&found).await;
        assert_eq!(answers(&bench.results(&found).await), 3);
        assert_eq!(bench.simulator.batches().len(), 2, "{}: no third", of.kind);
    }
}

#[tokio::test]
async fn a_batch_that_never_arrived_is_handed_over_after_a_look() {
    for of in ALL {
        let bench = Bench::new(of).await;
        let other = bench.submit(bench.parcel("w-0", (0..3).map(|item| format!("2-{item}")))).await.unwrap();
        bench.end(&other).await;
        let mine = bench.submit(again(&bench.parcel("w-1", keys(3)))).await.unwrap();
        assert_ne!(mine.id, other.id, "{}", of.kind);
        assert_eq!(bench.simulator.batches().len(), 2);
    }
}

#[tokio::test]
async fn a_refusal_after_a_look_says_that_the_batch_was_not_there() {
    for of in ALL {
        let bench = Bench::new(of).await;
        bench.fault(Place::Create, "kind=rate");
        let parcel = bench.parcel("w-1", keys(3));
        bench.submit(parcel.clone()).await.unwrap_err();
        bench.fault(Place::Create, "kind=rate");
        let refused = bench.submit(again(&parcel)).await.unwrap();
        let reason = refused.refusal.map(|failure| failure.reason);
        let expected = (VendorBatchState::Refused, "", Some(ErrorReason::VendorRateLimited));
        assert_eq!((refused.state, refused.id.as_str(), reason), expected, "{}", of.kind);
    }
}

#[tokio::test]
async fn nobody_elses_batch_is_taken_for_one_that_has_no_name() {
    let bench = Bench::new(ALL[1]).await;
    bench.fault(Place::Create, "hold");
    bench.submit(bench.parcel("w-0", (0..3).map(|item| format!("2-{item}")))).await.unwrap();
    let parcel = again(&bench.parcel("w-1", keys(3)));
    let failure = bench.submit(parcel.clone()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::VendorBusy);
    assert!(failure.message.contains("may be this one"), "{failure}");

    let smaller = again(&bench.parcel("w-2", keys(2)));
    bench.submit(smaller).await.unwrap();
    let begun_later = Parcel { maybe_since: Some(now() + Duration::from_hours(1)), ..parcel };
    bench.submit(begun_later).await.unwrap();
}

#[tokio::test]
async fn what_was_done_before_a_batch_was_stopped_is_read_where_the_vendor_keeps_it() {
    for of in ALL {
        let bench = Bench::new(of).await;
        bench.fault(Place::Create, "hold=1");
        let batch = bench.submit(bench.parcel("w-1", keys(3))).await.unwrap();
        assert_eq!(bench.get(&batch).await.state, VendorBatchState::Running, "{}", of.kind);
        let failure = bench.batches().results(&batch.id, HashMap::new()).await.err().unwrap();
        assert_eq!(failure.reason, ErrorReason::InvalidRequest, "it has not ended: {failure}");

        let stopped = bench.batches().cancel(&batch.id, None).await.unwrap();
        assert_ne!(stopped.state, VendorBatchState::Running, "{}", of.kind);
        let batch = bench.end(&batch).await;
        assert_eq!(batch.state, VendorBatchState::Ended, "{}: {batch:?}", of.kind);
        let results = bench.results(&batch).await;
        assert_eq!(answers(&results), of.kept(1), "{}", of.kind);
        let others = results.values().filter(|outcome| !matches!(outcome, ItemOutcome::Answer(_)));
        assert!(others.clone().all(|outcome| *outcome == ItemOutcome::Cancelled), "{}: {results:?}", of.kind);

        // One that has ended stays as it is.
        assert_eq!(bench.batches().cancel(&batch.id, None).await.unwrap().state, VendorBatchState::Ended);
    }
}

#[tokio::test]
async fn what_was_done_before_a_batch_expired_is_read_where_the_vendor_keeps_it() {
    for of in ALL {
        let bench = Bench::new(of).await;
        bench.fault(Place::Create, "expire=1");
        let batch = bench.submit(bench.parcel("w-1", keys(3))).await.unwrap();
        let batch = bench.end(&batch).await;
        if of.kind == VendorKind::Gemini {
            // It keeps nothing of it.
            assert_eq!(batch.refusal.unwrap().reason, ErrorReason::DeadlineExceeded);
            continue;
        }
        assert_eq!(batch.state, VendorBatchState::Ended, "{}", of.kind);
        let results = bench.results(&batch).await;
        assert_eq!(answers(&results), of.kept(1), "{}: {results:?}", of.kind);
        if matches!(of.kind, VendorKind::Openai | VendorKind::Anthropic) {
            let expired = results.values().filter(|outcome| **outcome == ItemOutcome::Expired).count();
            assert_eq!(expired, 2, "{}: {results:?}", of.kind);
        }
    }
}

#[tokio::test]
async fn a_batch_that_is_refused_whole_says_why() {
    for of in ALL {
        let bench = Bench::new(of).await;
        bench.fault(Place::Create, "refuse");
        let failure = match bench.submit(bench.parcel("w-1", keys(2))).await {
            Ok(batch) => {
                let batch = bench.end(&batch).await;
                assert_eq!(batch.state, VendorBatchState::Refused, "{}", of.kind);
                assert!(bench.results(&batch).await.is_empty());
                batch.refusal.unwrap()
            }
            // Who looks at it at once refuses it at once.
            Err(failure) => failure,
        };
        assert_eq!(failure.reason, ErrorReason::InvalidRequest, "{}: {failure}", of.kind);
        assert!(failure.message.contains("refused"), "{failure}");
    }
}

#[tokio::test]
async fn results_come_from_as_many_pages_as_there_are() {
    for of in ALL {
        let bench = Bench::new(of).await;
        let batch = bench.submit(bench.parcel("w-1", keys(250))).await.unwrap();
        let batch = bench.end(&batch).await;
        assert_eq!(answers(&bench.results(&batch).await), 250, "{}", of.kind);
    }
}

#[tokio::test]
async fn vectors_come_in_batches_where_the_vendor_takes_them() {
    let bench = Bench::new(Kind { model: "text-embedding-3-small", ..ALL[0] }).await;
    let request = EmbedRequest { inputs: vec!["a".to_owned(), "b".to_owned()], dimensions: None };
    let item = bench.batches().encode(bench.target(), "1-0", BatchAsk::Embed(&request)).unwrap();
    assert_eq!(item.weight, 2);
    let parcel = Parcel { key: "w-1".to_owned(), maybe_since: None, items: vec![item] };
    let batch = bench.submit(parcel).await.unwrap();
    let batch = bench.end(&batch).await;
    match &bench.results(&batch).await["1-0"] {
        ItemOutcome::Vectors(vectors) => assert_eq!(vectors.embeddings.len(), 2),
        outcome => panic!("{outcome:?}"),
    }

    let bench = Bench::new(ALL[2]).await;
    let failure = bench.batches().encode(bench.target(), "1-0", BatchAsk::Embed(&request)).unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Unimplemented, "{failure}");
}

#[tokio::test]
async fn no_failure_of_a_batch_tells_our_key() {
    for of in ALL {
        let bench = Bench::new(of).await;
        bench.fault(Place::Create, "status=401,echo");
        let failure = bench.submit(bench.parcel("w-1", keys(1))).await.unwrap_err();
        assert_eq!(failure.reason, ErrorReason::VendorAuth, "{}: {failure}", of.kind);
        assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
    }
}
