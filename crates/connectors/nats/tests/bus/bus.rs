//! What an ingester may count on.

use crate::support::{Forwarding, append, connect, consumer, event, id, ids, receive, sequences, spool};
use signalbox_nats::{ConsumerOptions, Nats, UsageConsumer};
use signalbox_ports::{UsageBus, UsageLog as _};
use signalbox_spool::Spool;
use signalbox_testkit::{NatsServer, eventually};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

struct World {
    _server: NatsServer,
    nats: Nats,
    spool: Arc<Spool>,
    _dir: TempDir,
    _forwarding: Forwarding,
}

async fn world() -> World {
    let server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let forwarding = Forwarding::start(&nats, spool.clone());
    World { _server: server, nats, spool, _dir: dir, _forwarding: forwarding }
}

#[tokio::test]
async fn what_is_written_arrives_once_unmarked_and_in_order() {
    let world = world().await;
    append(&world.spool, ids("e", 1000));
    let mut bus = consumer(&world.nats);
    let received = receive(&mut bus, 1000).await;
    assert!(received.iter().all(|delivery| !delivery.again));
    assert!(received.iter().map(|delivery| id(&delivery.payload)).eq(ids("e", 1000)));
    assert!(received.is_sorted_by_key(|delivery| delivery.sequence));
    bus.acknowledge(&sequences(&received)).await.unwrap();
    assert_eq!(bus.receive(10, Duration::from_millis(100)).await.unwrap(), []);
    assert_eq!(bus.backlog().await, Some(0));
}

#[tokio::test]
async fn receiving_ends_as_soon_as_there_are_enough_and_else_when_patience_is_over() {
    let world = world().await;
    let mut bus = consumer(&world.nats);
    append(&world.spool, ids("e", 25));
    let started = Instant::now();
    assert_eq!(bus.receive(20, Duration::from_secs(30)).await.unwrap().len(), 20);
    assert!(started.elapsed() < Duration::from_secs(15));
    assert_eq!(bus.receive(20, Duration::from_millis(300)).await.unwrap().len(), 5);
}

#[tokio::test]
async fn an_event_that_stands_alone_arrives_at_once() {
    let world = world().await;
    let mut bus = consumer(&world.nats);
    append(&world.spool, ids("warm", 1));
    receive(&mut bus, 1).await;
    let mut waits = Vec::new();
    for number in 0..5 {
        let written = Instant::now();
        append(&world.spool, [format!("e{number}")]);
        assert_eq!(bus.receive(1, Duration::from_secs(10)).await.unwrap().len(), 1);
        waits.push(written.elapsed());
    }
    assert!(waits.iter().min().unwrap() < &Duration::from_millis(50), "{waits:?}");
}

#[tokio::test]
async fn what_is_not_acknowledged_comes_again_marked_so_and_what_is_extended_does_not() {
    let world = world().await;
    let options = ConsumerOptions { ack_wait: Duration::from_secs(2), ..ConsumerOptions::default() };
    let mut bus = UsageConsumer::new(world.nats.clone(), options.clone());
    append(&world.spool, ids("e", 3));
    let first = receive(&mut bus, 3).await;
    let mut other = UsageConsumer::new(world.nats.clone(), options);
    let started = Instant::now();
    let mut again = Vec::new();
    while again.len() < 2 {
        bus.extend(&[first[1].sequence]).await.unwrap();
        again.extend(other.receive(3, Duration::from_millis(300)).await.unwrap());
        assert!(started.elapsed() < Duration::from_secs(20));
    }
    assert!(again.iter().all(|delivery| delivery.again));
    assert_eq!(sequences(&again), [first[0].sequence, first[2].sequence]);
    assert_eq!(again[0].taken_at, first[0].taken_at);
}

#[tokio::test]
async fn two_ingesters_share_the_work() {
    let world = world().await;
    append(&world.spool, ids("e", 2000));
    let (mut one, mut two) = (consumer(&world.nats), consumer(&world.nats));
    let (mut by_one, mut by_two) = (BTreeSet::new(), BTreeSet::new());
    while by_one.len() + by_two.len() < 2000 {
        for (bus, seen) in [(&mut one, &mut by_one), (&mut two, &mut by_two)] {
            let received = bus.receive(100, Duration::from_millis(200)).await.unwrap();
            bus.acknowledge(&sequences(&received)).await.unwrap();
            seen.extend(received.iter().map(|delivery| id(&delivery.payload)));
        }
    }
    assert!(by_one.is_disjoint(&by_two));
    assert!(by_one.len() >= 500 && by_two.len() >= 500, "{} and {}", by_one.len(), by_two.len());
}

#[tokio::test]
async fn the_backlog_is_what_is_not_acknowledged() {
    let world = world().await;
    append(&world.spool, ids("e", 30));
    let mut bus = consumer(&world.nats);
    let received = receive(&mut bus, 10).await;
    eventually("the rest waits", || async { crate::support::is_empty(&world.spool).await }).await;
    assert_eq!(bus.backlog().await, Some(30), "one that is received and cannot be stored waits, too");
    bus.acknowledge(&sequences(&received)).await.unwrap();
    let hears = async { while bus.backlog().await != Some(20) {} };
    tokio::time::timeout(crate::support::SOON, hears).await.unwrap();
}

#[tokio::test]
async fn an_ingester_that_asks_in_vain_is_told_and_does_not_spin() {
    let mut server = NatsServer::start().await;
    let nats = connect(vec![server.url()]).await;
    let mut bus = consumer(&nats);
    bus.prepare().await.unwrap();
    server.kill().await;
    eventually("the loss is noticed", || async { !nats.is_connected() }).await;
    let started = Instant::now();
    let away = bus.receive(10, Duration::from_secs(30)).await.unwrap_err();
    assert!(away.to_string().contains("not connected"), "{away}");
    assert!(started.elapsed() > Duration::from_millis(100) && started.elapsed() < Duration::from_secs(20));
    assert!(bus.acknowledge(&[1]).await.is_err());
    assert_eq!(bus.backlog().await, None);
}

#[tokio::test]
async fn a_consumer_that_somebody_deletes_is_made_anew() {
    let world = world().await;
    let mut bus = consumer(&world.nats);
    bus.prepare().await.unwrap();
    let context = crate::support::jetstream(&world._server.url()).await;
    context.delete_consumer_from_stream("cost-ingest", "USAGE").await.unwrap();
    append(&world.spool, ids("e", 5));
    assert_eq!(receive(&mut bus, 5).await.len(), 5);
}

#[tokio::test]
async fn tenants_of_any_name_are_carried() {
    let world = world().await;
    let tenants = ["", "a.b", "*", ">", "with space", "ünï", &"x".repeat(3000)];
    for (number, tenant) in tenants.iter().enumerate() {
        let mut event = event(&format!("e{number}"));
        event.tenant_id = (*tenant).to_owned();
        world.spool.append(&event).unwrap();
    }
    let mut bus = consumer(&world.nats);
    assert_eq!(receive(&mut bus, tenants.len()).await.len(), tenants.len());
}
