//! What runs beside the calls: a thread that stores accounts, so that it holds up no request, and a task that sends them.

use super::{Usage, alerts::Alerts};
use crate::{serve::nats::streams, wire::Shared};
use futures_util::StreamExt as _;
use signalbox_cost_ingest::{Dependencies, IngestOptions, Ingester, Progress, Tail, close_months};
use signalbox_kit::{config::IngestConfig, readiness::Readiness};
use signalbox_nats::{Forwarder, ForwarderOptions, Nats};
use signalbox_ports::UsageBus;
use std::time::Duration;
use tokio::{sync::oneshot, task::JoinSet};
use tokio_util::sync::CancellationToken;

/// What `/readyz` calls it.
const CONDITION: &str = "usage store";
/// And what the other end of the way.
const BUS: &str = "usage bus";
/// Most entries that are sent to NATS and not acknowledged.
const IN_FLIGHT: usize = 2_048;
/// Most accounts stored at once in a file: more would only take memory, some 8 KiB each.
const LARGEST_FILE_BATCH: usize = 1_000;
/// The pause before a store that was away is asked again, and a lost tail is followed again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a store that was reached may be away before it is said to be.
const LONG: Duration = Duration::from_secs(10);
/// How often it is looked whether anybody still watches.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What was started. Dropped, all but the thread ends.
pub(crate) struct Running {
    drain: CancellationToken,
    stored: Option<oneshot::Receiver<()>>,
    sending: JoinSet<()>,
    listening: JoinSet<()>,
}

/// Says whether the store does its part.
struct Gate {
    readiness: Readiness,
    /// A router goes on without: its spool waits for the store.
    needed: bool,
}

impl Gate {
    fn set(&self, condition: Result<(), String>) {
        match self.needed {
            true => self.readiness.set(CONDITION, condition),
            false => self.readiness.note(CONDITION, condition),
        }
    }
}

/// Starts what the process has to do with usage.
pub(crate) fn start(
    shared: &Shared,
    usage: Usage,
    nats: Option<&Nats>,
    readiness: &Readiness,
) -> Result<Running, String> {
    let drain = CancellationToken::new();
    let (mut sending, mut listening) = (JoinSet::new(), JoinSet::new());
    if let (Some(nats), Some(spool)) = (nats, &shared.spool) {
        let options = ForwarderOptions {
            in_flight: IN_FLIGHT,
            streams: streams(&shared.config),
            clock: shared.clock.clone(),
            seed: rand::random(),
        };
        sending.spawn(Forwarder::new(nats.clone(), spool.clone(), options).run(drain.clone()));
    }
    let Usage { service, bus, migrated } = usage;
    let mut stored = None;
    if let (Some(service), Some(bus)) = (service, bus) {
        if let Some(nats) = nats {
            listening.spawn(follow(service.tail.clone(), nats.clone()));
            if shared.spool.is_none() {
                readiness.set(BUS, Err("not connected yet".to_owned()));
                listening.spawn(reach(nats.clone(), readiness.clone()));
            }
        }
        let gate = Gate { readiness: readiness.clone(), needed: shared.spool.is_none() };
        gate.set(if migrated { Ok(()) } else { Err("not reached yet".to_owned()) });
        let usage = &shared.config.loaded().config.usage;
        let mut config = usage.ingest.clone();
        if usage.store.clickhouse.is_none() {
            config.batch_events = config.batch_events.min(LARGEST_FILE_BATCH);
        }
        let alerts = Alerts::prepare(&service, nats)?;
        let ingest = ingest(service, bus, config, nats.is_none(), gate, alerts, drain.clone());
        stored = Some(beside(ingest)?);
    }
    Ok(Running { drain, stored, sending, listening })
}

/// Runs something in a thread of its own.
fn beside(work: impl Future<Output = ()> + Send + 'static) -> Result<oneshot::Receiver<()>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start a runtime: {error}"))?;
    let (ended, end) = oneshot::channel();
    let run = move || {
        runtime.block_on(work);
        let _nobody_waits = ended.send(());
    };
    std::thread::Builder::new()
        .name("usage".to_owned())
        .spawn(run)
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    Ok(end)
}

/// Stores accounts until the process drains, and meanwhile closes months and watches for anomalies.
async fn ingest(
    service: Dependencies,
    bus: Box<dyn UsageBus>,
    config: IngestConfig,
    tells: bool,
    gate: Gate,
    alerts: Option<Alerts>,
    drain: CancellationToken,
) {
    if drain.run_until_cancelled(migrate(&service, &gate)).await.is_none() {
        return;
    }
    let after = Duration::from_secs(u64::from(config.close_months_after_days) * 24 * 60 * 60);
    let closing = tokio::spawn(close_months(service.store.clone(), after, service.clock.clone()));
    let looking = tokio::spawn(look_at_store(service.progress.clone(), gate));
    let watching = alerts.map(|alerts| tokio::spawn(alerts.run(drain.clone())));
    let ingester = Ingester {
        bus,
        letters: service.letters,
        store: service.store,
        tail: tells.then_some(service.tail),
        progress: service.progress,
        clock: service.clock,
        options: IngestOptions { batch_events: config.batch_events, batch_interval: config.batch_interval.0 },
    };
    ingester.run(drain).await;
    closing.abort();
    looking.abort();
    if let Some(watching) = watching {
        watching.abort();
    }
}

/// Makes the tables, however long the store is away.
async fn migrate(service: &Dependencies, gate: &Gate) {
    let mut told = None;
    while let Err(failure) = service.store.migrate().await {
        let why = failure.to_string();
        service.progress.store_is_away(&why);
        if told.as_ref() != Some(&why) {
            tracing::warn!(why, "the usage store is not ready; accounts wait");
        }
        gate.set(Err(why.clone()));
        told = Some(why);
        tokio::time::sleep(PAUSE).await;
    }
    tracing::info!("the usage store is ready");
    service.progress.store_is_there();
    gate.set(Ok(()));
}

/// Says when the store has taken nothing for long.
async fn look_at_store(progress: Progress, gate: Gate) {
    loop {
        let away = progress.store_away().filter(|(time, _)| *time >= LONG);
        gate.set(away.map_or(Ok(()), |(time, why)| Err(format!("away for {} s: {why}", time.as_secs()))));
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits until NATS was reached for the first time: later losses pass, while a wrong password does not.
async fn reach(nats: Nats, readiness: Readiness) {
    while !nats.is_connected() {
        tokio::time::sleep(PAUSE).await;
    }
    readiness.set(BUS, Ok(()));
}

/// Tells watchers what all processes account for, as the servers tell it, while there are any.
async fn follow(tail: Tail, nats: Nats) {
    loop {
        tail.watched().await;
        match nats.follow_usage().await {
            Ok(mut events) => {
                let mut look = tokio::time::interval(LOOK_EVERY);
                while tail.is_watched() {
                    tokio::select! {
                        heard = events.next() => match heard {
                            Some(heard) => tail.hear(heard.event, heard.missed),
                            None => break,
                        },
                        _ = look.tick() => {}
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, "accounts cannot be heard over NATS");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

impl Running {
    /// Sends and stores what the last requests have left, for a few seconds at most. The rest waits for the next start.
    pub(crate) async fn finish(mut self) {
        self.drain.cancel();
        self.listening.abort_all();
        while self.sending.join_next().await.is_some() {}
        if let Some(stored) = self.stored {
            let _thread_gone = stored.await;
        }
    }
}
