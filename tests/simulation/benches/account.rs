//! What a request's account costs it: `cargo bench -p signalbox-simulation --bench account`. A whole answer through the
//! router and an adapter that answers at once, all in this process, without a usage log and with the spool: the
//! difference is the draft and the account. The aim is less than 20 µs.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the figures are the output; a failure ends the measurement"
)]

#[expect(dead_code, reason = "shared with the tests")]
#[path = "../../../crates/services/router/tests/attempts/adapter.rs"]
mod adapter;

use adapter::Adapter;
use signalbox_api::v1::{
    self, provider_service_server::ProviderServiceServer, router_service_client::RouterServiceClient,
};
use signalbox_kit::{
    Hop, SystemClock,
    config::{ConfigHandle, Environment},
    hop,
};
use signalbox_ports::{NoLog, UsageLog};
use signalbox_router::{
    ConfiguredVendors, Dependencies, SharedDrills, SharedHealth, SharedHolds, UsualCosts,
};
use signalbox_spool::{Options, Spool};
use std::{sync::Arc, time::Instant};

const REQUESTS: usize = 20_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let options =
        Options { dir: dir.path().to_owned(), max_bytes: 4 << 30, segment_bytes: 32 << 20, readers: &[] };
    let spool = Arc::new(Spool::open(options).unwrap());
    runtime.block_on(async {
        // In turns, for a busy machine is slow in one minute and not in the next.
        for _ in 0..3 {
            report("no log", Arc::new(NoLog)).await;
            report("spool", spool.clone()).await;
        }
    });
    let bytes = spool.waiting_bytes() / (3 * REQUESTS as u64);
    println!("{bytes} bytes an account");
}

async fn report(case: &str, usage: Arc<dyn UsageLog>) {
    let mut client = client(usage);
    let mut times = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let request = request();
        let started = Instant::now();
        client.generate(request).await.unwrap();
        times.push(started.elapsed().as_nanos());
    }
    times.sort_unstable();
    let [p50, p90, p99] =
        [0.5, 0.9, 0.99].map(|share| times[(REQUESTS as f64 * share) as usize] as f64 / 1e3);
    println!("{case}: p50 {p50:.1} µs, p90 {p90:.1} µs, p99 {p99:.1} µs a request");
}

/// The built-in catalogue, scored.
fn client(usage: Arc<dyn UsageLog>) -> RouterServiceClient<Hop> {
    let clock = Arc::new(SystemClock);
    let config = Arc::new(ConfigHandle::start(None, Environment::default(), clock.clone()).unwrap());
    let dependencies = Dependencies {
        cache: None,
        config: config.clone(),
        adapter: hop::local(ProviderServiceServer::new(Adapter::default())),
        vendors: ConfiguredVendors::default(),
        holds: SharedHolds::default(),
        health: SharedHealth::default(),
        drills: SharedDrills::new(config, clock.clone()),
        usual_costs: UsualCosts::default(),
        moderator: None,
        usage,
        admission: Arc::new(signalbox_ports::Unlimited),
        clock,
    };
    RouterServiceClient::new(hop::local(signalbox_router::server(dependencies, 1 << 20)))
}

fn request() -> v1::GenerateRequest {
    let text = v1::Part { part: Some(v1::part::Part::Text("Hello?".to_owned())), ..Default::default() };
    let message = v1::Message { role: v1::Role::User.into(), content: vec![text] };
    v1::GenerateRequest {
        messages: vec![message],
        model: "fast".to_owned(),
        tenant_id: "morning".to_owned(),
        reference: "article-7".to_owned(),
        ..Default::default()
    }
}
