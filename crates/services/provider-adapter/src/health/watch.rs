//! Health as a stream of reports.

use super::{CallHealth, now};
use futures_util::{Stream, stream};
use signalbox_api::v1::WatchHealthResponse;
use signalbox_types::ModelRef;
use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};
use tokio::{
    sync::watch,
    time::{Interval, MissedTickBehavior, interval},
};

/// How often is looked for calls that have ended. Looking costs the calls nothing.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A model's reports are at least so far apart.
const AT_MOST_EVERY: Duration = Duration::from_secs(1);
/// And at most so far, whether or not anything happened.
const AT_LEAST_EVERY: Duration = Duration::from_secs(10);

impl CallHealth {
    /// The state of every model, and then its changes; ends with [`CallHealth::close`].
    pub fn watch(&self) -> impl Stream<Item = WatchHealthResponse> + Send + use<> {
        stream::unfold(Watcher::of(self), |mut watcher| async {
            let report = watcher.next().await?;
            Some((report, watcher))
        })
    }
}

struct Watcher {
    health: CallHealth,
    closed: watch::Receiver<bool>,
    looks: Interval,
    told: HashMap<ModelRef, Told>,
    due: VecDeque<WatchHealthResponse>,
}

/// The last report of a model.
struct Told {
    version: u64,
    at: Instant,
}

impl Watcher {
    fn of(health: &CallHealth) -> Self {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let closed = health.0.closed.subscribe();
        Self { health: health.clone(), closed, looks, told: HashMap::new(), due: VecDeque::new() }
    }

    async fn next(&mut self) -> Option<WatchHealthResponse> {
        loop {
            if let Some(report) = self.due.pop_front() {
                return Some(report);
            }
            let is_open = tokio::select! {
                biased;
                _ = self.closed.wait_for(|closed| *closed) => false,
                _ = self.looks.tick() => true,
            };
            if !is_open {
                return None;
            }
            self.look();
        }
    }

    fn look(&mut self) {
        let now = now();
        for model in self.health.models() {
            let version = model.version();
            if self.told.get(&model.name).is_none_or(|told| told.is_outdated(version, now)) {
                self.due.push_back(model.report(self.health.adapter_id(), now));
                self.told.insert(model.name.clone(), Told { version, at: now });
            }
        }
    }
}

impl Told {
    fn is_outdated(&self, version: u64, now: Instant) -> bool {
        let age = now.saturating_duration_since(self.at);
        age >= AT_LEAST_EVERY || (version != self.version && age >= AT_MOST_EVERY)
    }
}
