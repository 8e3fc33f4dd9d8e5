//! The batch lane: its service, over the store that the configuration names, and its workers.
//!
//! ```text
//! clients -> service -> router, here or at peers.router     who may serve an item
//!                \----> budget service                      what the job costs at most
//!                \----> store <- lane -> adapter, here or at peers.adapter -> vendors
//! ```

mod run;
pub(crate) mod store;

use crate::{
    roles::Role,
    vendors::ShardVendors,
    wire::{self, Shared},
};
use signalbox_batch::{Dependencies, Followers, Options};
use signalbox_batching::Room;
use signalbox_kit::{
    Hop,
    config::{Config, VendorConfig},
};
use signalbox_moderation::HttpModerator;
use signalbox_ports::{batches::BatchStore, vendor_batch::BatchLimits};
use signalbox_vendors::codec_for;
use std::{collections::BTreeMap, sync::Arc};
use uuid::Uuid;

pub(crate) use run::{Running, start};

/// What the service and its workers need, where this process has the role. Must be called inside the runtime that
/// carries the connections.
pub(crate) fn prepare(
    shared: &Shared,
    vendors: &ShardVendors,
    store: Option<Arc<dyn BatchStore>>,
    budget: Option<Hop>,
) -> Result<Option<Dependencies>, String> {
    let Some(store) = store else { return Ok(None) };
    let loaded = shared.config.loaded();
    Ok(Some(Dependencies {
        config: shared.config.clone(),
        store,
        router: router(shared, vendors)?,
        adapter: adapter(shared, vendors)?,
        budget,
        usage: shared.usage_log(),
        moderator: Some(Arc::new(HttpModerator::default())),
        followers: Followers::default(),
        clock: shared.clock.clone(),
        owner: Uuid::now_v7().to_string(),
        options: options(&loaded.config),
    }))
}

fn options(config: &Config) -> Options {
    let mut options = Options::of(&config.batch);
    options.rules.vendors = rooms(config, options.rules.batch);
    options.max_message_bytes = config.server.max_message_bytes;
    options.drain = options.drain.min(config.server.drain_timeout.0);
    options.idle = options.idle.min(options.rules.window_wait);
    options
}

/// What the vendors' own limits leave of a window. Requests are longer in a vendor's words than in ours: half of its bytes
/// will do for ours.
fn rooms(config: &Config, most: Room) -> BTreeMap<String, Room> {
    let room = |(name, vendor): (&String, &VendorConfig)| {
        let BatchLimits { items, bytes } = codec_for(vendor.kind).batches()?.limits();
        let room = Room { items: most.items.min(items as u64), bytes: most.bytes.min(bytes as u64 / 2) };
        Some((name.clone(), room))
    };
    config.vendors.iter().filter_map(room).collect()
}

fn router(shared: &Shared, vendors: &ShardVendors) -> Result<Hop, String> {
    if shared.serves(Role::Router) {
        return wire::local_router(shared, vendors);
    }
    let peers = &shared.config.loaded().config.peers.router;
    match peers.is_empty() {
        true => {
            Err("the role batch needs a router: serve the role router here too, or list peers.router in the \
                     configuration"
                .to_owned())
        }
        false => shared.access.remote(peers, Role::Router),
    }
}

fn adapter(shared: &Shared, vendors: &ShardVendors) -> Result<Hop, String> {
    match shared.serves(Role::Adapter) {
        true => Ok(wire::local_adapter(shared, vendors)),
        false => wire::adapter_peers(shared, Role::Batch),
    }
}
