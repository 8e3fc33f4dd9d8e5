mod contract;
mod file;
mod usage;

use crate::{Database, usage::SqliteUsage};
use signalbox_contracts::SetClock;
use std::{path::Path, sync::Arc, time::SystemTime};

async fn open(path: &Path) -> Arc<Database> {
    Arc::new(Database::open(path).await.unwrap())
}

fn usage(database: &Arc<Database>) -> SqliteUsage {
    SqliteUsage::new(database.clone(), Arc::new(SetClock::at(SystemTime::UNIX_EPOCH)))
}
