//! How far an ingester is, and since when it waits for its store.

use crate::metrics;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

/// How long an event may take from the end of its request to the bus.
const ON_THE_WAY: Duration = Duration::from_secs(2);

/// Up to when everything is stored, and whether the store takes anything. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    complete_until: Option<SystemTime>,
    /// Since when the store is away, and what was said of it last.
    away: Option<(Instant, String)>,
}

impl Progress {
    /// All that was on the bus at `when` is stored.
    pub(crate) fn caught_up(&self, when: SystemTime) {
        let until = &mut self.state().complete_until;
        *until = (*until).max(when.checked_sub(ON_THE_WAY));
    }

    pub(crate) fn complete_until(&self) -> Option<SystemTime> {
        self.state().complete_until
    }

    /// The store takes nothing, and why.
    pub fn store_is_away(&self, why: &str) {
        metrics::store_away(true);
        let away = &mut self.state().away;
        let since = away.as_ref().map_or_else(Instant::now, |(since, _)| *since);
        *away = Some((since, why.to_owned()));
    }

    /// The store does its part.
    pub fn store_is_there(&self) {
        metrics::store_away(false);
        self.state().away = None;
    }

    /// For how long the store has taken nothing, and why; `None` while it does its part.
    pub fn store_away(&self) -> Option<(Duration, String)> {
        self.state().away.as_ref().map(|(since, why)| (since.elapsed(), why.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
