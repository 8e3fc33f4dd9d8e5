//! A server that is killed while events go through it.

use crate::support::{
    ACK_WAIT, Forwarding, SOON, append, connect, consumer, id, ids, ingest, is_empty, receive, sequences,
    spool,
};
use signalbox_ports::UsageBus as _;
use signalbox_testkit::{NatsServer, eventually};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_again_and_again_loses_nothing_and_doubles_nothing() {
    const EACH: usize = 2000;
    let mut server = NatsServer::start().await;
    let (writer_nats, reader_nats) = (connect(vec![server.url()]).await, connect(vec![server.url()]).await);
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let forwarding = Forwarding::start(&writer_nats, spool.clone());
    let ingesting = tokio::spawn(ingest(consumer(&reader_nats), 5 * EACH, 300));
    for round in 0..4 {
        append(&spool, ids(&format!("r{round}-"), EACH));
        let some_went = Arc::clone(&spool);
        let waiting = some_went.waiting_bytes();
        eventually("some are on their way", || async { spool.waiting_bytes() < waiting }).await;
        server.kill().await;
        eventually("the loss is noticed", || async { !writer_nats.is_connected() }).await;
        server.restart().await;
    }
    append(&spool, ids("r4-", EACH));
    let store = ingesting.await.unwrap();
    store.assert_has_exactly(
        (0..5).flat_map(|round| {
            ids("", EACH).map(move |number| format!("r{round}-{number}")).collect::<Vec<_>>()
        }),
    );
    eventually("the spool is empty", || is_empty(&spool)).await;
    forwarding.drain().await;
}

#[tokio::test]
async fn a_server_that_forgot_what_it_delivered_is_not_believed() {
    let mut server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let forwarding = Forwarding::start(&nats, spool.clone());
    let mut storing = consumer(&nats);
    storing.prepare().await.unwrap();
    append(&spool, ids("e", 100));
    let first = receive(&mut storing, 100).await;
    assert!(first.iter().all(|delivery| !delivery.again));
    storing.extend(&sequences(&first)).await.unwrap();
    eventually("the spool is empty", || is_empty(&spool)).await;

    server.kill().await;
    server.restart().await;
    eventually("the server is back", || async { nats.is_connected() }).await;
    let back = Instant::now();
    let mut other = consumer(&nats);
    append(&spool, ids("new", 10));
    let mut seen = BTreeSet::new();
    while seen.len() < 110 {
        let received = other.receive(200, Duration::from_millis(100)).await.unwrap_or_default();
        let old = received.iter().filter(|delivery| id(&delivery.payload).starts_with('e'));
        for delivery in old {
            assert!(delivery.again && back.elapsed() >= ACK_WAIT, "the first may still be storing it");
        }
        other.acknowledge(&sequences(&received)).await.unwrap();
        seen.extend(received.iter().map(|delivery| id(&delivery.payload)));
        assert!(back.elapsed() < SOON * 2, "{} came", seen.len());
    }
    let away = storing.extend(&sequences(&first)).await.unwrap_err();
    assert!(away.to_string().contains("another ingester"), "{away}");
    forwarding.drain().await;
}

#[tokio::test]
async fn an_ingester_that_starts_anew_trusts_a_server_that_was_there_all_the_time() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let forwarding = Forwarding::start(&nats, spool.clone());
    consumer(&nats).prepare().await.unwrap();
    append(&spool, ids("e", 100));
    eventually("the spool is empty", || is_empty(&spool)).await;
    let received = receive(&mut consumer(&nats), 100).await;
    assert!(received.iter().all(|delivery| !delivery.again));
    forwarding.drain().await;
}

#[tokio::test]
async fn events_written_while_no_server_is_there_arrive_once_it_is() {
    let mut server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    server.kill().await;
    eventually("the loss is noticed", || async { !nats.is_connected() }).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let forwarding = Forwarding::start(&nats, spool.clone());
    let started = Instant::now();
    append(&spool, ids("e", 1000));
    assert!(started.elapsed() < Duration::from_secs(1), "writing does not wait for NATS");
    server.restart().await;
    ingest(consumer(&nats), 1000, 100).await.assert_has_exactly(ids("e", 1000));
    forwarding.drain().await;
}
