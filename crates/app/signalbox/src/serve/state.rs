//! What a running process tells of itself, and how it follows its configuration.

use crate::{
    roles::Role,
    serve::Addresses,
    vendors::{self, Bulkheads, Connections},
    wire::Shared,
};
use prometheus::IntGaugeVec;
use signalbox_api::v1::{
    batch_service_server, budget_service_server, cache_service_server, provider_service_server,
    router_service_server, usage_service_server,
};
use signalbox_kit::{catalog::VendorSettings, readiness::Readiness, telemetry::metrics};
use std::{
    io::{self, Write},
    net::SocketAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};
use tokio_util::sync::CancellationToken;
use tonic_health::{ServingStatus, server::HealthReporter};

static CONFIG_INFO: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge("signalbox_config_info", "1 for the version of the catalogue in force.", &["version"])
});
static CONFIG_LOADS: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_config_reloads",
        "Reloads of the configuration since the start, by result.",
        &["result"],
    )
});
static CONFIG_GOOD: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_config_last_reload_success",
        "Whether the last try to load the configuration was good.",
        &[],
    )
});
static BUILD_INFO: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge("signalbox_build_info", "1 for the version of the program.", &["version"])
});

static READY: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge("signalbox_ready", "1 for each role of a process that is ready, else 0.", &["role"])
});

pub(crate) fn register_metrics() {
    for gauge in [&CONFIG_INFO, &CONFIG_LOADS, &CONFIG_GOOD, &BUILD_INFO, &READY] {
        LazyLock::force(gauge);
    }
}

/// Says on standard output, in one JSON line, where the process listens; and in the log, loudly, what is simulated.
pub(crate) fn announce(shared: &Shared, settings: &[VendorSettings], addresses: &Addresses) {
    let calls_vendors = shared.roles.contains(&Role::Adapter);
    let simulated: Vec<&str> = settings
        .iter()
        .filter(|vendor| calls_vendors && vendor.simulated)
        .map(|vendor| &*vendor.name)
        .collect();
    BUILD_INFO.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
    log_addresses(shared, addresses);
    if !simulated.is_empty() {
        let vendors = simulated.join(",");
        tracing::warn!(
            vendors,
            "SIMULATED vendors: no model sees any prompt; set a key such as OPENAI_API_KEY for a real one"
        );
    }
    let mut line = serde_json::json!({
        "listening": addresses.public,
        "metrics": addresses.metrics,
        "roles": shared.admin.roles,
        "simulated": simulated,
    });
    for (name, address) in [("internal", addresses.internal), ("health", addresses.health)] {
        if let Some(address) = address {
            line[name] = address.to_string().into();
        }
    }
    // Serving goes on where nobody reads it.
    let _nobody_reads = writeln!(io::stdout().lock(), "{line}");
}

/// Every listener: who reaches it, who may call there, and whether what is said can be read on the way.
fn log_addresses(shared: &Shared, addresses: &Addresses) {
    let reach = |address: SocketAddr| match address.ip().is_loopback() {
        true => "only from this machine",
        false => "FROM OTHER MACHINES TOO",
    };
    let Addresses { public, internal, health, metrics } = addresses;
    let clear = if shared.access.is_encrypted() { "over TLS" } else { "in the clear" };
    let roles = shared.admin.roles.join(",");
    tracing::info!(address = %public, %metrics, roles, "serving gRPC {clear}, {}; {}", reach(*public), shared.callers);
    if let Some(internal) = internal {
        tracing::info!(address = %internal, "serving gRPC to other roles over TLS, {}; callers need a certificate", reach(*internal));
    }
    if let Some(health) = health {
        tracing::info!(address = %health, "serving gRPC health alone in the clear, {}", reach(*health));
    }
}

/// How long watchers of a draining process may take to hear that it no longer serves.
const GOODBYE: Duration = Duration::from_millis(500);

/// Tells readiness through the gRPC health service whenever it changes from what was `told`.
pub(crate) async fn publish_health(
    health: HealthReporter,
    readiness: Readiness,
    mut told: bool,
    roles: Vec<Role>,
    drain: CancellationToken,
) {
    let mut watch = readiness.watch();
    while !drain.is_cancelled() {
        let ready = *watch.borrow_and_update();
        // Watchers hear of it also when it is the same.
        if std::mem::replace(&mut told, ready) != ready {
            tell_health(&health, ready, &roles).await;
        }
        tokio::select! {
            _ = watch.changed() => {}
            () = drain.cancelled() => {}
        }
    }
    tell_health(&health, false, &roles).await;
    // Who watches hears that, and then the end: an open watch must not hold the drain to its last second.
    tokio::time::sleep(GOODBYE).await;
    for name in names(&roles) {
        health.clone().clear_service_status(name).await;
    }
}

/// Sets the health of the process and of each of its services.
pub(crate) async fn tell_health(health: &HealthReporter, ready: bool, roles: &[Role]) {
    for role in roles {
        READY.with_label_values(&[role.name()]).set(ready.into());
    }
    let status = if ready { ServingStatus::Serving } else { ServingStatus::NotServing };
    for name in names(roles) {
        health.set_service_status(name, status).await;
    }
}

/// The process, and each of its services, as the health service names them.
fn names(roles: &[Role]) -> impl Iterator<Item = &'static str> {
    let service = |role: &Role| match role {
        Role::Router => router_service_server::SERVICE_NAME,
        Role::Adapter => provider_service_server::SERVICE_NAME,
        Role::Ingest => usage_service_server::SERVICE_NAME,
        Role::Budget => budget_service_server::SERVICE_NAME,
        Role::Cache => cache_service_server::SERVICE_NAME,
        Role::Batch => batch_service_server::SERVICE_NAME,
    };
    std::iter::once("").chain(roles.iter().map(service))
}

/// Reloads the configuration when its file changes and, where vendors are called from here, connects to them anew.
pub(crate) async fn follow_config(shared: Shared, mut connections: Connections) {
    let bulkheads = connections.bulkheads();
    let calls_vendors = shared.roles.contains(&Role::Adapter);
    let mut reloads = shared.config.subscribe();
    let watching = shared.config.clone();
    let watcher = async move { watching.watch().await };
    let reconnect = async {
        let mut connected = shared.config.catalog().vendors(shared.config.environment());
        loop {
            if reloads.changed().await.is_err() {
                return;
            }
            let settings = match vendors::settings(&shared.config, &shared.roles) {
                Ok(settings) if settings == connected => continue,
                Ok(settings) => settings,
                Err(errors) => {
                    tracing::error!("vendors not connected anew, the old connections stay:\n{errors}");
                    continue;
                }
            };
            let outcome = if calls_vendors { connections.connect(&settings).await } else { Ok(()) };
            match outcome {
                Ok(()) => {
                    adopt(&shared, &connected, &settings);
                    connected = settings;
                }
                // Tried again at the next reload, whatever that changes.
                Err(error) => tracing::error!(%error, "vendors not connected anew, the old connections stay"),
            }
        }
    };
    tokio::join!(watcher, reconnect, report(&shared, &bulkheads));
}

/// How long adapters in other processes may take to follow the same change: they look at their files every two seconds.
const ADAPTERS_FOLLOW: Duration = Duration::from_secs(5);

fn adopt(shared: &Shared, before: &[VendorSettings], settings: &[VendorSettings]) {
    let grace = if shared.roles.contains(&Role::Adapter) { Duration::ZERO } else { ADAPTERS_FOLLOW };
    let changed = settings.iter().filter(|vendor| !before.contains(vendor));
    shared.holds.reconfigured(changed.map(|vendor| &*vendor.name), grace);
    shared.admin.vendors.store(Arc::new(vendors::facts(settings)));
    if shared.roles.contains(&Role::Adapter) {
        shared.vendors.set(settings.iter().map(|vendor| (vendor.name.clone(), vendor.simulated)));
    }
}

/// Keeps metrics of state up to date by looking from time to time: failed reloads do not notify.
async fn report(shared: &Shared, bulkheads: &Bulkheads) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    loop {
        ticks.tick().await;
        bulkheads.publish();
        shared.holds.publish();
        let status = shared.config.status();
        CONFIG_INFO.reset();
        CONFIG_INFO.with_label_values(&[&status.version]).set(1);
        let count = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        CONFIG_LOADS.with_label_values(&["taken"]).set(count(status.reloads));
        CONFIG_LOADS.with_label_values(&["refused"]).set(count(status.failures));
        CONFIG_GOOD.with_label_values::<&str>(&[]).set(i64::from(status.last_error.is_none()));
    }
}
