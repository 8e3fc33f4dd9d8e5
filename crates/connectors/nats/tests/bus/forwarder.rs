//! What the forwarder makes of deaths, drains and entries that are no events.

use crate::support::{Forwarding, append, connect, consumer, id, ids, is_empty, jetstream, receive, spool};
use signalbox_api::v1::UsageEvent;
use signalbox_kit::{Clock as _, SystemClock};
use signalbox_nats::{ConsumerOptions, StreamOptions, UsageConsumer};
use signalbox_ports::{Entry, Outbox, Position, UsageBus as _, UsageLog as _};
use signalbox_testkit::{NatsServer, eventually};
use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

#[tokio::test]
async fn what_a_process_left_behind_is_sent_by_the_next_one_marked_and_counted_once() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    append(&before, ids("e", 3000));
    let forwarding = Forwarding::start(&nats, before.clone());
    let mut bus = consumer(&nats);
    let first = receive(&mut bus, 100).await;
    forwarding.kill().await;
    drop(before);

    let after = spool(dir.path());
    let left: Vec<_> = after.read(None, 10_000).unwrap();
    append(&after, ids("new", 10));
    let forwarding = Forwarding::start(&nats, after.clone());
    let rest = receive(&mut bus, 3010 - first.len()).await;
    let mut seen: Vec<_> = first.iter().chain(&rest).map(|delivery| id(&delivery.payload)).collect();
    seen.sort();
    let mut all: Vec<_> = ids("e", 3000).chain(ids("new", 10)).collect();
    all.sort();
    assert_eq!(seen, all, "the stream knew those again that were sent twice");
    let marked = rest.iter().filter(|delivery| delivery.again).count();
    assert!(marked <= left.len());
    assert!(!rest.last().unwrap().again, "what is new is not marked");
    forwarding.drain().await;
    assert!(is_empty(&after).await);
}

#[tokio::test]
async fn a_drain_sends_what_is_left() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    append(&spool, ids("e", 5000));
    Forwarding::start(&nats, spool.clone()).drain().await;
    assert!(is_empty(&spool).await);
    assert_eq!(receive(&mut consumer(&nats), 5000).await.len(), 5000);
}

#[tokio::test]
async fn a_drain_does_not_wait_for_servers_that_are_away() {
    let mut server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    server.kill().await;
    eventually("the loss is noticed", || async { !nats.is_connected() }).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    append(&spool, ids("e", 5));
    let ended = Forwarding::start(&nats, spool.clone()).drain();
    tokio::time::timeout(Duration::from_secs(15), ended).await.unwrap();
    assert!(!is_empty(&spool).await, "they are sent at the next start");
}

#[tokio::test]
async fn how_long_accounts_wait_is_seen_while_nothing_can_be_sent() {
    let mut server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    server.kill().await;
    eventually("the loss is noticed", || async { !nats.is_connected() }).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let ended = SystemClock.now() - Duration::from_secs(100);
    spool.append(&UsageEvent { end_time: Some(ended.into()), ..crate::support::event("e") }).unwrap();
    let forwarding = Forwarding::start(&nats, spool.clone());
    eventually("it is more than a minute", || async {
        let text = signalbox_kit::telemetry::metrics::text();
        let behind =
            text.lines().find_map(|line| line.strip_prefix("signalbox_usage_forward_behind_seconds "));
        behind.is_some_and(|seconds| seconds.parse::<u64>().unwrap() >= 100)
    })
    .await;
    forwarding.kill().await;
}

/// A log that holds anything.
#[derive(Debug)]
struct Anything(Mutex<Vec<Entry>>);

impl Anything {
    fn of(payloads: &[(&[u8], bool)]) -> Arc<Self> {
        let entries = payloads.iter().zip(1..).map(|((payload, again), position)| Entry {
            position: Position(position),
            payload: payload.to_vec(),
            again: *again,
        });
        Arc::new(Self(Mutex::new(entries.collect())))
    }
}

#[async_trait::async_trait]
impl Outbox for Anything {
    fn last(&self) -> Position {
        self.0.lock().unwrap().last().map_or(Position(0), |entry| entry.position)
    }

    async fn wait(&self, patience: Duration) {
        tokio::time::sleep(patience).await;
    }

    fn read(&self, after: Option<Position>, most: usize) -> io::Result<Vec<Entry>> {
        let entries = self.0.lock().unwrap();
        let later = entries.iter().filter(|entry| after.is_none_or(|after| entry.position > after));
        Ok(later.take(most).cloned().collect())
    }

    fn confirm(&self, through: Position) -> io::Result<()> {
        self.0.lock().unwrap().retain(|entry| entry.position > through);
        Ok(())
    }
}

#[tokio::test]
async fn an_entry_that_is_no_event_reaches_the_ingester_and_holds_nothing_up() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let huge = vec![0xff; 3 << 20];
    let good = prost::Message::encode_to_vec(&crate::support::event("good"));
    let log = Anything::of(&[(b"\xff\xff", false), (&huge, false), (b"", false), (&good, false)]);
    let forwarding = Forwarding::start(&nats, log.clone());
    let received = receive(&mut consumer(&nats), 4).await;
    assert_eq!(received[0].payload, b"\xff\xff");
    assert!(huge.starts_with(&received[1].payload) && received[1].payload.len() > 500_000);
    assert_eq!((received[2].payload.as_slice(), received[3].payload.as_slice()), (&b""[..], good.as_slice()));
    forwarding.drain().await;
    assert!(log.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_copy_that_the_servers_do_not_know_again_waits_until_the_first_is_stored() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let streams = StreamOptions { duplicate_window: Duration::from_millis(500), ..StreamOptions::default() };
    let options = ConsumerOptions { streams: streams.clone(), ..ConsumerOptions::default() };
    let mut bus = UsageConsumer::new(nats.clone(), options);
    let event = prost::Message::encode_to_vec(&crate::support::event("twice"));
    Forwarding::with(&nats, Anything::of(&[(&event, false)]), streams.clone()).drain().await;
    let first = receive(&mut bus, 1).await;
    assert!(!first[0].again);

    // The same once more, after the window, as by a process that died before it was confirmed.
    let context = jetstream(&server.url()).await;
    let copies = || async { context.get_stream("USAGE").await.unwrap().cached_info().state.messages };
    eventually("the servers take it a second time", || async {
        Forwarding::with(&nats, Anything::of(&[(&event, true)]), streams.clone()).drain().await;
        copies().await == 2
    })
    .await;
    for _ in 0..3 {
        assert_eq!(bus.receive(10, Duration::from_millis(100)).await.unwrap(), []);
    }
    bus.acknowledge(&[first[0].sequence]).await.unwrap();
    let second = receive(&mut bus, 1).await;
    assert!(second[0].again && second[0].payload == event);
}
