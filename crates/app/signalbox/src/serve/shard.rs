//! One thread per core, each with its own runtime, listeners and connections, so that a request never changes
//! threads.

use super::listen::Doors;
use crate::{
    roles::Role,
    vendors::ShardVendors,
    wire::{Shared, heartbeat, wire},
};
use signalbox_kit::serve;
use signalbox_provider_adapter::Heartbeat;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tonic_health::pb::health_server::{Health, HealthServer};

/// The shards of a running process.
pub(crate) struct Running {
    /// How each shard ended.
    ends: Vec<oneshot::Receiver<Result<(), String>>>,
}

/// Starts a thread for each of the `doors`. Returns once every one serves.
pub(crate) fn start<H: Health>(
    shared: &Shared,
    vendors: &[ShardVendors],
    doors: Vec<Doors>,
    health: &HealthServer<H>,
    drain: &CancellationToken,
) -> Result<Running, String> {
    let mut ends = Vec::with_capacity(doors.len());
    for (index, (doors, vendors)) in doors.into_iter().zip(vendors).enumerate() {
        let (shared, vendors, health, drain) =
            (shared.clone(), vendors.clone(), health.clone(), drain.clone());
        let (ended, end) = oneshot::channel();
        let (started, start) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name(format!("shard-{index}")).spawn(move || {
            // One of them keeps the vendors' pulse for the whole process, over the connections that calls use.
            let beats = index == 0 && shared.serves(Role::Adapter);
            let beats = beats.then(|| heartbeat(&shared, &vendors));
            let outcome = run(&shared, &vendors, doors, health, drain, beats, &started);
            let _receiver_gone = started.send(outcome.clone());
            let _receiver_gone = ended.send(outcome);
        });
        thread.map_err(|error| format!("cannot start a thread: {error}"))?;
        start.recv().map_err(|_| "a shard ended at its start".to_owned())??;
        ends.push(end);
    }
    Ok(Running { ends })
}

fn run<H: Health>(
    shared: &Shared,
    vendors: &ShardVendors,
    doors: Doors,
    health: HealthServer<H>,
    drain: CancellationToken,
    beats: Option<Heartbeat>,
    started: &std::sync::mpsc::Sender<Result<(), String>>,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start a runtime: {error}"))?;
    let grace = shared.config.loaded().config.server.drain_timeout.0;
    runtime.block_on(async {
        let routes = wire(shared, vendors, health)?;
        if let Some(beats) = beats {
            let drain = drain.clone();
            tokio::spawn(async move { drain.run_until_cancelled(beats.run()).await });
        }
        let _receiver_gone = started.send(Ok(()));
        let public = shared.access.entrance(shared.authenticator.clone());
        let internal = doors.internal.zip(shared.access.entrance_of_roles());
        let of_roles = async {
            let Some((listener, entrance)) = internal else { return Ok(()) };
            serve::serve(listener, entrance, routes.clone(), drain.clone(), grace).await
        };
        let of_clients = serve::serve(doors.public, public, routes.clone(), drain.clone(), grace);
        let served = tokio::try_join!(of_clients, of_roles);
        served.map(|_| ()).map_err(|error| format!("serving failed: {error}"))
    })
}

impl Running {
    /// Waits until every shard has drained.
    pub(crate) async fn join(self) -> Result<(), String> {
        for end in self.ends {
            end.await.map_err(|_| "a shard ended without a word".to_owned())??;
        }
        Ok(())
    }
}
