//! Usage: which store keeps accounts, and what brings them there.
//!
//! ```text
//! router, adapter -> spool -> forwarder -> NATS -> ingester -> store     where NATS is configured
//! router, adapter -> spool ----------------------> ingester -> store     else, in one process
//! ```

mod alerts;
mod run;
pub(crate) mod store;

use super::nats::streams;
use crate::roles::Role;
use signalbox_cost_ingest::{Dependencies, OutboxBus, Progress, SharedAlerts, Tail};
use signalbox_kit::{Clock, config::ConfigHandle};
use signalbox_nats::{ConsumerOptions, Nats, NatsDeadLetters, UsageConsumer};
use signalbox_ports::{DeadLetters, UsageBus};
use signalbox_spool::{Spool, SpoolDeadLetters};
use std::sync::Arc;

pub(crate) use run::{Running, start};

/// Events that a watcher may be behind.
const TAIL_ROOM: usize = 16_384;

/// What a process has to do with usage.
#[derive(Default)]
pub(crate) struct Usage {
    /// What is answered of it, where this process stores it.
    pub(crate) service: Option<Dependencies>,
    bus: Option<Box<dyn UsageBus>>,
    /// The tables are known to be there.
    migrated: bool,
}

/// What there is before anything runs. Must be called inside the runtime that carries the connections.
pub(crate) async fn prepare(
    config: &Arc<ConfigHandle>,
    clock: &Arc<dyn Clock>,
    roles: &[Role],
    spool: Option<&Arc<Spool>>,
    nats: Option<&Nats>,
) -> Result<Usage, String> {
    if !roles.contains(&Role::Ingest) {
        if spool.is_some() && nats.is_none() {
            tracing::warn!(
                "accounts stay in this process's spool, and when that is full no request is taken: serve the role \
                 ingest here, too, or list nats.servers in the configuration"
            );
        }
        return Ok(Usage::default());
    }
    if nats.is_some() && config.loaded().config.usage.store.clickhouse.is_none() {
        tracing::warn!(
            "accounts from NATS are stored in a FILE OF THIS PROCESS: only one process may have the role ingest then, or each \
             has a part of the accounts and none has all; for several set usage.store.clickhouse"
        );
    }
    let (bus, letters) = bus(config, clock, spool, nats)?;
    let store::Opened { store, migrated } = store::open(config, clock).await?;
    let service = Dependencies {
        config: config.clone(),
        store,
        letters,
        tail: Tail::new(TAIL_ROOM),
        progress: Progress::default(),
        alerts: SharedAlerts::default(),
        clock: clock.clone(),
    };
    Ok(Usage { service: Some(service), bus: Some(bus), migrated })
}

/// Where accounts come from, and where those go that cannot be stored.
type BusEnds = (Box<dyn UsageBus>, Arc<dyn DeadLetters>);

/// Both, over NATS where it is configured.
fn bus(
    config: &ConfigHandle,
    clock: &Arc<dyn Clock>,
    spool: Option<&Arc<Spool>>,
    nats: Option<&Nats>,
) -> Result<BusEnds, String> {
    match (nats, spool) {
        (Some(nats), _) => {
            let options = ConsumerOptions { streams: streams(config), ..ConsumerOptions::default() };
            let consumer = UsageConsumer::new(nats.clone(), options);
            let letters = NatsDeadLetters::new(nats, streams(config));
            Ok((Box::new(consumer), Arc::new(letters)))
        }
        (None, Some(spool)) => {
            let letters = SpoolDeadLetters::open(spool.clone())
                .map_err(|error| format!("usage.spool.dir: dead letters cannot be kept: {error}"))?;
            Ok((Box::new(OutboxBus::new(spool.clone(), clock.clone())), Arc::new(letters)))
        }
        (None, None) => {
            Err("the role ingest needs something to store: list nats.servers in the configuration, over \
                             which routers send their accounts, or serve the role router here, too"
                .to_owned())
        }
    }
}
