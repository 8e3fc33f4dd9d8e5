//! The cache: its service, over the store that the configuration names.

use crate::{
    roles::Role,
    vendors::ShardVendors,
    wire::{Shared, adapter_peers, local_adapter},
};
use signalbox_api::v1::{
    cache_service_server::CacheServiceServer, provider_service_client::ProviderServiceClient,
};
use signalbox_cache::{
    CacheKeeping, Dependencies, EmbedderOverHop, HashedNgrams, Options, Policies, VerifierOverHop,
};
use signalbox_cache_memory::MemoryCache;
use signalbox_caching::{Secret, TaskPolicy};
use signalbox_guards::Guards;
use signalbox_kit::{
    Hop,
    config::{CacheConfig, Config, ConfigHandle, EmbedderChoice, Environment, RedisConfig},
};
use signalbox_ports::cache::{CacheStore, Embedder, Verifier};
use signalbox_redis::{Guarded, Patience, Purpose, Redis, RedisCache, RedisOptions};
use std::sync::Arc;

/// The service. Clones share what it keeps in this process.
pub(crate) type CacheServer = CacheServiceServer<CacheKeeping>;

/// The service, where this process has the role and the cache is not switched off. Must be called inside the runtime that
/// carries the store's connection.
pub(crate) fn prepare(shared: &Shared, vendors: &ShardVendors) -> Result<Option<CacheServer>, String> {
    let loaded = shared.config.loaded();
    let (config, env) = (&loaded.config, shared.config.environment());
    if !shared.serves(Role::Cache) {
        return Ok(None);
    }
    if !config.cache.enabled {
        return match *shared.roles {
            [Role::Cache] => Err("the role cache has nothing to do: cache.enabled is false".to_owned()),
            _ => Ok(None),
        };
    }
    let secret = config.cache.secret(env).map_err(|problem| format!("cache.secret: {problem}"))?;
    let secret = match secret {
        Some(secret) => Known { secret: Secret::new(secret.expose().as_bytes()), lasts: true },
        None => Known { secret: Secret::new(&rand::random::<[u8; 32]>()), lasts: false },
    };
    let options = Options {
        single_flight: config.cache.single_flight,
        exact_budget: config.cache.exact_timeout.0,
        semantic_budget: config.cache.semantic_timeout.0,
        ..Options::default()
    };
    let models = Models { shared, vendors, options: &options };
    let dependencies = Dependencies {
        store: store(shared, config, env, &secret)?,
        embedder: models.embedder(&config.cache)?,
        verifier: models.verifier(&config.cache)?,
        guards: Arc::new(Guards::builtin()),
        policies: Arc::new(Configured(shared.config.clone())),
        secret: secret.secret,
        clock: shared.clock.clone(),
        options,
    };
    Ok(Some(signalbox_cache::server(dependencies, config.server.max_message_bytes)))
}

/// What keys and seals are made from, and whether other processes have it, too.
struct Known {
    secret: Secret,
    lasts: bool,
}

/// What is configured now, after each reload.
#[derive(Debug)]
struct Configured(Arc<ConfigHandle>);

impl Policies for Configured {
    fn of(&self, tenant_id: &str, task_type: &str) -> Arc<TaskPolicy> {
        self.0.catalog().cache_policy(tenant_id, task_type).clone()
    }

    fn check_task_type(&self, task_type: &str) -> Result<(), String> {
        self.0.catalog().task_type(task_type).map(|_| ()).map_err(|failure| failure.message)
    }
}

/// In Redis where the section names one, or where the rates' one will do; else in memory.
fn store(
    shared: &Shared,
    config: &Config,
    env: &Environment,
    secret: &Known,
) -> Result<Arc<dyn CacheStore>, String> {
    let own = &config.cache.store;
    if let Some(redis) = &own.redis {
        if !secret.lasts {
            return Err(format!(
                "cache.store.redis: answers that outlive the process need a secret; set {} in the environment of every \
                 process with the role cache, as `openssl rand -hex 32` gives one",
                CacheConfig::SECRET_VARIABLE
            ));
        }
        return in_redis(redis, "cache.store.redis", &config.cache, env, &secret.secret);
    }
    if own.memory.is_none() && config.redis.url.is_some() && secret.lasts {
        return in_redis(&config.redis, "redis", &config.cache, env, &secret.secret);
    }
    let most = own.memory.clone().unwrap_or_default().max_bytes;
    Ok(Arc::new(MemoryCache::new(usize::try_from(most).unwrap_or(usize::MAX), shared.clock.clone())))
}

fn in_redis(
    redis: &RedisConfig,
    field: &str,
    cache: &CacheConfig,
    env: &Environment,
    secret: &Secret,
) -> Result<Arc<dyn CacheStore>, String> {
    let address = redis.address(env).map_err(|problem| format!("{field}.{problem}"))?;
    let address = address.ok_or_else(|| format!("{field} needs a `url`"))?;
    let patience =
        Patience { exact: cache.exact_timeout.0, nearest: cache.semantic_timeout.0, ..Patience::default() };
    let mut options = RedisOptions::new(address.expose());
    options.ca_file.clone_from(&redis.ca_file);
    options.purpose = Purpose::Cache;
    options.patience = options.patience.max(patience.nearest);
    let connection = Redis::connect(&options).map_err(|error| format!("{field}: {error}"))?;
    let store = RedisCache::new(connection).under_secret(secret.fingerprint());
    Ok(Arc::new(Guarded::new(store, patience)))
}

/// Models that the cache asks for itself.
struct Models<'s> {
    shared: &'s Shared,
    vendors: &'s ShardVendors,
    options: &'s Options,
}

impl Models<'_> {
    fn embedder(&self, config: &CacheConfig) -> Result<Arc<dyn Embedder>, String> {
        let EmbedderChoice::Model(model) = config.embedder() else {
            return Ok(Arc::new(HashedNgrams));
        };
        let adapter = ProviderServiceClient::new(self.adapter("cache.embedder")?);
        let (timeout, clock) = (self.options.embed_timeout, self.shared.clock.clone());
        let embedder = EmbedderOverHop::new(adapter, model, config.embedder_dimensions, timeout, clock);
        Ok(Arc::new(embedder))
    }

    fn verifier(&self, config: &CacheConfig) -> Result<Option<Arc<dyn Verifier>>, String> {
        let Some(model) = config.verifier() else { return Ok(None) };
        let adapter = ProviderServiceClient::new(self.adapter("cache.verifier")?);
        let (timeout, clock) = (self.options.verify_timeout, self.shared.clock.clone());
        Ok(Some(Arc::new(VerifierOverHop::new(adapter, model, timeout, clock))))
    }

    fn adapter(&self, field: &str) -> Result<Hop, String> {
        if self.shared.serves(Role::Adapter) {
            return Ok(local_adapter(self.shared, self.vendors));
        }
        let peers = &self.shared.config.loaded().config.peers.adapter;
        match peers.is_empty() {
            true => Err(format!("{field} names a model, which only an adapter can call: list peers.adapter")),
            false => adapter_peers(self.shared, Role::Cache),
        }
    }
}
