//! The desks of all tenants that this replica serves.

use crate::desk::Desk;
use signalbox_api::v1;
use signalbox_budgeting::slice::SliceRules;
use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tokio::time::Instant;

/// A desk that was not asked for so long, and holds nothing, is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);
/// With more than so many, those that hold nothing are forgotten at once: whoever invents tenants fills nothing up.
const MANY: usize = 20_000;

/// By tenant.
#[derive(Debug)]
pub(crate) struct Desks {
    slices: SliceRules,
    by_tenant: RwLock<HashMap<Arc<str>, Arc<Desk>>>,
}

impl Desks {
    pub(crate) fn new(slices: SliceRules) -> Self {
        Self { slices, by_tenant: RwLock::default() }
    }

    /// The tenant's, made when it is first asked for.
    pub(crate) fn of(&self, tenant_id: &str) -> Arc<Desk> {
        if let Some(desk) = self.find(tenant_id) {
            return desk;
        }
        let mut desks = self.by_tenant.write().unwrap_or_else(PoisonError::into_inner);
        if desks.len() >= MANY {
            desks.retain(|_, desk| Arc::strong_count(desk) > 1 || desk.lock().holds_something());
        }
        desks.entry(tenant_id.into()).or_insert_with(|| Arc::new(Desk::new(self.slices))).clone()
    }

    pub(crate) fn find(&self, tenant_id: &str) -> Option<Arc<Desk>> {
        self.by_tenant.read().unwrap_or_else(PoisonError::into_inner).get(tenant_id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Desk>> {
        self.by_tenant.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(crate) fn tenant_changed(&self, tenant: v1::Tenant) {
        if let Some(desk) = self.find(&tenant.tenant_id) {
            desk.lock().tenant_changed(tenant);
        }
    }

    pub(crate) fn budget_changed(&self, budget: &v1::Budget) {
        if let Some(desk) = self.find(&budget.tenant_id) {
            desk.lock().budget_changed(budget, Instant::now());
        }
    }

    /// The service is there again: whatever it could not answer is worth asking now.
    pub(crate) fn in_touch(&self) {
        self.all().iter().for_each(|desk| desk.lock().unanswered_until = None);
    }

    /// Changes are not heard of any more.
    pub(crate) fn unheard(&self) {
        self.all().iter().for_each(|desk| desk.lock().unheard());
    }

    /// Forgets tenants that nobody asks for.
    pub(crate) fn forget_idle(&self, now: Instant) {
        let is_idle = |desk: &Desk| {
            let state = desk.lock();
            !state.holds_something() && state.is_unused(FORGOTTEN_AFTER, now)
        };
        if self.all().iter().any(|desk| is_idle(desk)) {
            // Nobody else is about to use it, and nobody can come by it now.
            let mut desks = self.by_tenant.write().unwrap_or_else(PoisonError::into_inner);
            desks.retain(|_, desk| Arc::strong_count(desk) > 1 || !is_idle(desk));
        }
    }
}
