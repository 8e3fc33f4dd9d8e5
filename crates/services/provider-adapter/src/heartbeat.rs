//! Heartbeats: a small call to each vendor that nobody has called for a while.
//!
//! They only feed the health of models, so that it is known before a request needs it, and a failing vendor's return is
//! noticed. Every call costs, so a vendor is asked once by the whole fleet: whoever hears that it answered leaves it in
//! peace for an interval, and adapters stand in line, the oldest first, so that the next one steps in only where the
//! first stays silent.

mod account;
mod choice;
mod others;
mod paid;
mod probe;
#[cfg(test)]
mod tests;

pub(crate) use account::{ProbeAccount, ProbeEnd};
pub use others::OtherAdapters;

use crate::service::Dependencies;
use choice::Choices;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use signalbox_kit::config::HeartbeatConfig;
use signalbox_types::{Failure, ModelRef};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

/// How often is looked who is due.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Two adapters in line step in at least so far apart: news of the first one's call takes a second and a quarter.
const SHORTEST_STEP: Duration = Duration::from_secs(2);

pub(crate) fn register_metrics() {
    probe::register_metrics();
}

/// The heartbeats of one process.
#[derive(Debug)]
pub struct Heartbeat {
    dependencies: Dependencies,
    others: OtherAdapters,
    random: StdRng,
    started: Instant,
    choices: Choices,
    turns: HashMap<Arc<str>, Turn>,
    /// Vendors whose last heartbeat found no answer.
    silent: HashSet<Arc<str>>,
}

/// The last heartbeat of a vendor from here.
#[derive(Debug, Clone, Copy)]
struct Turn {
    at: Instant,
    /// Added to the next interval, as a share of a step: adapters that do not hear each other drift apart.
    jitter: f64,
}

impl Heartbeat {
    /// Nothing asked yet. `others` is what is heard of other adapters, `seed` decides the jitter.
    pub fn new(dependencies: Dependencies, others: OtherAdapters, seed: u64) -> Self {
        Self {
            dependencies,
            others,
            random: StdRng::seed_from_u64(seed),
            started: now(),
            choices: Choices::default(),
            turns: HashMap::new(),
            silent: HashSet::new(),
        }
    }

    /// Asks vendors as they become due. Runs until dropped.
    pub async fn run(mut self) {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Each is given up after its own timeout, and none keeps the others waiting.
        let mut probes = JoinSet::new();
        loop {
            looks.tick().await;
            let settings = self.dependencies.config.loaded().config.heartbeat.clone();
            for model in self.due(&settings) {
                probes.spawn(probe::probe(self.dependencies.clone(), model, settings.clone()));
            }
            while let Some(ended) = probes.try_join_next() {
                // A panic has been told by its hook.
                if let Ok((model, outcome)) = ended {
                    self.tell(&model, outcome);
                }
            }
        }
    }

    /// Says in the log when a vendor stops to answer, and when it answers again.
    fn tell(&mut self, model: &ModelRef, outcome: Result<(), Failure>) {
        match outcome {
            Ok(()) if self.silent.remove(&model.vendor) => tracing::info!(%model, "the vendor answers again"),
            Ok(()) => {}
            Err(failure) if self.silent.insert(model.vendor.clone()) => {
                let (reason, message) = (failure.reason.name(), failure.message);
                tracing::warn!(%model, reason, message, "a heartbeat found no answer");
            }
            Err(_) => {}
        }
    }

    /// The models to ask now, each of another vendor.
    fn due(&mut self, settings: &HeartbeatConfig) -> Vec<ModelRef> {
        let now = now();
        self.choices.refresh(&self.dependencies, settings);
        let choices = self.choices.each().to_vec();
        let due: Vec<ModelRef> =
            choices.into_iter().filter(|model| now >= self.due_at(&model.vendor, settings, now)).collect();
        for model in &due {
            let turn = Turn { at: now, jitter: self.random.random::<f64>() / 2.0 };
            self.turns.insert(model.vendor.clone(), turn);
        }
        due
    }

    /// When a vendor is to be asked, unless something is heard of it before.
    fn due_at(&mut self, vendor: &Arc<str>, settings: &HeartbeatConfig, now: Instant) -> Instant {
        let random = &mut self.random;
        let started = self.started;
        let first = || Turn { at: started, jitter: random.random::<f64>() / 2.0 };
        let turn = *self.turns.entry(vendor.clone()).or_insert_with(first);
        let heard = self.dependencies.health.last_heard(vendor).max(self.others.served_at(vendor));
        let news = heard.map_or(turn.at, |heard| heard.max(turn.at));
        let interval = settings.interval.0;
        let step = (interval / 10).max(SHORTEST_STEP);
        let place = self.others.before(self.dependencies.health.adapter_id(), now);
        news + interval + step * place + step.mul_f64(turn.jitter)
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
