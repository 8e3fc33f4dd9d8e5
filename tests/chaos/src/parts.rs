//! What runs in the processes of this program that are killed.

use crate::publish::Publishing;
use signalbox_cost_ingest::{IngestOptions, Ingester, OutboxBus, Progress};
use signalbox_kit::{Clock, SystemClock};
use signalbox_nats::{Forwarder, ForwarderOptions, Nats, NatsOptions, StreamOptions};
use signalbox_ports::{DeadLetters, UsageBus, usage_store::UsageStore};
use signalbox_spool::SpoolDeadLetters;
use signalbox_sqlite::{Database, usage::SqliteUsage};
use std::{path::Path, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Entries that are sent to NATS and not acknowledged.
const IN_FLIGHT: usize = 1000;

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// Connects to NATS, sooner or later.
async fn connect(servers: &[String]) -> Result<Nats, String> {
    let options =
        NatsOptions { servers: servers.to_vec(), name: "chaos".to_owned(), ..NatsOptions::default() };
    Nats::connect(options).await.map_err(|error| error.to_string())
}

/// Publishes to a spool, from which all goes to NATS.
///
/// # Errors
/// The disk, or the addresses.
pub async fn publisher(publishing: Publishing, servers: &[String]) -> Result<(), String> {
    let spool = publishing.open()?;
    let options = ForwarderOptions {
        in_flight: IN_FLIGHT,
        streams: StreamOptions::default(),
        clock: clock(),
        seed: publishing.ledger.publisher,
    };
    let forwarder = Forwarder::new(connect(servers).await?, spool.clone(), options);
    tokio::spawn(forwarder.run(CancellationToken::new()));
    publishing.run(spool).await.map_err(|error| error.to_string())
}

/// Publishes to a spool, from which all goes to a file: as one process does that has all roles.
///
/// # Errors
/// The disk.
pub async fn embedded(publishing: Publishing) -> Result<(), String> {
    let spool = publishing.open()?;
    let store = sqlite(&publishing.dir.join("usage.db")).await?;
    let letters = SpoolDeadLetters::open(spool.clone()).map_err(|error| error.to_string())?;
    let bus = OutboxBus::new(spool.clone(), clock());
    tokio::spawn(ingester(Box::new(bus), Arc::new(letters), store).run(CancellationToken::new()));
    publishing.run(spool).await.map_err(|error| error.to_string())
}

fn ingester(bus: Box<dyn UsageBus>, letters: Arc<dyn DeadLetters>, store: Arc<dyn UsageStore>) -> Ingester {
    Ingester {
        bus,
        letters,
        store,
        tail: None,
        progress: Progress::default(),
        clock: clock(),
        options: IngestOptions { batch_events: 10_000, batch_interval: Duration::from_secs(1) },
    }
}

/// The store in a file.
pub(crate) async fn sqlite(path: &Path) -> Result<Arc<SqliteUsage>, String> {
    let database = Database::open(path).await.map_err(|error| error.to_string())?;
    Ok(Arc::new(SqliteUsage::new(Arc::new(database), clock())))
}
