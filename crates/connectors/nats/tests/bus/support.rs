//! A spool, a forwarder, an ingester.

use prost::Message as _;
use signalbox_api::v1::UsageEvent;
use signalbox_kit::SystemClock;
use signalbox_nats::{
    ConsumerOptions, Forwarder, ForwarderOptions, Nats, NatsOptions, StreamOptions, UsageConsumer,
};
use signalbox_ports::{Delivery, Outbox, UsageBus, UsageLog};
use signalbox_spool::{Options, Spool};
use signalbox_testkit::eventually;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Longer than anything takes that does not hang.
pub(crate) const SOON: Duration = Duration::from_secs(20);

pub(crate) async fn connect(servers: Vec<String>) -> Nats {
    let nats = Nats::connect(NatsOptions { servers, name: "test".to_owned(), ..NatsOptions::default() });
    let nats = nats.await.unwrap();
    eventually("NATS is connected", || async { nats.is_connected() }).await;
    nats
}

pub(crate) fn event(id: &str) -> UsageEvent {
    let tenant_id = "acme.eu".to_owned();
    UsageEvent { event_id: id.to_owned(), tenant_id, schema_version: 1, ..UsageEvent::default() }
}

pub(crate) fn id(payload: &[u8]) -> String {
    UsageEvent::decode(payload).unwrap().event_id
}

pub(crate) fn spool(dir: &Path) -> Arc<Spool> {
    Arc::new(
        Spool::open(Options {
            dir: dir.to_owned(),
            max_bytes: 1 << 30,
            segment_bytes: 1 << 20,
            readers: &[],
        })
        .unwrap(),
    )
}

pub(crate) fn append(spool: &Spool, ids: impl IntoIterator<Item = String>) {
    for id in ids {
        spool.append(&event(&id)).unwrap();
    }
}

pub(crate) fn ids(prefix: &str, count: usize) -> impl Iterator<Item = String> + use<'_> {
    (0..count).map(move |number| format!("{prefix}{number}"))
}

/// A forwarder at work.
pub(crate) struct Forwarding {
    task: JoinHandle<()>,
    drain: CancellationToken,
}

impl Forwarding {
    pub(crate) fn start(nats: &Nats, outbox: Arc<dyn Outbox>) -> Self {
        Self::with(nats, outbox, StreamOptions::default())
    }

    pub(crate) fn with(nats: &Nats, outbox: Arc<dyn Outbox>, streams: StreamOptions) -> Self {
        let clock = Arc::new(SystemClock);
        let options = ForwarderOptions { in_flight: 500, streams, clock, seed: 1 };
        let drain = CancellationToken::new();
        let task = tokio::spawn(Forwarder::new(nats.clone(), outbox, options).run(drain.clone()));
        Self { task, drain }
    }

    /// As a process ends that is told to.
    pub(crate) async fn drain(self) {
        self.drain.cancel();
        self.task.await.unwrap();
    }

    /// As a process ends that is killed.
    pub(crate) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

/// How long a delivery is an ingester's own here.
pub(crate) const ACK_WAIT: Duration = Duration::from_secs(4);

pub(crate) fn consumer(nats: &Nats) -> UsageConsumer {
    UsageConsumer::new(nats.clone(), ConsumerOptions { ack_wait: ACK_WAIT, ..ConsumerOptions::default() })
}

/// A store that counts an event once, as far as it is told which may have come before.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) times: BTreeMap<String, u32>,
}

impl Store {
    /// Those marked are looked up, the others are not.
    pub(crate) fn insert(&mut self, deliveries: &[Delivery]) {
        for delivery in deliveries {
            let id = id(&delivery.payload);
            if !(delivery.again && self.times.contains_key(&id)) {
                *self.times.entry(id).or_default() += 1;
            }
        }
    }

    pub(crate) fn assert_has_exactly(&self, ids: impl IntoIterator<Item = String>) {
        let wanted: BTreeSet<String> = ids.into_iter().collect();
        let missing: Vec<_> = wanted.iter().filter(|id| !self.times.contains_key(*id)).take(5).collect();
        assert!(missing.is_empty(), "missing, of {}: {missing:?}", wanted.len());
        let twice: Vec<_> = self.times.iter().filter(|(_, times)| **times > 1).take(5).collect();
        assert!(twice.is_empty(), "more than once: {twice:?}");
        assert_eq!(self.times.len(), wanted.len());
    }
}

/// Stores and acknowledges, through all failures, until there are `count` events.
pub(crate) async fn ingest(mut bus: impl UsageBus, count: usize, most: usize) -> Store {
    let mut store = Store::default();
    let work = async {
        while store.times.len() < count {
            let Ok(deliveries) = bus.receive(most, Duration::from_millis(100)).await else { continue };
            store.insert(&deliveries);
            let _comes_again = bus.acknowledge(&sequences(&deliveries)).await;
        }
    };
    if tokio::time::timeout(SOON * 2, work).await.is_err() {
        panic!("{} of {count} events came", store.times.len());
    }
    store
}

pub(crate) fn sequences(deliveries: &[Delivery]) -> Vec<u64> {
    deliveries.iter().map(|delivery| delivery.sequence).collect()
}

/// Receives until there are `count`.
pub(crate) async fn receive(bus: &mut impl UsageBus, count: usize) -> Vec<Delivery> {
    let mut received = Vec::new();
    let work = async {
        while received.len() < count {
            let more =
                bus.receive(count - received.len(), Duration::from_millis(200)).await.unwrap_or_default();
            received.extend(more);
        }
    };
    if tokio::time::timeout(SOON * 2, work).await.is_err() {
        panic!("{} of {count} came", received.len());
    }
    received
}

/// Nothing waits in it. Reading would mark what is read.
pub(crate) async fn is_empty(spool: &Spool) -> bool {
    spool.waiting_bytes() == 0
}

/// The servers' own view of things.
pub(crate) async fn jetstream(url: &str) -> async_nats::jetstream::Context {
    async_nats::jetstream::new(async_nats::connect(url).await.unwrap())
}
