//! The contract of every usage store, against ClickHouse's engine.

use signalbox_contracts::usage_store::Fresh;
use signalbox_kit::Clock;
use signalbox_testkit::ClickHouseEngine;
use std::sync::Arc;

async fn fresh(clock: Arc<dyn Clock>) -> Fresh {
    let engine = ClickHouseEngine::start().await;
    let store = Arc::new(crate::engine::store(&engine, clock));
    Fresh { store, keep: Box::new(engine) }
}

signalbox_contracts::usage_store_tests!(fresh);
