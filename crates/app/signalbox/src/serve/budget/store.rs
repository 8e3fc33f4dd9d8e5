//! Where tenants, keys, budgets and the ledger are kept, and where rates are counted.

use signalbox_kit::{
    Clock,
    config::{ConfigHandle, data_dir},
};
use signalbox_ledger::SqlLedger;
use signalbox_ports::{RateLimiter, ledger::Ledger as _};
use signalbox_rates::MemoryRates;
use signalbox_redis::{Redis, RedisOptions, RedisRates};
use std::sync::Arc;

/// Opens the store that the configuration names. A server is not asked yet; the tables of a file are there after.
pub(crate) async fn open(config: &ConfigHandle, clock: &Arc<dyn Clock>) -> Result<SqlLedger, String> {
    let store = &config.loaded().config.budgets.store;
    if let Some(postgres) = &store.postgres {
        let told = |problem: String| format!("budgets.store.postgres: {problem}");
        let address = postgres.address(config.environment()).map_err(told)?;
        let ledger = SqlLedger::with_clock(address.expose(), clock.clone());
        return ledger.map_err(|error| told(error.to_string()));
    }
    let path = store.sqlite.clone().unwrap_or_default().path;
    let path = path.unwrap_or_else(|| data_dir(config.environment()).join("budgets.db"));
    let told = |problem: String| format!("budgets.store.sqlite: {problem}");
    let ledger = SqlLedger::with_clock(&format!("sqlite:{}", path.display()), clock.clone());
    let ledger = ledger.map_err(|error| told(error.to_string()))?;
    ledger.migrate().await.map_err(|error| told(error.to_string()))?;
    Ok(ledger)
}

/// Counts rates in Redis where the configuration names one, else in this process. Must be called inside the runtime
/// that carries the connection.
pub(crate) fn rates(config: &ConfigHandle, clock: &Arc<dyn Clock>) -> Result<Arc<dyn RateLimiter>, String> {
    let redis = &config.loaded().config.redis;
    let address = redis.address(config.environment()).map_err(|problem| format!("redis.{problem}"))?;
    let Some(address) = address else { return Ok(Arc::new(MemoryRates::new(clock.clone()))) };
    let mut options = RedisOptions::new(address.expose());
    options.ca_file.clone_from(&redis.ca_file);
    let connection = Redis::connect(&options).map_err(|error| format!("redis: {error}"))?;
    Ok(Arc::new(RedisRates::new(connection)))
}
