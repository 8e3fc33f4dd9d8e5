//! Calling back what lies idle in replicas' hands.

use crate::{accounts::Line, service::Dependencies};
use signalbox_ports::{
    ledger::{Account, AccountKey},
    tenants::Change,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// A budget is not called back more often than this, however many requests find it short.
const PAUSE: Duration = Duration::from_millis(250);
/// Budgets that are remembered before the old ones are forgotten.
const REMEMBERED: usize = 10_000;

/// When budgets were called back last. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recalls(Arc<Mutex<HashMap<AccountKey, Instant>>>);

impl Recalls {
    /// Whether it is time to call an account back; if so, it is noted.
    fn is_due(&self, key: AccountKey) -> bool {
        let now = Instant::now();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= REMEMBERED {
            last.retain(|_, at| now.duration_since(*at) < PAUSE);
        }
        let due = last.get(&key).is_none_or(|at| now.duration_since(*at) >= PAUSE);
        if due {
            last.insert(key, now);
        }
        due
    }
}

/// Calls idle slices of a budget back, where replicas hold any. That it cannot be announced only means that nothing
/// comes back early.
pub(super) async fn recall(dependencies: &Dependencies, line: &Line, account: &Account) {
    if account.leased <= 0 || !dependencies.feed.recalls().is_due(line.key()) {
        return;
    }
    let (tenant_id, budget_id) = (line.budget.tenant_id.clone(), line.budget.budget_id.clone());
    let recall = Change::Recall { tenant_id, budget_id };
    if let Err(error) = dependencies.tenants.announce(&recall).await {
        tracing::warn!(%error, "idle slices of a budget cannot be called back");
    }
}
