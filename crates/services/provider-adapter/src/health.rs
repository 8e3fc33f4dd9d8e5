//! What this process has seen of each vendor and model lately, measured from its own calls.

mod call;
mod model;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use call::{CallEnd, CallUnderWay, hold};

use model::Model;
use signalbox_types::ModelRef;
use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    time::Instant,
};
use tokio::sync::watch as channel;

/// The health of every model that this process calls. Clones share it: one for all threads of the process.
///
/// A model is named as the catalogue lists it (`vendor/*` where it does not), so that callers cannot make it grow by
/// inventing names.
#[derive(Debug, Clone)]
pub struct CallHealth(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    adapter_id: String,
    models: RwLock<BTreeMap<ModelRef, Arc<Model>>>,
    closed: channel::Sender<bool>,
}

impl CallHealth {
    /// Nothing seen yet. `adapter_id` names this process among all that run.
    pub fn new(adapter_id: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            adapter_id: adapter_id.into(),
            models: RwLock::default(),
            closed: channel::Sender::new(false),
        }))
    }

    /// The name of this process among all that run.
    pub fn adapter_id(&self) -> &str {
        &self.0.adapter_id
    }

    /// Ends every [`CallHealth::watch`], so that none keeps a process from stopping.
    pub fn close(&self) {
        self.0.closed.send_replace(true);
    }

    /// A call begins.
    pub(crate) fn begin(&self, model: &ModelRef) -> CallUnderWay {
        CallUnderWay::new(self.model(model), now())
    }

    /// Reports a model from now on, called or not.
    pub(crate) fn know(&self, model: &ModelRef) {
        self.model(model);
    }

    /// When a vendor last gave a sign of life or failed to, in a call from here.
    pub(crate) fn last_heard(&self, vendor: &str) -> Option<Instant> {
        self.models()
            .iter()
            .filter(|model| &*model.name.vendor == vendor)
            .filter_map(|model| model.heard_at())
            .max()
    }

    fn model(&self, name: &ModelRef) -> Arc<Model> {
        if let Some(known) = self.0.models.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return known.clone();
        }
        let mut models = self.0.models.write().unwrap_or_else(PoisonError::into_inner);
        models.entry(name.clone()).or_insert_with(|| Arc::new(Model::new(name.clone(), now()))).clone()
    }

    fn models(&self) -> Vec<Arc<Model>> {
        self.0.models.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// Tokio's time, which tests can move.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
