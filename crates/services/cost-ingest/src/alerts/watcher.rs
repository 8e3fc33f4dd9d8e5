//! The watch at work: asks the store for the minutes that are over, and tells what they change.

use super::{
    book::Book,
    convert::{calls, news, state_name},
    courier::{Courier, WAITING},
    metrics::{Shown, delivered},
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
const AT_ONCE: u64 = 60;
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
    /// The first minute that has not been gone through; none before the start.
    next: Option<Minute>,
    /// The history has been gone through.
    started: bool,
    /// Alerts that took a turn and are not told yet.
    untold: Vec<Alert>,
    book: Book,
    shown: Shown,
    was_full: bool,
}

impl AlertWatcher {
    /// Watches what `progress` says is stored, and lists what it finds in `alerts`.
    pub fn new(
        store: Arc<dyn UsageStore>,
        progress: Progress,
        alerts: SharedAlerts,
        clock: Arc<dyn Clock>,
        options: WatchOptions,
    ) -> Self {
        let days = usize::try_from(options.history_days).unwrap_or(usize::MAX);
        Self {
            store,
            progress,
            alerts,
            clock,
            watch: Watch::new(options.rules.clone(), options.timing, days),
            options,
            next: None,
            started: false,
            untold: Vec::new(),
            book: Book::default(),
            shown: Shown::default(),
            was_full: false,
        }
    }

    /// Watches until `drain` is cancelled. What nobody has heard by then is told at the next start.
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
                Ok(turns) => {
                    backoff = Backoff::default();
                    turns.iter().for_each(|alert| report(alert, tell));
                    tokio::time::sleep(self.options.interval).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "models are not watched for anomalies until the store is back");
                    backoff.pause().await;
                }
            }
        }
    }

    /// Looks at everything that is new. Gives the alerts to be told.
    pub(super) async fn look(&mut self) -> Result<Vec<Alert>, StoreFailure> {
        let (complete, now) = (self.complete(), Minute::of(self.clock.now()));
        self.go_through_until(complete).await?;
        if !std::mem::replace(&mut self.started, true) {
            self.untold = self.standing(now);
        }
        for (minute, calls) in self.minutes(complete, now.next()).await? {
            let turns = self.watch.glance(minute, &calls);
            self.note(turns);
        }
        self.show();
        Ok(std::mem::take(&mut self.untold))
    }

    #[cfg(test)]
    pub(super) fn next(&self) -> Option<Minute> {
        self.next
    }

    /// The first minute that is not complete yet, as far as this process knows.
    fn complete(&self) -> Minute {
        let now = self.clock.now();
        let lagged = now.checked_sub(self.options.lag).unwrap_or(now);
        let patience = lagged.checked_sub(BEHIND).unwrap_or(lagged);
        let stored = self.progress.complete_until().unwrap_or(patience);
        Minute::of(stored.clamp(patience, lagged))
    }

    /// Goes through whole minutes, those of the history at first, a day at a time.
    async fn go_through_until(&mut self, end: Minute) -> Result<(), StoreFailure> {
        let history = u64::from(self.options.history_days) * MINUTES_OF_DAY;
        let oldest = Minute(end.0.saturating_sub(history));
        let mut next = self.next.unwrap_or(oldest).max(oldest);
        while next < end {
            let piece = Minute((next.0 + MINUTES_OF_DAY).min(end.0));
            let counted = self.minutes(next, piece).await?;
            self.go_through(next, piece, &counted).await;
            self.next = Some(piece);
            next = piece;
        }
        Ok(())
    }

    async fn go_through(&mut self, first: Minute, end: Minute, counted: &BTreeMap<Minute, Vec<Calls>>) {
        for minute in (first.0..end.0).map(Minute) {
            let calls = counted.get(&minute).map(Vec::as_slice).unwrap_or_default();
            let turns = self.watch.minute(minute, calls);
            self.note(turns);
            // Those of a history are many, and the ingester may be on this thread.
            if minute.0.is_multiple_of(AT_ONCE) {
                tokio::task::yield_now().await;
            }
        }
    }

    async fn minutes(
        &self,
        first: Minute,
        end: Minute,
    ) -> Result<BTreeMap<Minute, Vec<Calls>>, StoreFailure> {
        let mut minutes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for counted in self.store.minutes(Window { start: first.start(), end: end.start() }).await? {
            let (minute, calls) = calls(counted);
            minutes.entry(minute).or_default().push(calls);
        }
        Ok(minutes)
    }

    fn note(&mut self, turns: Vec<Alert>) {
        for alert in turns {
            if alert.state == State::Closed {
                self.book.close(alert.clone());
            }
            self.untold.push(alert);
        }
    }

    /// What is told at the start: all that stands, and what closed of late.
    fn standing(&self, now: Minute) -> Vec<Alert> {
        let recent =
            |alert: &&Alert| alert.closed.is_some_and(|closed| now.0 - closed.0.min(now.0) <= RECENT);
        let mut standing: Vec<Alert> =
            self.watch.alerts().chain(self.book.closed().filter(recent)).cloned().collect();
        standing.sort_by_key(|alert| alert.opened);
        standing
    }

    fn show(&mut self) {
        self.alerts.replace(self.book.list(self.watch.alerts()));
        self.shown.set(self.watch.alerts());
        if self.watch.is_full() && !std::mem::replace(&mut self.was_full, true) {
            tracing::warn!("more models are called than are watched for anomalies");
        }
    }
}

/// Tells the log, and whoever else is to know.
fn report(alert: &Alert, tell: &mpsc::Sender<AlertNews>) {
    let news = news(alert);
    let (id, state, rule) = (&alert.id, state_name(alert.state), alert.rule);
    match alert.state {
        State::Closed => tracing::info!(alert = id, state, rule, "{}", alert.description),
        State::Open | State::Escalated => tracing::warn!(alert = id, state, rule, "{}", alert.description),
    }
    if tell.try_send(news).is_err() {
        delivered("queue", "failed");
        tracing::error!(alert = id, "too many alerts wait to be told: this one is not");
    }
}
