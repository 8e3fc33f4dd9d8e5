//! Readiness that means it: a process is ready while every role it serves can do its job.

use crate::telemetry::metrics;
use prometheus::IntGaugeVec;
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};
use tokio::sync::watch;

static MET: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_condition_met",
        "1 while this condition holds, else 0; then the process is not ready, unless it can go on without.",
        &["condition"],
    )
});

pub(crate) fn register_metrics() {
    LazyLock::force(&MET);
}

/// What must hold for the process to be ready, by name. Clones share their state.
#[derive(Debug, Clone)]
pub struct Readiness {
    conditions: Arc<Mutex<BTreeMap<&'static str, Condition>>>,
    notes: Arc<Mutex<BTreeMap<&'static str, Condition>>>,
    ready: Arc<watch::Sender<bool>>,
}

/// A condition holds, or not because of something.
type Condition = Result<(), String>;

impl Default for Readiness {
    fn default() -> Self {
        Self { conditions: Arc::default(), notes: Arc::default(), ready: Arc::new(watch::Sender::new(true)) }
    }
}

impl Readiness {
    /// Says whether a condition holds, or why not.
    pub fn set(&self, name: &'static str, condition: Condition) {
        MET.with_label_values(&[name]).set(condition.is_ok().into());
        let mut conditions = self.conditions.lock().unwrap_or_else(PoisonError::into_inner);
        conditions.insert(name, condition);
        let ready = conditions.values().all(Result::is_ok);
        self.ready.send_if_modified(|was| std::mem::replace(was, ready) != ready);
    }

    /// The same of something that the process goes on without for as long as it may: it is told, and keeps nobody away.
    pub fn note(&self, name: &'static str, condition: Condition) {
        MET.with_label_values(&[name]).set(condition.is_ok().into());
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert(name, condition);
    }

    /// What is missing, as `name: why`; empty when ready.
    pub fn missing(&self) -> Vec<String> {
        unmet(&self.conditions)
    }

    /// What is missing and does not keep the process from being ready, as `name: why`.
    pub fn noted(&self) -> Vec<String> {
        unmet(&self.notes)
    }

    /// Whether the process is ready, now and as it changes.
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.ready.subscribe()
    }
}

fn unmet(conditions: &Mutex<BTreeMap<&'static str, Condition>>) -> Vec<String> {
    let conditions = conditions.lock().unwrap_or_else(PoisonError::into_inner);
    let unmet = conditions.iter().filter_map(|(name, condition)| Some((name, condition.as_ref().err()?)));
    unmet.map(|(name, why)| format!("{name}: {why}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unmet_condition_makes_a_process_unready_until_it_is_met() {
        let readiness = Readiness::default();
        let watch = readiness.watch();
        readiness.set("config", Ok(()));
        readiness.set("adapter", Err("no replica in reach".into()));
        assert!(!*watch.borrow());
        assert_eq!(readiness.missing(), ["adapter: no replica in reach"]);
        readiness.set("adapter", Ok(()));
        assert!(*watch.borrow());
    }

    #[test]
    fn what_a_process_goes_on_without_is_told_and_keeps_nobody_away() {
        let readiness = Readiness::default();
        readiness.note("usage store", Err("away for 12 s".into()));
        assert!(*readiness.watch().borrow() && readiness.missing().is_empty());
        assert_eq!(readiness.noted(), ["usage store: away for 12 s"]);
        readiness.note("usage store", Ok(()));
        assert!(readiness.noted().is_empty());
    }
}
