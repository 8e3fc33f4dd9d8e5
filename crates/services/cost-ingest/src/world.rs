//! A service over a store in a file, at [`NOW`].

use crate::{
    Dependencies, Progress, SharedAlerts, Tail, Usage,
    samples::{NOW, event},
};
use signalbox_api::v1::UsageEvent;
use signalbox_kit::{
    clock::FixedClock,
    config::{ConfigHandle, Environment},
};
use signalbox_ports::usage_store::Batch;
use signalbox_spool::{Options, Spool, SpoolDeadLetters};
use signalbox_sqlite::{Database, usage::SqliteUsage};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) usage: Usage,
    pub(crate) dependencies: Dependencies,
    _dir: TempDir,
}

impl World {
    pub(crate) async fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock(*NOW));
        let database = Database::open(&dir.path().join("usage.db")).await.unwrap();
        let store = SqliteUsage::new(Arc::new(database), clock.clone());
        let options = Options {
            dir: dir.path().join("spool"),
            max_bytes: 1 << 20,
            segment_bytes: 1 << 16,
            readers: &[],
        };
        let spool = Arc::new(Spool::open(options).unwrap());
        let file = dir.path().join("signalbox.yaml");
        std::fs::write(&file, config).unwrap();
        let config = ConfigHandle::start(Some(file), Environment::default(), clock.clone()).unwrap();
        let dependencies = Dependencies {
            config: Arc::new(config),
            store: Arc::new(store),
            letters: Arc::new(SpoolDeadLetters::open(spool).unwrap()),
            tail: Tail::new(10),
            progress: Progress::default(),
            alerts: SharedAlerts::default(),
            clock,
        };
        Self { usage: Usage::new(dependencies.clone()), dependencies, _dir: dir }
    }

    pub(crate) async fn store(&self, events: Vec<UsageEvent>) {
        let token = events.iter().map(|event| event.event_id.as_str()).collect();
        let batch = Batch { token, events, suspects: Vec::new() };
        self.dependencies.store.insert(&batch).await.unwrap();
    }
}

/// The event, so many seconds before [`NOW`].
pub(crate) fn ago(id: &str, seconds: i64) -> UsageEvent {
    let mut event = event(id);
    for time in [&mut event.start_time, &mut event.end_time] {
        time.as_mut().unwrap().seconds -= seconds;
    }
    event
}
