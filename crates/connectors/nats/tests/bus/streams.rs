//! Making the streams, and finding them otherwise.

use crate::support::{Forwarding, append, connect, consumer, ids, is_empty, jetstream, receive, spool};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};
use futures_util::future::join_all;
use signalbox_nats::{ConsumerOptions, StreamOptions, UsageConsumer};
use signalbox_testkit::{NatsServer, eventually};
use std::time::Duration;

#[tokio::test]
async fn several_processes_make_the_streams_at_once() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let makers = (0..8).map(|_| async { consumer(&nats).prepare().await });
    for made in join_all(makers).await {
        made.unwrap();
    }
    let context = jetstream(&server.url()).await;
    let usage = context.get_stream("USAGE").await.unwrap().cached_info().config.clone();
    assert_eq!((usage.retention, usage.discard), (RetentionPolicy::WorkQueue, DiscardPolicy::New));
    assert_eq!((usage.num_replicas, usage.duplicate_window), (1, Duration::from_secs(600)));
    context.get_stream("USAGE_DEAD").await.unwrap();
}

#[tokio::test]
async fn a_stream_is_brought_in_line_where_that_is_possible() {
    let server = NatsServer::start().await;
    let context = jetstream(&server.url()).await;
    let found = Config {
        name: "USAGE".to_owned(),
        subjects: vec!["signalbox.usage.v1.*".to_owned()],
        retention: RetentionPolicy::WorkQueue,
        max_age: Duration::from_secs(3600),
        duplicate_window: Duration::from_secs(5),
        max_bytes: 1 << 30,
        ..Config::default()
    };
    context.create_stream(found).await.unwrap();
    let nats = connect(vec![server.url()]).await;
    consumer(&nats).prepare().await.unwrap();
    let usage = context.get_stream("USAGE").await.unwrap().cached_info().config.clone();
    assert_eq!((usage.max_age, usage.discard), (Duration::ZERO, DiscardPolicy::New));
    assert_eq!((usage.duplicate_window, usage.max_bytes), (Duration::from_secs(600), 1 << 30));
    assert!(usage.republish.is_some());
}

#[tokio::test]
async fn a_stream_that_loses_what_nobody_read_is_refused_and_accounts_wait() {
    let server = NatsServer::start().await;
    let context = jetstream(&server.url()).await;
    let limits = Config {
        name: "USAGE".to_owned(),
        subjects: vec!["signalbox.usage.v1.*".to_owned()],
        ..Config::default()
    };
    context.create_stream(limits).await.unwrap();
    let nats = connect(vec![server.url()]).await;
    let error = consumer(&nats).prepare().await.unwrap_err().to_string();
    assert!(error.contains("USAGE") && error.contains("retention Limits"), "{error}");

    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    append(&spool, ids("e", 10));
    let forwarding = Forwarding::start(&nats, spool.clone());
    context.delete_stream("USAGE").await.unwrap();
    eventually("the accounts are sent once it is gone", || is_empty(&spool)).await;
    assert_eq!(receive(&mut consumer(&nats), 10).await.len(), 10);
    forwarding.drain().await;
}

#[tokio::test]
async fn a_full_stream_takes_no_more_and_the_rest_waits_in_the_spool() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    append(&spool, ids("e", 1000));
    let streams = StreamOptions { max_bytes: Some(40_000), ..StreamOptions::default() };
    let forwarding = Forwarding::with(&nats, spool.clone(), streams.clone());
    let mut bus = UsageConsumer::new(nats.clone(), ConsumerOptions { streams, ..ConsumerOptions::default() });
    bus.prepare().await.unwrap();
    let context = jetstream(&server.url()).await;
    eventually("the stream is full", || async {
        context.get_stream("USAGE").await.is_ok_and(|stream| stream.cached_info().state.bytes > 39_000)
    })
    .await;
    assert!(!is_empty(&spool).await);
    let store = crate::support::ingest(bus, 1000, 100).await;
    store.assert_has_exactly(ids("e", 1000));
    eventually("the spool is empty", || is_empty(&spool)).await;
    forwarding.drain().await;
}

#[tokio::test]
async fn more_copies_than_servers_is_told() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let streams = StreamOptions { replicas: Some(3), ..StreamOptions::default() };
    let mut bus = UsageConsumer::new(nats, ConsumerOptions { streams, ..ConsumerOptions::default() });
    let error = bus.prepare().await.unwrap_err().to_string();
    assert!(error.contains("USAGE") && error.contains("replicas"), "{error}");
}
