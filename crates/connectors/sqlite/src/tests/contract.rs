//! What every usage store must do, done by SQLite.

use crate::{Database, usage::SqliteUsage};
use signalbox_contracts::usage_store::Fresh;
use signalbox_kit::Clock;
use std::sync::Arc;

async fn fresh(clock: Arc<dyn Clock>) -> Fresh {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open(&dir.path().join("usage.db")).await.unwrap();
    Fresh { store: Arc::new(SqliteUsage::new(Arc::new(database), clock)), keep: Box::new(dir) }
}

signalbox_contracts::usage_store_tests!(fresh);
