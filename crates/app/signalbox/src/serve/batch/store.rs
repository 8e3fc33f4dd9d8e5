//! Where jobs, items and results of the batch lane are kept.

use signalbox_batches::SqlBatches;
use signalbox_kit::config::{ConfigHandle, data_dir};
use signalbox_ports::batches::BatchStore;
use std::sync::Arc;

/// Opens the store that the configuration names. A server is not asked yet; the tables of a file are there after.
pub(crate) async fn open(config: &ConfigHandle) -> Result<Arc<dyn BatchStore>, String> {
    let store = &config.loaded().config.batch.store;
    if let Some(postgres) = &store.postgres {
        let told = |problem: String| format!("batch.store.postgres: {problem}");
        let address = postgres.address(config.environment()).map_err(told)?;
        let batches = SqlBatches::open(address.expose()).map_err(|error| told(error.to_string()))?;
        return Ok(Arc::new(batches));
    }
    let path = store.sqlite.clone().unwrap_or_default().path;
    let path = path.unwrap_or_else(|| data_dir(config.environment()).join("batches.db"));
    let told = |problem: String| format!("batch.store.sqlite: {problem}");
    let batches = SqlBatches::open(&format!("sqlite:{}", path.display()));
    let batches = batches.map_err(|error| told(error.to_string()))?;
    batches.migrate().await.map_err(|error| told(error.to_string()))?;
    Ok(Arc::new(batches))
}
