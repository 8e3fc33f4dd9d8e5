//! What all adapters of the fleet have seen of each model, from their reports.

mod report;
mod summary;
#[cfg(test)]
mod tests;

use crate::metrics;
use report::{Report, ReportError};
use signalbox_api::v1;
use signalbox_routing::Candidate;
use signalbox_types::ModelRef;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::{Duration, Instant},
};
use summary::Summary;

/// A report without a newer one is believed for so long: two of those that come every ten seconds may be lost.
const BELIEVED_FOR: Duration = Duration::from_secs(30);
/// More adapters than any fleet has.
const MOST_ADAPTERS: usize = 256;
/// More models than any catalogue lists.
const MOST_MODELS: usize = 1024;

/// The last report of each adapter on each model, and what they amount to together.
///
/// Reports are merged when they come, so that a request reads a few ready numbers.
#[derive(Debug, Default)]
pub(crate) struct Fleet {
    adapters: Mutex<Adapters>,
    merged: RwLock<Merged>,
}

#[derive(Debug, Default)]
struct Adapters {
    reports: HashMap<String, HashMap<ModelRef, Report>>,
    tidied_at: Option<Instant>,
}

#[derive(Debug, Default)]
struct Merged {
    models: HashMap<ModelRef, Summary>,
    /// When any model last served.
    served_at: Option<Instant>,
}

impl Fleet {
    /// Takes in what an adapter reports of a model.
    pub(crate) fn absorb(&self, wire: &v1::WatchHealthResponse, now: Instant) -> Result<(), ReportError> {
        let (model, report) = Report::read(wire, now)?;
        let served_at = report.served_at;
        let mut adapters = self.adapters();
        if adapters.tidy(now) {
            self.merged_mut().forget(now);
        }
        adapters.keep(&wire.adapter_id, &model, report)?;
        let Some(summary) = Summary::of(adapters.on(&model, now)) else { return Ok(()) };
        metrics::model_health(&model, summary.health());
        // The summary is stored before another report of the model is merged.
        let mut merged = self.merged_mut();
        merged.models.insert(model, summary);
        merged.served_at = merged.served_at.max(served_at);
        Ok(())
    }

    /// Adds to a candidate what the fleet has seen of its model; nothing where it has seen nothing.
    pub(crate) fn describe(&self, model: &ModelRef, candidate: &mut Candidate<'_>, now: Instant) {
        let merged = self.merged();
        let Some(summary) = merged.models.get(model).filter(|summary| summary.is_believed(now)) else {
            return;
        };
        summary.describe(candidate, merged.served_at, now);
    }

    fn adapters(&self) -> MutexGuard<'_, Adapters> {
        self.adapters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn merged(&self) -> RwLockReadGuard<'_, Merged> {
        self.merged.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn merged_mut(&self) -> RwLockWriteGuard<'_, Merged> {
        self.merged.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Adapters {
    /// Forgets, now and then, what is no longer believed; whether it did so.
    fn tidy(&mut self, now: Instant) -> bool {
        if self.tidied_at.is_some_and(|at| now.saturating_duration_since(at) < BELIEVED_FOR) {
            return false;
        }
        self.tidied_at = Some(now);
        self.reports.retain(|_, models| {
            models.retain(|_, report| report.is_believed(now));
            !models.is_empty()
        });
        true
    }

    fn keep(&mut self, adapter: &str, model: &ModelRef, report: Report) -> Result<(), ReportError> {
        if !self.reports.contains_key(adapter) {
            if self.reports.len() >= MOST_ADAPTERS {
                return Err(ReportError::TooMany);
            }
            self.reports.insert(adapter.to_owned(), HashMap::new());
        }
        let Some(models) = self.reports.get_mut(adapter) else { return Ok(()) };
        if models.len() >= MOST_MODELS && !models.contains_key(model) {
            return Err(ReportError::TooMany);
        }
        models.insert(model.clone(), report);
        Ok(())
    }

    /// The reports on a model that are believed.
    fn on<'a>(&'a self, model: &'a ModelRef, now: Instant) -> impl Iterator<Item = &'a Report> {
        self.reports
            .values()
            .filter_map(|models| models.get(model))
            .filter(move |report| report.is_believed(now))
    }
}

impl Merged {
    fn forget(&mut self, now: Instant) {
        self.models.retain(|model, summary| {
            let believed = summary.is_believed(now);
            if !believed {
                metrics::model_unknown(model);
            }
            believed
        });
    }
}

fn is_believed(heard_at: Instant, now: Instant) -> bool {
    now.saturating_duration_since(heard_at) < BELIEVED_FOR
}
