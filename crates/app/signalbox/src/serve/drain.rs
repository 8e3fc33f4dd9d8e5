//! From the signal to stop to the end: nothing new is taken, what is under way is finished, and what it cost is told.

use super::{batch, budget, shard, spool, usage};
use crate::wire::Shared;
use signalbox_kit::{readiness::Readiness, serve::StopSignals, telemetry::trace::Exporting};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A process that serves, and all that runs in it.
pub(super) struct Serving {
    pub(super) shared: Shared,
    pub(super) readiness: Readiness,
    /// Told to everybody who must take nothing new.
    pub(super) drain: CancellationToken,
    pub(super) running: shard::Running,
    pub(super) usage: usage::Running,
    pub(super) budgets: budget::Running,
    pub(super) batch: batch::Running,
    /// Of health reports.
    pub(super) carriers: JoinSet<()>,
    /// Whoever watches the process sees it drain, so these end last.
    pub(super) background: JoinSet<()>,
    pub(super) exporting: Option<Exporting>,
}

impl Serving {
    /// Serves until a signal comes, then drains. A second signal cuts what is still under way.
    pub(super) async fn until_stopped(mut self, mut stop: StopSignals) -> Result<(), String> {
        let signal = stop.next().await;
        tracing::info!(signal, "draining: no new calls, those under way are finished");
        self.take_nothing_new();
        let finished = tokio::select! {
            finished = self.running.join() => finished,
            _ = stop.next() => Err("stopped by a second signal; calls under way were cut".to_owned()),
        };
        // What has ended there is accounted for before the accounts are brought away.
        self.batch.finish().await;
        let end_budgets = async {
            // What is still under way holds a part of them: the next start settles it.
            if finished.is_ok() {
                self.budgets.finish().await;
            }
        };
        tokio::join!(self.usage.finish(), end_budgets);
        self.background.abort_all();
        if let Some(spool) = self.shared.spool {
            spool::finish(spool).await;
        }
        if let Some(exporting) = self.exporting {
            exporting.finish().await;
        }
        tracing::info!("stopped");
        finished
    }

    /// Open streams of watchers end, too: they must not hold up the drain.
    fn take_nothing_new(&mut self) {
        self.readiness.set("process", Err("draining".to_owned()));
        self.drain.cancel();
        self.shared.call_health.close();
        if let Some(usage) = &self.shared.usage {
            usage.tail.close();
        }
        if let Some(budgets) = &self.shared.budgets {
            budgets.feed.close();
        }
        self.batch.drain();
        self.carriers.abort_all();
    }
}
