//! The ledger is rid of what is too old, a little at a time, so that nobody waits for it.

use crate::{keeper::every, metrics, service::Dependencies};
use signalbox_ports::ledger::{LedgerError, Pruned};
use std::{
    future::pending,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, sleep};

/// Rows of each kind that are deleted together: a few milliseconds' work.
const AT_ONCE: usize = 1_000;
/// The least pause before the next. It is as long as the work took, so that the store has half of its time for others.
const PAUSE: Duration = Duration::from_millis(20);

/// Deletes movements older than the retention, where there is one. Every process that serves budgets does it; the
/// ledger lets one at a time.
#[derive(Debug)]
pub(crate) struct Pruner {
    dependencies: Dependencies,
    failing: bool,
}

impl Pruner {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies, failing: false }
    }

    /// Works until it is dropped. What was being deleted then is still there.
    pub(crate) async fn run(mut self) {
        let Some(retention) = self.dependencies.options.retention else { return pending().await };
        let mut rounds = every(self.dependencies.options.prune);
        loop {
            rounds.tick().await;
            if let Some(before) = self.dependencies.clock.now().checked_sub(retention) {
                self.round(before).await;
            }
        }
    }

    /// Deletes all that was made before a time.
    pub(crate) async fn round(&mut self, before: SystemTime) {
        match self.prune(before).await {
            Ok(()) => self.failing = false,
            Err(error) => {
                if !std::mem::replace(&mut self.failing, true) {
                    tracing::warn!(%error, "old movements of the ledger are not deleted");
                }
            }
        }
    }

    async fn prune(&self, before: SystemTime) -> Result<(), LedgerError> {
        loop {
            let began = Instant::now();
            let pruned = self.dependencies.ledger.prune(before, AT_ONCE).await?;
            tell(&pruned);
            if !pruned.more {
                return Ok(());
            }
            sleep(began.elapsed().max(PAUSE)).await;
        }
    }
}

fn tell(pruned: &Pruned) {
    metrics::pruned(pruned);
    let Pruned { entries, operations, leases, reservations, .. } = *pruned;
    if entries + leases + reservations > 0 {
        tracing::debug!(entries, operations, leases, reservations, "old rows of the ledger are deleted");
    }
}
