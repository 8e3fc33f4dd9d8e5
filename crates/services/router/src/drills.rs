//! Drills: faults injected on purpose into the calls of this process, within limits, to see whether users would notice.
//!
//! The router draws which calls are hit and tells the adapter what to do to them, so that everything a verdict is made
//! of is counted here, in one place.

mod drill;
mod exposure;
mod tally;
#[cfg(test)]
mod tests;
mod verdict;
mod wanted;

pub(crate) use exposure::Exposure;

use crate::metrics;
use drill::{Drill, Ending};
use signalbox_api::v1;
use signalbox_kit::{Clock, config::ConfigHandle};
use signalbox_ports::Drills;
use signalbox_types::{Failure, ModelRef};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;
use wanted::Wanted;

/// Drills that may run at once.
const MOST_RUNNING: usize = 16;
/// Drills that are remembered.
const MOST_KEPT: usize = 100;

/// The drills of this process. Clones share them.
#[derive(Debug, Clone)]
pub struct SharedDrills(Arc<Registry>);

#[derive(Debug)]
struct Registry {
    config: Arc<ConfigHandle>,
    clock: Arc<dyn Clock>,
    /// So that requests pass without a lock while there is no drill, which is nearly always.
    running: AtomicUsize,
    /// Oldest first.
    kept: Mutex<VecDeque<Arc<Drill>>>,
}

impl SharedDrills {
    /// No drill yet. `config` says whether there may be any.
    pub fn new(config: Arc<ConfigHandle>, clock: Arc<dyn Clock>) -> Self {
        let running = AtomicUsize::new(0);
        Self(Arc::new(Registry { config, clock, running, kept: Mutex::default() }))
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Arc<Drill>>> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enabled(&self) -> bool {
        self.0.config.loaded().config.drills.enabled
    }

    /// Whether any drill may be running: one atomic read.
    pub(crate) fn any(&self) -> bool {
        self.0.running.load(Ordering::Relaxed) > 0
    }

    /// The drill that hits this call, which it then has counted.
    fn hit(&self, tenant: &str, model: &ModelRef, request_id: &str, attempt: u32) -> Option<Arc<Drill>> {
        if !self.any() {
            return None;
        }
        if !self.enabled() {
            self.end_all(Ending::SwitchedOff);
            return None;
        }
        let now = Instant::now();
        let found =
            self.kept().iter().find(|drill| drill.takes(tenant, model, request_id, attempt, now)).cloned();
        self.recount();
        found
    }

    /// The drills that a tenant's requests are compared in.
    fn comparing(&self, tenant: &str) -> Vec<Arc<Drill>> {
        if !self.any() {
            return Vec::new();
        }
        let now = Instant::now();
        self.kept().iter().filter(|drill| drill.compares(tenant, now)).cloned().collect()
    }

    fn end_all(&self, ending: Ending) {
        for drill in self.kept().iter() {
            drill.end(ending);
        }
        self.recount();
    }

    /// Ends what is due, and counts what still runs.
    fn recount(&self) {
        let now = Instant::now();
        let running = self.kept().iter().filter(|drill| drill.is_running(now)).count();
        self.0.running.store(running, Ordering::Relaxed);
        metrics::drills_running(running);
    }

    fn admit(&self, drill: &Arc<Drill>) -> Result<(), Failure> {
        let now = Instant::now();
        let mut kept = self.kept();
        let mut running = kept.iter().filter(|other| other.is_running(now));
        if let Some(other) = running.clone().find(|other| other.overlaps(drill)) {
            let message =
                format!("`{}` hits the same calls; stop it first, or wait for its end", other.name());
            return Err(Failure::invalid("drill.target", message));
        }
        if running.nth(MOST_RUNNING - 1).is_some() {
            return Err(Failure::invalid(
                "drill",
                format!("{MOST_RUNNING} drills run already; stop one first"),
            ));
        }
        kept.push_back(drill.clone());
        if kept.len() > MOST_KEPT
            && let Some(oldest) = kept.iter().position(|old| !old.is_running(now))
        {
            kept.remove(oldest);
        }
        Ok(())
    }
}

impl Drills for SharedDrills {
    fn start(&self, wanted: v1::Drill) -> Result<v1::Drill, Failure> {
        if !self.enabled() {
            let message = "drills are off here: set `drills.enabled: true` in the configuration of the router and of \
                           its adapters";
            return Err(Failure::invalid("drill", message));
        }
        let wanted = Wanted::read(&wanted, &self.0.config.catalog())?;
        let name = name();
        let drill = Arc::new(Drill::new(name, wanted, Instant::now(), self.0.clock.now()));
        self.admit(&drill)?;
        self.recount();
        tracing::info!(drill = drill.name(), what = %drill.wanted(), "drill started");
        // It ends by the clock in any case; this tells it in log and metrics at once.
        let (drills, ends_at) = (self.clone(), drill.ends_at());
        tokio::spawn(async move {
            sleep_until(ends_at).await;
            drills.recount();
        });
        Ok(drill.to_proto())
    }

    fn stop(&self, name: &str) -> Result<v1::Drill, Failure> {
        let found = self.kept().iter().find(|drill| drill.name() == name).cloned();
        let drill = found.ok_or_else(|| {
            Failure::invalid(
                "name",
                format!("no drill `{name}` here; a drill is known to the process it runs in"),
            )
        })?;
        drill.end(Ending::Stopped);
        self.recount();
        Ok(drill.to_proto())
    }

    fn list(&self) -> Vec<v1::Drill> {
        self.recount();
        self.kept().iter().rev().map(|drill| drill.to_proto()).collect()
    }
}

/// A name short enough to type, from the random end of an id.
fn name() -> String {
    let id = Uuid::now_v7().simple().to_string();
    format!("drill-{}", id.get(24..).unwrap_or(&id))
}
