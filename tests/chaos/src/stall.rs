//! How long nothing moved although there was something to do.

use crate::tables::rows;
use signalbox_testkit::ClickHouseEngine;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Work that is watched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stall {
    done: u64,
    moved: Instant,
    pub(crate) longest: Duration,
}

impl Stall {
    pub(crate) fn new() -> Self {
        Self { done: 0, moved: Instant::now(), longest: Duration::ZERO }
    }

    /// So much is done, of so much that could be.
    pub(crate) fn look(&mut self, done: u64, of: u64) {
        self.longest = self.longest.max(self.lasting());
        if done != self.done || done >= of {
            self.moved = Instant::now();
        }
        self.done = done;
    }

    /// For how long nothing has moved now.
    pub(crate) fn lasting(&self) -> Duration {
        self.moved.elapsed()
    }
}

/// Looks at the engine's raw table from time to time, while it is dropped or asked for its end.
#[derive(Debug)]
pub(crate) struct Stored {
    taken: Arc<AtomicU64>,
    longest: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Stored {
    pub(crate) fn watch(engine: &ClickHouseEngine) -> Self {
        let (taken, longest) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (of, told, url) = (taken.clone(), longest.clone(), engine.url());
        let task = tokio::spawn(async move {
            let mut stall = Stall::new();
            loop {
                // Away or without tables it stores nothing, either.
                let taken = of.load(Ordering::Relaxed);
                let done = rows(&url).await.unwrap_or(stall.done);
                stall.look(done, taken);
                told.store(u64::try_from(stall.longest.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
                sleep(LOOK_EVERY).await;
            }
        });
        Self { taken, longest, task }
    }

    /// So many events could be stored by now.
    pub(crate) fn expect(&self, taken: u64) {
        self.taken.store(taken, Ordering::Relaxed);
    }

    /// The longest so far.
    pub(crate) fn longest(&self) -> Duration {
        Duration::from_millis(self.longest.load(Ordering::Relaxed))
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        self.task.abort();
    }
}
