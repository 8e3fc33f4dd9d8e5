//! Hearing events as they come.

use crate::support::{Forwarding, SOON, append, connect, consumer, ids, spool};
use futures_util::StreamExt as _;
use signalbox_nats::StreamOptions;
use signalbox_testkit::{NatsServer, eventually};
use tokio::time::timeout;

#[tokio::test]
async fn every_listener_hears_every_event_also_of_its_own_process() {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    consumer(&nats).prepare().await.unwrap();
    let (one, two) = (nats.follow_usage().await.unwrap(), nats.follow_usage().await.unwrap());
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    append(&spool, ids("e", 100));
    let forwarding = Forwarding::start(&nats, spool);
    for tail in [one, two] {
        let heard: Vec<_> = timeout(SOON, tail.take(100).collect()).await.unwrap();
        assert!(heard.iter().all(|heard| heard.missed == 0));
        assert!(heard.iter().map(|heard| heard.event.event_id.clone()).eq(ids("e", 100)));
    }
    forwarding.drain().await;
}

#[tokio::test]
async fn what_came_while_the_connection_was_lost_is_counted() {
    let mut server = NatsServer::start().await;
    let (nats, other) = (connect(vec![server.url()]).await, connect(vec![server.url()]).await);
    consumer(&nats).prepare().await.unwrap();
    let mut tail = nats.follow_usage().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let forwarding = Forwarding::start(&other, spool.clone());
    append(&spool, ids("e", 1));
    assert_eq!(timeout(SOON, tail.next()).await.unwrap().unwrap().event.event_id, "e0");

    // Another stream of the same name whose numbers have gone on, as they have for a listener that was away.
    server.kill().await;
    server.restart().await;
    let context = crate::support::jetstream(&server.url()).await;
    let mut stream = context.get_stream("USAGE").await.unwrap();
    stream.purge().sequence(10).await.unwrap();
    let first = stream.info().await.unwrap().state.first_sequence;
    // An answer over the listener's connection: it listens again.
    eventually("the listener is back", || async {
        nats.publish_alert(&StreamOptions::default(), "here", Vec::new()).await.is_ok()
    })
    .await;
    append(&spool, ids("f", 1));
    let heard = timeout(SOON, tail.next()).await.unwrap().unwrap();
    assert_eq!((heard.event.event_id.as_str(), heard.missed), ("f0", first - 2));
    forwarding.drain().await;
}
