//! `signalbox serve`: reads like a table of contents. Configuration, telemetry, wiring, serving, draining.

mod access;
mod batch;
mod budget;
mod cache;
mod drain;
mod health;
mod listen;
mod nats;
mod peers;
mod probe;
mod shard;
mod spool;
mod state;
mod usage;

pub(crate) use access::Access;
pub(crate) use batch::store as batch_store;
pub(crate) use budget::store as budget_store;
pub(crate) use cache::CacheServer;
pub(crate) use listen::Addresses;
pub(crate) use state::register_metrics;
pub(crate) use usage::store as usage_store;

use crate::{
    commands,
    roles::Role,
    vendors::{self, Connections},
    wire::Shared,
};
use arc_swap::ArcSwap;
use budget::Budgets;
use drain::Serving;
use listen::Listeners;
use signalbox_kit::{
    Clock, SystemClock,
    catalog::VendorSettings,
    config::{ConfigHandle, LogFormat},
    readiness::Readiness,
    serve::StopSignals,
    telemetry,
};
use signalbox_ports::Drills;
use signalbox_provider_adapter::{CallHealth, OtherAdapters};
use signalbox_router::{ConfiguredVendors, SharedDrills, SharedHealth, SharedHolds, UsualCosts};
use signalbox_spool::Spool;
use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use usage::Usage;
use uuid::Uuid;

/// Serve gRPC: all roles, or those named.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Configuration file, laid over the built-in catalogue.
    #[arg(long, env = "SIGNALBOX_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Roles of this process; all by default.
    #[arg(long, value_delimiter = ',', value_name = "ROLE")]
    role: Vec<Role>,
    /// Address for gRPC, in place of server.listen. Port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<SocketAddr>,
    /// Address for gRPC from other roles, in place of server.internal_listen; only where there is `mtls`.
    #[arg(long, value_name = "HOST:PORT")]
    internal_listen: Option<SocketAddr>,
    /// Address for gRPC health checks alone, in the clear, in place of server.health_listen.
    #[arg(long, value_name = "HOST:PORT")]
    health_listen: Option<SocketAddr>,
    /// Address for /metrics, /livez and /readyz, in place of server.metrics_listen.
    #[arg(long, value_name = "HOST:PORT")]
    metrics_listen: Option<SocketAddr>,
    /// Listen on an address that other machines reach although callers are not authenticated: whoever reaches the
    /// port spends your money. Only behind a network policy or a proxy that authenticates.
    #[arg(long)]
    insecure_listen: bool,
}

impl ServeArgs {
    /// In order, each once.
    fn roles(&self) -> Vec<Role> {
        let mut roles = if self.role.is_empty() { Role::ALL.to_vec() } else { self.role.clone() };
        roles.sort_unstable();
        roles.dedup();
        roles
    }
}

/// Serves until told to stop.
pub(crate) async fn run(args: ServeArgs) -> Result<(), String> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let env = commands::environment();
    let config =
        ConfigHandle::start(args.config.clone(), env, clock.clone()).map_err(|errors| errors.to_string())?;
    let config = Arc::new(config);
    let roles = args.roles();
    let exporting = start_telemetry(&config, &roles)?;
    crate::metrics::register();

    let settings = vendors::settings(&config, &roles).map_err(|errors| errors.to_string())?;
    let mut access = Access::read(&config, &roles)?;
    let mut store = None;
    if roles.contains(&Role::Budget) {
        access.look_for_keys(store.insert(budget_store::open(&config, &clock).await?)).await;
    }
    let jobs = match roles.contains(&Role::Batch) {
        true => Some(batch_store::open(&config).await?),
        false => None,
    };
    let server = listen::addresses(&args, &config.loaded().config, &access)?;
    let threads =
        server.runtime_threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let listeners = Listeners::bind(&server, access.by_certificates(), threads)?;
    let addresses = listeners.addresses()?;

    let mut connections = Connections::none(threads, &config, &clock);
    if roles.contains(&Role::Adapter) {
        connections.connect(&settings).await?;
    }
    let readiness = Readiness::default();
    let spool = spool::open(&config, &roles)?;
    let nats = nats::connect(&config, &roles).await?;
    let usage = usage::prepare(&config, &clock, &roles, spool.as_ref(), nats.as_ref()).await?;
    let budgets = budget::prepare(&config, &clock, &access, &roles, store, spool.as_ref(), &usage)?;
    let parts = Parts { access, budgets: &budgets, spool, usage: &usage };
    let mut shared = share(&args, &config, clock, roles, &settings, parts);
    let first = connections.shards().first().cloned().unwrap_or_default();
    shared.cache = cache::prepare(&shared, &first)?;
    shared.batch = batch::prepare(&shared, &first, jobs, budgets.way.clone())?;
    let carriers = health::start(&shared, &first, nats.as_ref());

    let drain = CancellationToken::new();
    let (health, health_server) = tonic_health::server::health_reporter();
    // Before the first call is taken, so that nobody is told of a readiness that is not there.
    peers::expect_adapters(&shared, &readiness);
    let usage = usage::start(&shared, usage, nats.as_ref(), &readiness)?;
    let budgets = budget::start(&shared, budgets, &readiness).await;
    let batch = batch::start(&shared, &readiness);
    let ready = readiness.missing().is_empty();
    state::tell_health(&health, ready, &shared.roles).await;
    let stop = StopSignals::listen().map_err(|error| format!("cannot wait for a signal: {error}"))?;
    let running = shard::start(&shared, connections.shards(), listeners.doors, &health_server, &drain)?;
    let mut background = JoinSet::new();
    shared.access.follow_files(&mut background);
    background.spawn(telemetry_http(listeners.metrics, readiness.clone()));
    if let Some(listener) = listeners.health {
        background.spawn(probe::answer(listener, health_server));
    }
    background.spawn(state::publish_health(
        health,
        readiness.clone(),
        ready,
        shared.roles.clone(),
        drain.clone(),
    ));
    background.spawn(state::follow_config(shared.clone(), connections));
    background.spawn(peers::follow_adapters(shared.clone(), readiness.clone()));
    background.spawn(keep_spool(shared.clone(), readiness.clone()));
    state::announce(&shared, &settings, &addresses);

    let serving =
        Serving { shared, readiness, drain, running, usage, budgets, batch, carriers, background, exporting };
    serving.until_stopped(stop).await
}

fn start_telemetry(
    config: &ConfigHandle,
    roles: &[Role],
) -> Result<Option<telemetry::trace::Exporting>, String> {
    let loaded = config.loaded();
    let telemetry = &loaded.config.telemetry;
    let format = match telemetry.log_format {
        LogFormat::Text => telemetry::logs::LogFormat::Text,
        LogFormat::Json => telemetry::logs::LogFormat::Json,
    };
    telemetry::logs::init(format, &telemetry.log_level)?;
    loaded.warning_lines().for_each(|warning| tracing::warn!("{warning}"));
    let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    telemetry
        .otlp_endpoint
        .as_deref()
        .map(|endpoint| telemetry::trace::export_to(endpoint, &names.join(",")))
        .transpose()
}

/// What was prepared for this process's roles.
struct Parts<'p> {
    access: Access,
    budgets: &'p Budgets,
    spool: Option<Arc<Spool>>,
    usage: &'p Usage,
}

fn share(
    args: &ServeArgs,
    config: &Arc<ConfigHandle>,
    clock: Arc<dyn Clock>,
    roles: Vec<Role>,
    settings: &[VendorSettings],
    parts: Parts<'_>,
) -> Shared {
    let Parts { access, budgets, spool, usage } = parts;
    let known = ConfiguredVendors::default();
    if roles.contains(&Role::Adapter) {
        known.set(settings.iter().map(|vendor| (vendor.name.clone(), vendor.simulated)));
    }
    let drills = SharedDrills::new(config.clone(), clock.clone());
    let admin = signalbox_admin::Dependencies {
        config: config.clone(),
        vendors: Arc::new(ArcSwap::from_pointee(vendors::facts(settings))),
        roles: roles.iter().map(ToString::to_string).collect(),
        source: args.config.clone(),
        drills: roles.contains(&Role::Router).then(|| Arc::new(drills.clone()) as Arc<dyn Drills>),
    };
    Shared {
        config: config.clone(),
        clock,
        roles,
        authenticator: access.authenticator(budgets.replica.as_ref()),
        callers: access.told(budgets.replica.is_some()),
        access,
        admission: budgets.admission(),
        budgets: budgets.service.clone(),
        cache: None,
        batch: None,
        vendors: known,
        holds: SharedHolds::default(),
        health: SharedHealth::default(),
        drills,
        usual_costs: UsualCosts::default(),
        call_health: CallHealth::new(Uuid::now_v7().to_string()),
        other_adapters: OtherAdapters::default(),
        admin,
        spool,
        usage: usage.service.clone(),
    }
}

async fn telemetry_http(listener: TcpListener, readiness: Readiness) {
    if let Err(error) = telemetry::http::serve(listener, readiness).await {
        tracing::error!(%error, "metrics are not served");
    }
}

/// Watches over the spool of a process that has one.
async fn keep_spool(shared: Shared, readiness: Readiness) {
    let Some(spool) = shared.spool.clone() else { return };
    let settings = shared.config.loaded().config.usage.spool.clone();
    let router = shared.serves(Role::Router).then_some(readiness);
    spool::keep(spool, settings, router).await;
}
