//! Events of which the servers cannot know whether they came before.

use crate::support::{Store, connect, consumer, event, id, jetstream, receive, sequences};
use async_nats::jetstream::{Context, message::PublishMessage};
use prost::Message as _;
use signalbox_api::v1::UsageEvent;
use signalbox_kit::{Clock as _, SystemClock};
use signalbox_nats::{ConsumerOptions, Nats, StreamOptions, UsageConsumer};
use signalbox_ports::UsageBus as _;
use signalbox_testkit::{NatsServer, eventually, eventually_some};
use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

const SUBJECT: &str = "signalbox.usage.v1.acme=2eeu";

/// Publishes as somebody else than a forwarder would. Whether the stream had it already.
async fn publish(context: &Context, event: &UsageEvent, message_id: Option<&str>) -> bool {
    let message = PublishMessage::build().payload(event.encode_to_vec().into());
    let message = message_id.into_iter().fold(message, |message, id| message.message_id(id));
    context.send_publish(SUBJECT, message).await.unwrap().await.unwrap().duplicate
}

fn now(id: &str) -> UsageEvent {
    UsageEvent { end_time: Some(SystemClock.now().into()), ..event(id) }
}

/// Two ingesters that take turns, until nothing is on the bus any more.
async fn ingest(nats: &Nats, context: &Context) -> Store {
    let mut store = Store::default();
    let mut buses = [consumer(nats), consumer(nats)];
    loop {
        for bus in &mut buses {
            let deliveries = bus.receive(1, Duration::from_millis(50)).await.unwrap();
            store.insert(&deliveries);
            bus.acknowledge(&sequences(&deliveries)).await.unwrap();
        }
        let mut stream = context.get_stream("USAGE").await.unwrap();
        if stream.info().await.unwrap().state.messages == 0 {
            return store;
        }
    }
}

#[tokio::test]
async fn an_event_counts_once_whatever_its_message_is_called() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    consumer(&nats).prepare().await.unwrap();
    let context = jetstream(&server.url()).await;
    for (event, names) in [
        (now("named-first"), [Some("named-first"), None, Some("x")]),
        (now("named-last"), [None, Some("y"), Some("named-last")]),
        (now("never-named"), [None, Some("z"), None]),
    ] {
        for name in names {
            assert!(!publish(&context, &event, name).await);
        }
    }
    let store = ingest(&nats, &context).await;
    store.assert_has_exactly(["named-first", "named-last", "never-named"].map(str::to_owned));
    // And it goes on so.
    assert!(publish(&context, &now("never-named"), Some("never-named")).await);
}

#[tokio::test]
async fn an_event_that_ended_before_the_servers_memory_begins_is_looked_for_whoever_sent_it() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let mut bus = consumer(&nats);
    bus.prepare().await.unwrap();
    let context = jetstream(&server.url()).await;
    let ended = |ago: u64| Some((SystemClock.now() - Duration::from_secs(ago)).into());
    let long_ago = UsageEvent { end_time: ended(700), ..event("from-an-archive") };
    publish(&context, &now("new"), Some("new")).await;
    publish(&context, &long_ago, Some("from-an-archive")).await;
    let received = receive(&mut bus, 2).await;
    let again: Vec<_> = received.iter().map(|one| (id(&one.payload), one.again)).collect();
    assert_eq!(again, [("new".to_owned(), false), ("from-an-archive".to_owned(), true)]);
}

#[tokio::test]
async fn what_can_neither_be_stored_nor_set_aside_holds_up_no_event_in_doubt() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let streams = StreamOptions { duplicate_window: Duration::from_millis(500), ..StreamOptions::default() };
    let mut bus = UsageConsumer::new(nats.clone(), ConsumerOptions { streams, ..ConsumerOptions::default() });
    bus.prepare().await.unwrap();
    let context = jetstream(&server.url()).await;
    publish(&context, &event("poison"), Some("poison")).await;
    let poison = receive(&mut bus, 1).await;
    let doubtful = UsageEvent { end_time: Some(SystemTime::UNIX_EPOCH.into()), ..event("doubtful") };
    let taken = || async { SystemClock.now().duration_since(poison[0].taken_at).unwrap() };
    eventually("the poison is older than the window", || async { taken().await.as_millis() > 600 }).await;
    publish(&context, &doubtful, Some("doubtful")).await;
    assert_eq!(
        bus.receive(1, Duration::from_millis(200)).await.unwrap(),
        [],
        "the poison may be its first copy"
    );
    bus.leave(&sequences(&poison)).await;
    assert_eq!(id(&receive(&mut bus, 1).await[0].payload), "doubtful");
}

/// Makes a folder like another.
fn copy(from: &Path, to: &Path) {
    std::fs::remove_dir_all(to).unwrap();
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

fn messages(server: &NatsServer) -> PathBuf {
    server.store().join("jetstream/$G/streams/USAGE/msgs")
}

#[tokio::test]
async fn what_a_killed_server_forgot_to_remove_is_removed_and_holds_up_nothing() {
    let mut server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let mut bus = consumer(&nats);
    bus.prepare().await.unwrap();
    let context = jetstream(&server.url()).await;
    for number in 0..50 {
        let id = format!("e{number}");
        publish(&context, &now(&id), Some(&id)).await;
    }
    // As it is before anything is acknowledged.
    let before = tempfile::tempdir().unwrap();
    server.kill().await;
    copy(&messages(&server), before.path());
    server.restart().await;
    eventually("NATS is back", || async { nats.is_connected() }).await;
    let received = receive(&mut bus, 50).await;
    bus.acknowledge(&sequences(&received)).await.unwrap();
    eventually("all is acknowledged", || async {
        let stream = context.get_stream("USAGE").await;
        stream.is_ok_and(|stream| stream.cached_info().state.messages == 0)
    })
    .await;
    // The consumer's state is written, what is removed from the stream is not.
    server.terminate().await;
    copy(before.path(), &messages(&server));
    server.restart().await;
    eventually("NATS is back", || async { nats.is_connected() }).await;
    let state = || async {
        let mut consumer = context
            .get_consumer_from_stream::<async_nats::jetstream::consumer::pull::Config, _, _>(
                "cost-ingest",
                "USAGE",
            )
            .await
            .ok()?;
        let floor = consumer.info().await.ok()?.ack_floor.stream_sequence;
        Some((floor, context.get_stream("USAGE").await.ok()?.cached_info().state.messages))
    };
    let found = eventually_some("the stream is back", || async { state().await }).await;
    assert_eq!(found, (50, 50), "acknowledged, and still there");
    let ingesting = tokio::spawn(async move {
        loop {
            let _nothing = bus.receive(10, Duration::from_millis(50)).await;
        }
    });
    eventually("they are removed", || async { state().await == Some((50, 0)) }).await;
    ingesting.abort();
}
