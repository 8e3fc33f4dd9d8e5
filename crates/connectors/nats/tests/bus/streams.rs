//! Making the streams, and finding them otherwise.

use crate::support::{
    Forwarding, SOON, append, connect, consumer, ids, is_empty, jetstream, receive, sequences, spool,
};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};
use futures_util::{StreamExt as _, future::join_all};
use signalbox_api::v1::dead_letter::Reason;
use signalbox_nats::{ConsumerOptions, Nats, NatsDeadLetters, NatsOptions, StreamOptions, UsageConsumer};
use signalbox_ports::{Chosen, DeadLetters as _, UsageBus as _};
use signalbox_testkit::{NatsServer, eventually};
use std::time::Duration;
use tokio::time::timeout;

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

/// As docs/configuration.md says what a user needs.
const USERS: &str = r#"
authorization {
  user: signalbox
  password: secret
  permissions {
    publish: ["signalbox.>", "_INBOX.>", "$JS.API.>", "$JS.ACK.>"]
    subscribe: ["signalbox.>", "_INBOX.>"]
  }
}
"#;

#[tokio::test]
async fn a_user_with_the_documented_leave_can_do_everything() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("nats.conf");
    std::fs::write(&file, USERS).unwrap();
    let server = NatsServer::with(&["--config", file.to_str().unwrap()]).await;
    let login = Some(("signalbox".to_owned(), "secret".to_owned()));
    let options = NatsOptions { servers: vec![server.url()], login, ..NatsOptions::default() };
    let nats = Nats::connect(options).await.unwrap();
    eventually("NATS is connected", || async { nats.is_connected() }).await;

    let mut bus = consumer(&nats);
    bus.prepare().await.unwrap();
    let tail = nats.follow_usage().await.unwrap();
    let spool = spool(dir.path());
    append(&spool, ids("e", 10));
    let forwarding = Forwarding::start(&nats, spool);
    let received = receive(&mut bus, 10).await;
    bus.extend(&sequences(&received)).await.unwrap();
    bus.acknowledge(&sequences(&received)).await.unwrap();
    let letters = NatsDeadLetters::new(&nats, StreamOptions::default());
    letters.set_aside(crate::dead::letter(1, Reason::Malformed)).await.unwrap();
    assert_eq!(letters.replay(&Chosen::Reason(Reason::Malformed)).await.unwrap(), 1);
    assert_eq!(receive(&mut bus, 1).await.len(), 1);
    assert_eq!(timeout(SOON, tail.take(11).count()).await.unwrap(), 11);
    assert!(nats.publish_alert(&StreamOptions::default(), "a1", Vec::new()).await.unwrap());
    forwarding.drain().await;
}
