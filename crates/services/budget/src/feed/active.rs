//! Budgets that replicas hold leases of, and what was last in force of each.

use crate::accounts::{Effect, Line};
use signalbox_budgeting::threshold::{Latch, Notice, Noticed};
use signalbox_ports::ledger::Account;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::time::Instant;

/// A budget of which nothing was granted or renewed for so long is let go: a lease is renewed three times a minute.
const PATIENCE: Duration = Duration::from_secs(180);

/// Budgets by tenant and id. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Active(Arc<Mutex<HashMap<(String, String), Seen>>>);

#[derive(Debug)]
struct Seen {
    at: Instant,
    latch: Latch,
    noticed: Noticed,
    /// What replicas were told last.
    told: Effect,
}

/// What came of a look at a budget.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Look {
    /// What is in force, where that is news.
    pub(crate) changed: Option<Effect>,
    /// Thresholds that were reached.
    pub(crate) notices: Vec<Notice>,
}

impl Active {
    /// These are held leases of.
    pub(crate) fn note<'a>(&self, lines: impl IntoIterator<Item = &'a Line>) {
        let now = Instant::now();
        let mut seen = self.lock();
        for line in lines {
            seen.entry(line.name()).and_modify(|seen| seen.at = now).or_insert_with(|| Seen::new(now));
        }
    }

    /// Those noted of late, by tenant; the others are let go.
    pub(crate) fn list(&self) -> Vec<(String, String)> {
        let now = Instant::now();
        let mut seen = self.lock();
        seen.retain(|_, seen| now.duration_since(seen.at) < PATIENCE);
        let mut list: Vec<_> = seen.keys().cloned().collect();
        list.sort();
        list
    }

    /// What is in force of a budget: one that replicas hold leases of does not let go of a threshold at once.
    pub(crate) fn effect(&self, line: &Line, account: &Account, now: SystemTime) -> Effect {
        match self.lock().get_mut(&line.name()) {
            Some(seen) => Effect::of(line, account, &mut seen.latch, now),
            None => Effect::of(line, account, &mut Latch::default(), now),
        }
    }

    /// What is new of a budget since the last look. That nothing is in force is no news at first.
    pub(crate) fn look(&self, line: &Line, account: &Account, now: SystemTime) -> Look {
        let mut seen = self.lock();
        let Some(seen) = seen.get_mut(&line.name()) else {
            return Look { changed: None, notices: Vec::new() };
        };
        let effect = Effect::of(line, account, &mut seen.latch, now);
        let changed = (seen.told != effect).then(|| effect.clone());
        seen.told = effect;
        let position = line.position(account, now);
        let notices = line.thresholds().map(|all| seen.noticed.update(&all, &position)).unwrap_or_default();
        Look { changed, notices }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), Seen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn new(at: Instant) -> Self {
        Self { at, latch: Latch::default(), noticed: Noticed::default(), told: Effect::none() }
    }
}
