//! What processes tell each other of the health of models: over NATS where it is configured, else each router asks the
//! adapters. An adapter in the router's own process is always asked.

use crate::{
    roles::Role,
    vendors::ShardVendors,
    wire::{self, Shared},
};
use futures_util::StreamExt as _;
use signalbox_kit::hop;
use signalbox_nats::Nats;
use signalbox_router::follow_health;
use std::{collections::HashMap, net::SocketAddr, pin::pin, time::Duration};
use tokio::task::JoinSet;

/// How often the addresses of adapters are looked up again.
const LOOK_UP_EVERY: Duration = Duration::from_secs(5);
/// The pause before a lost subscription is made again.
const PAUSE: Duration = Duration::from_secs(1);

/// Starts what carries health between this process and the others. It ends when the set is dropped.
pub(crate) fn start(shared: &Shared, vendors: &ShardVendors, nats: Option<&Nats>) -> JoinSet<()> {
    let loaded = shared.config.loaded();
    let mut tasks = JoinSet::new();
    if shared.serves(Role::Router) {
        if shared.serves(Role::Adapter) {
            tasks.spawn(follow_health(wire::local_adapter(shared, vendors), shared.health.clone()));
        } else if nats.is_none() {
            tasks.spawn(follow_peers(shared.clone(), loaded.config.peers.adapter.clone()));
        }
    }
    if let Some(nats) = nats {
        if shared.serves(Role::Adapter) {
            tasks.spawn(publish(shared.clone(), nats.clone()));
        }
        if shared.serves(Role::Adapter) || shared.serves(Role::Router) {
            tasks.spawn(listen(shared.clone(), nats.clone()));
        }
    }
    tasks
}

/// Tells the others what this process sees.
async fn publish(shared: Shared, nats: Nats) {
    let mut reports = pin!(shared.call_health.watch());
    while let Some(report) = reports.next().await {
        nats.publish_health(&report).await;
    }
}

/// Hears what the others see.
async fn listen(shared: Shared, nats: Nats) {
    loop {
        match nats.follow_health().await {
            Ok(mut reports) => {
                while let Some(report) = reports.next().await {
                    shared.health.absorb(&report);
                    shared.other_adapters.absorb(&report);
                }
            }
            Err(error) => tracing::warn!(%error, "health reports cannot be heard over NATS"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Follows the adapter at each address of the peers, as addresses come and go.
async fn follow_peers(shared: Shared, peers: Vec<String>) {
    let mut followed = HashMap::new();
    loop {
        // Where no name can be looked up, the adapters known until now are still there.
        let addresses = hop::look_up(&peers).await;
        if !addresses.is_empty() {
            followed.retain(|address, _| addresses.contains(address));
        }
        for address in addresses {
            followed.entry(address).or_insert_with(|| follow(&shared, address));
        }
        tokio::time::sleep(LOOK_UP_EVERY).await;
    }
}

/// Follows one adapter until the set is dropped.
fn follow(shared: &Shared, address: SocketAddr) -> JoinSet<()> {
    let mut task = JoinSet::new();
    match shared.access.remote_at(address, Role::Adapter) {
        Ok(adapter) => drop(task.spawn(follow_health(adapter, shared.health.clone()))),
        Err(error) => tracing::warn!(%error, "an adapter's health cannot be followed"),
    }
    task
}
