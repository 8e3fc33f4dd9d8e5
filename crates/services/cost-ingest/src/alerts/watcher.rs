//! The watch at work: asks the store for the minutes that are over, and tells what they change.

use super::{
    book::Book,
    convert::{calls, news, state_name},
    courier::{Courier, WAITING},
    metrics::Shown,
    shared::SharedAlerts,
};
use crate::{ingest::Backoff, progress::Progress};
use signalbox_anomaly::{Alert, Calls, Minute, Rule, State, Timing, Watch};
use signalbox_kit::Clock;
use signalbox_ports::{
    AlertNews,
    usage_store::{StoreFailure, UsageStore, Window},
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const MINUTES_OF_DAY: u64 = 24 * 60;
/// Minutes that are looked at before others get their turn.
const AT_ONCE: usize = 60;
/// An ingester that is behind is waited for, but no longer than this: it may never catch up.
const BEHIND: Duration = Duration::from_secs(5 * 60);
/// What closed no longer ago than this is told at the start: perhaps nobody was there to tell it.
const RECENT: u64 = 60;

/// How the watch works.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    /// What raises alerts.
    pub rules: Vec<Rule>,
    /// How long things take until they matter.
    pub timing: Timing,
    /// Days that models are compared with.
    pub history_days: u32,
    /// How often the minute that runs is looked at.
    pub interval: Duration,
    /// How long after its end a minute is taken to be complete.
    pub lag: Duration,
}

/// Watches a store.
#[derive(Debug)]
pub struct AlertWatcher {
    store: Arc<dyn UsageStore>,
    progress: Progress,
    alerts: SharedAlerts,
    clock: Arc<dyn Clock>,
    options: WatchOptions,
    watch: Watch,
    /// The first minute that has not been looked at; none before the start.
    next: Option<Minute>,
    book: Book,
    shown: Shown,
    told_full: bool,
}

impl AlertWatcher {
    /// Watches what `progress` says is stored, and lists it in `alerts`.
    pub fn new(
        store: Arc<dyn UsageStore>,
        progress: Progress,
        alerts: SharedAlerts,
        clock: Arc<dyn Clock>,
        options: WatchOptions,
    ) -> Self {
        let days = usize::try_from(options.history_days).unwrap_or(usize::MAX);
        let watch = Watch::new(options.rules.clone(), options.timing, days);
        let (book, shown) = (Book::default(), Shown::default());
        Self {
            store,
            progress,
            alerts,
            clock,
            options,
            watch,
            next: None,
            book,
            shown,
            told_full: false,
        }
    }

    /// Watches until `drain` is cancelled. News that nobody has heard by then is told at the next start.
    pub async fn run(mut self, courier: Courier, drain: CancellationToken) {
        let (tell, carried) = mpsc::channel(WAITING);
        let carrying = tokio::spawn(courier.run(carried));
        let _drained = drain.run_until_cancelled(self.watch(&tell)).await;
        carrying.abort();
    }

    async fn watch(&mut self, tell: &mpsc::Sender<AlertNews>) {
        let mut backoff = Backoff::default();
        loop {
            match self.look().await {
                Ok(changed) => {
                    backoff = Backoff::default();
                    changed.iter().for_each(|alert| report(alert, tell));
                    tokio::time::sleep(self.options.interval).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "models are not watched for anomalies until the store is back");
                    backoff.pause().await;
                }
            }
        }
    }

    /// Looks at everything that is new. Gives the alerts that are to be told.
    pub(super) async fn look(&mut self) -> Result<Vec<Alert>, StoreFailure> {
        let now = Minute::of(self.clock.now());
        let complete = self.complete();
        let first = Minute(complete.0.saturating_sub(self.history_minutes()));
        let starts = self.next.is_none();
        let mut next = self.next.unwrap_or(first).max(first);
        let mut changed = Vec::new();
        while next < complete {
            let end = Minute((next.0 + MINUTES_OF_DAY).min(complete.0));
            let minutes = self.minutes(next, end).await?;
            changed.extend(self.go_through(next, end, &minutes).await);
            next = end;
        }
        // Only now: what failed half way is gone through again, and the watch knows the minutes it has seen.
        self.next = Some(next);
        if starts {
            changed = self.standing(now);
        }
        for (minute, calls) in self.minutes(complete.max(next), now.next()).await? {
            changed.extend(self.keep(self.watch.clone_glance(minute, &calls)));
        }
        self.show();
        Ok(changed)
    }
}
