//! Models whose vendors asked to wait, shared by all requests of this process.

use signalbox_resilience::Holds;
use signalbox_types::ModelRef;
use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::time::Instant;

/// Shared [`Holds`], by tokio's clock so that tests can move it.
#[derive(Debug, Clone, Default)]
pub struct SharedHolds(Arc<RwLock<Holds>>);

impl SharedHolds {
    pub(crate) fn hold(&self, model: ModelRef, wait: Duration) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).hold(model, wait, Instant::now().into_std());
    }

    pub(crate) fn left(&self, model: &ModelRef) -> Option<Duration> {
        let holds = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if holds.is_empty() { None } else { holds.left(model, Instant::now().into_std()) }
    }
}
