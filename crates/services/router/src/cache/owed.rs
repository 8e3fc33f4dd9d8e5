//! Model calls that keeping an answer took: made once its request is accounted for, they go into the tenant's next account.

use signalbox_api::v1::UsageAttempt;
use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Calls that one account takes over at most, so that accounts stay small.
const MOST_AT_ONCE: usize = 16;

/// What is owed, by tenant.
#[derive(Debug, Default)]
pub(super) struct Owed {
    by_tenant: Mutex<HashMap<String, Vec<UsageAttempt>>>,
    /// So that requests pass without a lock while nothing is owed, which is nearly always.
    calls: AtomicUsize,
}

impl Owed {
    pub(super) fn add(&self, tenant_id: &str, attempts: Vec<UsageAttempt>) {
        if attempts.is_empty() {
            return;
        }
        self.calls.fetch_add(attempts.len(), Ordering::Relaxed);
        self.locked().entry(tenant_id.to_owned()).or_default().extend(attempts);
    }

    pub(super) fn take(&self, tenant_id: &str) -> Vec<UsageAttempt> {
        if self.calls.load(Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        let mut by_tenant = self.locked();
        let Some(owed) = by_tenant.get_mut(tenant_id) else { return Vec::new() };
        let taken: Vec<_> = owed.drain(..owed.len().min(MOST_AT_ONCE)).collect();
        if owed.is_empty() {
            by_tenant.remove(tenant_id);
        }
        self.calls.fetch_sub(taken.len(), Ordering::Relaxed);
        taken
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Vec<UsageAttempt>>> {
        self.by_tenant.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_pays_what_it_owes_once_and_in_small_sums() {
        let owed = Owed::default();
        owed.add("acme", vec![UsageAttempt::default(); 20]);
        owed.add("other", Vec::new());
        assert!(owed.take("other").is_empty());
        let paid = [owed.take("acme").len(), owed.take("acme").len(), owed.take("acme").len()];
        assert_eq!(paid, [16, 4, 0]);
    }
}
