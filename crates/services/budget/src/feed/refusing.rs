//! Budgets that had too little for somebody of late.

use crate::{accounts::Line, metrics::Name};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// How long that is remembered.
const REMEMBERED: Duration = Duration::from_secs(5 * 60);

/// When that was last. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusing(Arc<Mutex<HashMap<Name, Instant>>>);

impl Refusing {
    /// It has just had too little.
    pub(crate) fn note(&self, line: &Line) {
        self.lock().insert(line.name(), Instant::now());
    }

    /// Those of late, in order.
    pub(crate) fn list(&self) -> Vec<Name> {
        let now = Instant::now();
        let mut noted = self.lock();
        noted.retain(|_, at| now.duration_since(*at) < REMEMBERED);
        let mut list: Vec<_> = noted.keys().cloned().collect();
        list.sort();
        list
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
