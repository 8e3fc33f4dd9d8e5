//! A store on an engine of its own.

use signalbox_clickhouse::{ClickHouseStore, Options};
use signalbox_kit::Clock;
use signalbox_testkit::ClickHouseEngine;
use std::{sync::Arc, time::Duration};

pub(crate) fn options(engine: &ClickHouseEngine) -> Options {
    Options {
        user: ClickHouseEngine::USER.to_owned(),
        password: ClickHouseEngine::PASSWORD.to_owned(),
        closing_delay: Duration::ZERO,
        ..Options::new(engine.url(), "usage")
    }
}

pub(crate) fn store(engine: &ClickHouseEngine, clock: Arc<dyn Clock>) -> ClickHouseStore {
    ClickHouseStore::new(options(engine), clock).unwrap()
}
