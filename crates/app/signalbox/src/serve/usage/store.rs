//! The store that the configuration names.

use signalbox_clickhouse::ClickHouseStore;
use signalbox_kit::{
    Clock,
    config::{ClickHouseConfig, ConfigHandle, data_dir},
};
use signalbox_ports::usage_store::UsageStore;
use signalbox_sqlite::{Database, usage::SqliteUsage};
use std::{sync::Arc, time::Duration};

const DAY: Duration = Duration::from_secs(86_400);

/// A store.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn UsageStore>,
    /// Its tables are there. Else it may be away for now.
    pub(crate) migrated: bool,
}

/// Opens the store. A server is not asked yet.
pub(crate) async fn open(config: &ConfigHandle, clock: &Arc<dyn Clock>) -> Result<Opened, String> {
    let usage = &config.loaded().config.usage;
    if let Some(clickhouse) = &usage.store.clickhouse {
        let options = options(clickhouse, config)?;
        let store = ClickHouseStore::new(options, clock.clone())
            .map_err(|error| format!("usage.store.clickhouse: {error}"))?;
        return Ok(Opened { store: Arc::new(store), migrated: false });
    }
    let sqlite = usage.store.sqlite.clone().unwrap_or_default();
    let path = sqlite.path.unwrap_or_else(|| data_dir(config.environment()).join("usage.db"));
    let database = Database::open(&path).await.map_err(|error| format!("usage.store.sqlite: {error}"))?;
    let retention = sqlite.retention_days.map(|days| DAY * days);
    let store = SqliteUsage::new(Arc::new(database), clock.clone()).keeping(retention);
    Ok(Opened { store: Arc::new(store), migrated: true })
}

fn options(
    config: &ClickHouseConfig,
    handle: &ConfigHandle,
) -> Result<signalbox_clickhouse::Options, String> {
    let password = config
        .password(handle.environment())
        .map_err(|problem| format!("usage.store.clickhouse.password: {problem}"))?;
    let mut options = signalbox_clickhouse::Options::new(&config.url, &config.database);
    if let Some(user) = &config.user {
        options.user.clone_from(user);
    }
    options.password = password.map(|password| password.expose().to_owned()).unwrap_or_default();
    options.ca_file.clone_from(&config.ca_file);
    options.cluster.clone_from(&config.cluster);
    options.retention_days = config.retention_days;
    Ok(options)
}
