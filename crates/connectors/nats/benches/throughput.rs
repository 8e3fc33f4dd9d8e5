//! Events a second through forwarder and consumer: `cargo bench -p signalbox-nats [-- EVENTS [cluster]]`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and fails plainly")]

use prost::Message as _;
use signalbox_api::v1::{Cost, TokenUsage, UsageAttempt, UsageEvent};
use signalbox_kit::SystemClock;
use signalbox_nats::{
    ConsumerOptions, Forwarder, ForwarderOptions, Nats, NatsOptions, StreamOptions, UsageConsumer,
};
use signalbox_ports::{Outbox as _, UsageBus as _, UsageLog as _};
use signalbox_spool::{Options, Spool};
use signalbox_testkit::{NatsCluster, NatsServer, eventually};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

const BATCH: usize = 5000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args().filter(|word| word != "--bench").skip(1).collect();
    let count = words.first().map_or(100_000, |count| count.parse().unwrap());
    if words.iter().any(|word| word == "cluster") {
        let cluster = NatsCluster::start().await;
        Box::pin(measure(cluster.urls(), count)).await;
    } else {
        let server = NatsServer::start().await;
        Box::pin(measure(vec![server.url()], count)).await;
    }
}

async fn measure(servers: Vec<String>, count: usize) {
    let nats = Nats::connect(NatsOptions { servers, ..NatsOptions::default() }).await.unwrap();
    let mut bus = UsageConsumer::new(nats.clone(), ConsumerOptions::default());
    let dir = tempfile::tempdir().unwrap();
    let options =
        Options { dir: dir.path().to_owned(), max_bytes: 8 << 30, segment_bytes: 16 << 20, readers: &[] };
    let spool = Arc::new(Spool::open(options).unwrap());
    println!("{count} events of {} bytes", event(0).encoded_len());
    for number in 0..count {
        spool.append(&event(number)).unwrap();
    }
    eventually("the streams are made", || async {
        UsageConsumer::new(nats.clone(), ConsumerOptions::default()).prepare().await.is_ok()
    })
    .await;

    let started = Instant::now();
    let drain = CancellationToken::new();
    let options = ForwarderOptions {
        in_flight: 1000,
        streams: StreamOptions::default(),
        clock: Arc::new(SystemClock),
        seed: 1,
    };
    let forwarder = tokio::spawn(Forwarder::new(nats, spool.clone(), options).run(drain.clone()));
    while spool.waiting_bytes() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tell("forwarded", count, started);

    let started = Instant::now();
    let mut stored = 0;
    while stored < count {
        let deliveries = bus.receive(BATCH, Duration::from_secs(1)).await.unwrap();
        stored += deliveries.len();
        let sequences: Vec<_> = deliveries.iter().map(|delivery| delivery.sequence).collect();
        bus.acknowledge(&sequences).await.unwrap();
    }
    tell("received and acknowledged", count, started);

    for number in 0..count {
        spool.append(&event(count + number)).unwrap();
    }
    let (started, mut stored) = (Instant::now(), 0);
    while stored < count {
        let deliveries = bus.receive(BATCH, Duration::from_secs(1)).await.unwrap();
        stored += deliveries.len();
        let sequences: Vec<_> = deliveries.iter().map(|delivery| delivery.sequence).collect();
        bus.acknowledge(&sequences).await.unwrap();
    }
    tell("both at once", count, started);
    drain.cancel();
    forwarder.await.unwrap();
    assert!(spool.read(None, 1).unwrap().is_empty());
}

fn tell(what: &str, count: usize, started: Instant) {
    #[expect(clippy::cast_precision_loss, reason = "a rate to look at")]
    let rate = count as f64 / started.elapsed().as_secs_f64();
    println!("{what}: {rate:.0} events/s");
}

/// As the router writes them, with one attempt.
fn event(number: usize) -> UsageEvent {
    let name = |what: &str| format!("{what}-{}", number % 50);
    let usage = Some(TokenUsage { input_tokens: 812, output_tokens: 345, ..TokenUsage::default() });
    let cost = Some(Cost { nano_eur: 1_234_567, ..Cost::default() });
    UsageEvent {
        schema_version: 1,
        event_id: format!("0199c0de-0000-7000-8000-{number:012}"),
        request_id: format!("0199c0de-0000-7000-9000-{number:012}"),
        trace_id: format!("{number:032x}"),
        tenant_id: name("tenant"),
        key_id: name("key"),
        scene: name("scene"),
        task_type: "summarise".to_owned(),
        locale: "it-IT".to_owned(),
        reference: format!("article-{number}"),
        requested_model: "fast".to_owned(),
        vendor: "openai".to_owned(),
        model: "gpt-6-luna".to_owned(),
        served_model: "gpt-6-luna-2026-08-01".to_owned(),
        route_reason: "first choice".to_owned(),
        attempts: vec![UsageAttempt {
            served_model: "gpt-6-luna-2026-08-01".to_owned(),
            ..UsageAttempt::default()
        }],
        usage,
        cost,
        ..UsageEvent::default()
    }
}
