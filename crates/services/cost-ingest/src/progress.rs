//! How far an ingester is.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

/// How long an event may take from the end of its request to the bus.
const ON_THE_WAY: Duration = Duration::from_secs(2);

/// Up to when everything is stored. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<Option<SystemTime>>>);

impl Progress {
    /// All that was on the bus at `when` is stored.
    pub(crate) fn caught_up(&self, when: SystemTime) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(when.checked_sub(ON_THE_WAY));
    }

    pub(crate) fn complete_until(&self) -> Option<SystemTime> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
