//! Three servers, of which one dies.

use crate::support::{Forwarding, append, connect, consumer, event, ids, ingest, is_empty, spool};
use signalbox_nats::Nats;
use signalbox_ports::UsageLog as _;
use signalbox_spool::Spool;
use signalbox_testkit::{NatsCluster, eventually, eventually_some};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const EVENTS: usize = 4000;

/// The server that leads the stream.
async fn leader(url: &str) -> Option<String> {
    let context = crate::support::jetstream(url).await;
    let stream = context.get_stream("USAGE").await.ok()?;
    let info = stream.cached_info();
    assert_eq!(info.config.num_replicas, 3);
    info.cluster.as_ref()?.leader.clone()
}

async fn prepared(nats: &Nats) {
    eventually("the cluster makes the streams", || async { consumer(nats).prepare().await.is_ok() }).await;
}

/// The longest time in which entries waited and none was acknowledged, until there are no more for a while.
async fn longest_stall(spool: Arc<Spool>) -> Duration {
    let (mut longest, mut since, mut before) = (Duration::ZERO, Instant::now(), 0);
    let mut idle = 0;
    while idle < 100 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let waiting = spool.waiting_bytes();
        idle = if waiting == 0 { idle + 1 } else { 0 };
        if waiting == 0 || waiting < before {
            longest = longest.max(since.elapsed());
            since = Instant::now();
        }
        before = waiting;
    }
    longest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_death_of_the_streams_leader_loses_nothing_and_holds_no_request_up() {
    let mut cluster = NatsCluster::start().await;
    let (writer_nats, reader_nats) = (connect(cluster.urls()).await, connect(cluster.urls()).await);
    prepared(&writer_nats).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let forwarding = Forwarding::start(&writer_nats, spool.clone());
    let ingesting = tokio::spawn(ingest(consumer(&reader_nats), EVENTS + 1, 500));
    append(&spool, ["first".to_owned()]);
    eventually("the first is acknowledged", || is_empty(&spool)).await;

    let url = cluster.urls().remove(0);
    let leader = eventually_some("the stream has a leader", || leader(&url)).await;
    // A request's end, every half millisecond: what it waits for its account is what the spool takes.
    let mut longest = Duration::ZERO;
    let mut pace = tokio::time::interval(Duration::from_micros(500));
    let mut killed = None;
    let stall = tokio::spawn(longest_stall(spool.clone()));
    for (number, id) in ids("e", EVENTS).enumerate() {
        pace.tick().await;
        if number == EVENTS / 4 {
            cluster.node(&leader).kill().await;
            killed = Some(Instant::now());
        }
        let started = Instant::now();
        spool.append(&event(&id)).unwrap();
        longest = longest.max(started.elapsed());
    }
    assert!(longest < Duration::from_secs(1), "a request waited {longest:?}");

    let mut all: Vec<_> = ids("e", EVENTS).collect();
    all.push("first".to_owned());
    ingesting.await.unwrap().assert_has_exactly(all);
    let behind = killed.unwrap().elapsed();
    eventually("the spool is empty", || is_empty(&spool)).await;
    println!("longest wait of a request {longest:?}; all stored {behind:?} after the leader's death");
    println!("no acknowledgement for {:?}", stall.await.unwrap());
    forwarding.drain().await;
}
