//! Brings services, connectors and peers together: the one place that knows them all.

use crate::{
    roles::Role,
    serve::{Access, CacheServer},
    vendors::ShardVendors,
};
use signalbox_api::{DESCRIPTOR_SET, v1};
use signalbox_kit::{Clock, Hop, config::ConfigHandle, hop, telemetry::calls::CallMetrics};
use signalbox_moderation::HttpModerator;
use signalbox_ports::{Admission, Authenticator, NoLog, UsageLog};
use signalbox_provider_adapter::{CallHealth, Heartbeat, OtherAdapters};
use signalbox_router::{
    Cache, CacheOptions, ConfiguredVendors, SharedDrills, SharedHealth, SharedHolds, UsualCosts,
};
use signalbox_spool::Spool;
use std::sync::Arc;
use tonic::service::{Routes, RoutesBuilder};
use tonic_health::pb::health_server::{Health, HealthServer};

/// What all shards of a process share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) config: Arc<ConfigHandle>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) roles: Vec<Role>,
    /// Who calls, for every listener.
    pub(crate) authenticator: Arc<dyn Authenticator>,
    /// The same in words.
    pub(crate) callers: &'static str,
    /// How this process makes itself known to other roles.
    pub(crate) access: Access,
    /// What requests must ask before they spend.
    pub(crate) admission: Arc<dyn Admission>,
    /// What is answered of budgets, where they are kept from here.
    pub(crate) budgets: Option<signalbox_budget::Dependencies>,
    /// What is answered of cached answers, where they are kept from here.
    pub(crate) cache: Option<CacheServer>,
    /// What is answered of jobs that can wait, where they are kept from here.
    pub(crate) batch: Option<signalbox_batch::Dependencies>,
    pub(crate) vendors: ConfiguredVendors,
    pub(crate) holds: SharedHolds,
    pub(crate) health: SharedHealth,
    pub(crate) drills: SharedDrills,
    pub(crate) usual_costs: UsualCosts,
    pub(crate) call_health: CallHealth,
    pub(crate) other_adapters: OtherAdapters,
    pub(crate) admin: signalbox_admin::Dependencies,
    /// Where requests and heartbeats are accounted for; none where there are none.
    pub(crate) spool: Option<Arc<Spool>>,
    /// What is answered of usage, where it is stored from here.
    pub(crate) usage: Option<signalbox_cost_ingest::Dependencies>,
}

impl Shared {
    pub(crate) fn serves(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    pub(crate) fn usage_log(&self) -> Arc<dyn UsageLog> {
        match &self.spool {
            Some(spool) => spool.clone(),
            None => Arc::new(NoLog),
        }
    }
}

/// Every service of this process's roles, for one shard. Must be called inside the shard's runtime.
pub(crate) fn wire<H: Health>(
    shared: &Shared,
    vendors: &ShardVendors,
    health: HealthServer<H>,
) -> Result<Routes, String> {
    let limit = shared.config.loaded().config.server.max_message_bytes;
    let adapter = adapter(shared, vendors);
    let mut routes = Routes::builder();
    routes.add_service(health).add_service(signalbox_admin::server(shared.admin.clone()));
    // Beside a router it would be a way around the router's rules: a tenant's models, content policy and accounts.
    if shared.serves(Role::Adapter) && !shared.serves(Role::Router) {
        routes.add_service(signalbox_provider_adapter::server(adapter.clone(), limit));
    }
    if shared.serves(Role::Router) {
        routes.add_service(router(shared, &adapter, limit)?);
    }
    if let Some(usage) = &shared.usage {
        routes.add_service(signalbox_cost_ingest::server(usage.clone(), limit));
    }
    if let Some(budgets) = &shared.budgets {
        routes.add_service(signalbox_budget::server(budgets.clone(), limit));
    }
    if let Some(cache) = &shared.cache {
        routes.add_service(cache.clone());
    }
    if let Some(batch) = &shared.batch {
        routes.add_service(signalbox_batch::server(batch.clone()));
    }
    if shared.config.loaded().config.access.reflection {
        add_reflection(&mut routes)?;
    }
    Ok(routes.routes().prepare())
}

fn adapter(shared: &Shared, vendors: &ShardVendors) -> signalbox_provider_adapter::Dependencies {
    signalbox_provider_adapter::Dependencies {
        config: shared.config.clone(),
        vendors: vendors.handle(),
        calls: Arc::new(CallMetrics),
        usage: shared.usage_log(),
        admission: shared.admission.clone(),
        health: shared.call_health.clone(),
        clock: shared.clock.clone(),
    }
}

/// The heartbeats of this process's vendors.
pub(crate) fn heartbeat(shared: &Shared, vendors: &ShardVendors) -> Heartbeat {
    Heartbeat::new(adapter(shared, vendors), shared.other_adapters.clone(), rand::random())
}

/// The way to the adapter in this process.
pub(crate) fn local_adapter(shared: &Shared, vendors: &ShardVendors) -> Hop {
    let limit = shared.config.loaded().config.server.max_message_bytes;
    hop::local(signalbox_provider_adapter::server(adapter(shared, vendors), limit))
}

/// The way to the router in this process.
pub(crate) fn local_router(shared: &Shared, vendors: &ShardVendors) -> Result<Hop, String> {
    let limit = shared.config.loaded().config.server.max_message_bytes;
    Ok(hop::local(router(shared, &adapter(shared, vendors), limit)?))
}

fn router(
    shared: &Shared,
    adapter: &signalbox_provider_adapter::Dependencies,
    limit: usize,
) -> Result<v1::router_service_server::RouterServiceServer<signalbox_router::Router>, String> {
    let hop = if shared.serves(Role::Adapter) {
        hop::local(signalbox_provider_adapter::server(adapter.clone(), limit))
    } else {
        adapter_peers(shared, Role::Router)?
    };
    let dependencies = signalbox_router::Dependencies {
        config: shared.config.clone(),
        adapter: hop,
        vendors: shared.vendors.clone(),
        holds: shared.holds.clone(),
        health: shared.health.clone(),
        drills: shared.drills.clone(),
        usual_costs: shared.usual_costs.clone(),
        moderator: Some(Arc::new(HttpModerator::default())),
        cache: cache(shared, limit)?,
        usage: shared.usage_log(),
        admission: shared.admission.clone(),
        clock: shared.clock.clone(),
    };
    Ok(signalbox_router::server(dependencies, limit))
}

/// The way to the cache, where there is one: in this process, or at `peers.cache`.
fn cache(shared: &Shared, limit: usize) -> Result<Option<Cache>, String> {
    let loaded = shared.config.loaded();
    if !loaded.config.cache.enabled {
        return Ok(None);
    }
    let hop = match &shared.cache {
        Some(cache) => hop::local(cache.clone()),
        None if loaded.config.peers.cache.is_empty() => return Ok(None),
        None => shared.access.remote(&loaded.config.peers.cache, Role::Cache)?,
    };
    let (config, usual) = (&loaded.config.cache, CacheOptions::default());
    let options = CacheOptions {
        exact_budget: config.exact_timeout.0,
        semantic_budget: config.semantic_timeout.0,
        single_flight: config.single_flight,
        lookup_margin: if shared.cache.is_some() { usual.wait_margin } else { usual.lookup_margin },
        ..usual
    };
    Ok(Some(Cache::new(hop, options, limit)))
}

/// The way to adapters in other processes, for a role of this one.
pub(crate) fn adapter_peers(shared: &Shared, role: Role) -> Result<Hop, String> {
    let peers = &shared.config.loaded().config.peers.adapter;
    if peers.is_empty() {
        return Err(format!(
            "the role {role} needs an adapter: serve the role adapter here too, or list peers.adapter in the \
             configuration"
        ));
    }
    shared.access.remote(peers, Role::Adapter)
}

/// Both versions of server reflection: older grpcurl asks for v1alpha.
fn add_reflection(routes: &mut RoutesBuilder) -> Result<(), String> {
    let builder = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            // So that grpcurl can read the details of an error.
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
    };
    let told = |error: tonic_reflection::server::Error| format!("reflection: {error}");
    routes.add_service(builder().build_v1().map_err(told)?);
    routes.add_service(builder().build_v1alpha().map_err(told)?);
    Ok(())
}
