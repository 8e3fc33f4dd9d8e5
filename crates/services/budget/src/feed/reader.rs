//! The one reader of the store's changes in a process.

use super::Feed;
use crate::{accounts::Line, service::Dependencies};
use signalbox_api::v1::{LeaseRecall, watch_admission_response::Change as Told};
use signalbox_ports::{
    ledger::{Account, LeaseState, LedgerError},
    tenants::{Change, TenantStoreError},
};
use std::collections::HashSet;

/// Changes that are read together.
const AT_ONCE: usize = 1_000;

/// What could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Away {
    #[error(transparent)]
    Store(#[from] TenantStoreError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Reads changes and tells them.
#[derive(Debug)]
pub(crate) struct Reader {
    dependencies: Dependencies,
    /// The last change that was told; `None` before the first look, when those before it are not asked for.
    last: Option<u64>,
    away: bool,
}

impl Reader {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies, last: None, away: false }
    }

    /// One look: tells what changed.
    pub(crate) async fn look(&mut self) {
        match self.read().await {
            Ok(()) => {
                self.feed().heard();
                if std::mem::replace(&mut self.away, false) {
                    tracing::info!("changes of tenants, keys and budgets are heard of again");
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut self.away, true) {
                    tracing::warn!(%error, "changes of tenants, keys and budgets are not heard of");
                }
            }
        }
    }

    fn feed(&self) -> &Feed {
        &self.dependencies.feed
    }

    async fn read(&mut self) -> Result<(), Away> {
        if !self.feed().is_authentication_required() && self.dependencies.tenants.has_keys().await? {
            self.feed().set_authentication_required();
        }
        let Some(mut last) = self.last else {
            self.last = Some(self.dependencies.tenants.last_change().await?);
            return Ok(());
        };
        loop {
            let changes = self.dependencies.tenants.changes(last, AT_ONCE).await?;
            let read = changes.len();
            last = changes.last().map_or(last, |(point, _)| *point);
            // A thing that changed several times is told once, as it is now.
            let mut told = HashSet::new();
            for (_, change) in changes {
                if told.insert(name(&change)) {
                    self.tell(change).await?;
                }
            }
            self.last = Some(last);
            if read < AT_ONCE {
                return Ok(());
            }
        }
    }

    async fn tell(&self, change: Change) -> Result<(), Away> {
        match change {
            Change::Tenant { tenant_id } => {
                if let Some(tenant) = self.dependencies.tenants.tenant(&tenant_id).await? {
                    self.feed().tell(None, Told::Tenant(tenant));
                }
            }
            Change::Key { key_id } => {
                self.feed().set_authentication_required();
                if let Some((key, _)) = self.dependencies.tenants.key(&key_id).await? {
                    self.feed().tell(None, Told::ApiKey(key));
                }
            }
            Change::Budget { tenant_id, budget_id } => self.tell_budget(&tenant_id, &budget_id).await?,
            Change::Recall { tenant_id, budget_id } => self.tell_recall(&tenant_id, &budget_id).await?,
        }
        Ok(())
    }

    /// A budget as it is now, to the replicas that hold a lease of it; and, when it is new, its tenant to all: they may
    /// have thought that nothing is limited.
    async fn tell_budget(&self, tenant_id: &str, budget_id: &str) -> Result<(), Away> {
        let Some((line, account, holders)) = self.holders(tenant_id, budget_id).await? else { return Ok(()) };
        if holders.is_empty() {
            if let Some(tenant) = self.dependencies.tenants.tenant(tenant_id).await? {
                self.feed().tell(None, Told::Tenant(tenant));
            }
            return Ok(());
        }
        let effect = self.feed().active().effect(&line, &account, self.dependencies.clock.now());
        let budget = line.told(&account, effect);
        let replicas: HashSet<String> = holders.into_iter().map(|lease| lease.replica_id).collect();
        for replica_id in replicas {
            self.feed().tell(Some(replica_id), Told::Budget(budget.clone()));
        }
        Ok(())
    }

    async fn tell_recall(&self, tenant_id: &str, budget_id: &str) -> Result<(), Away> {
        let Some((.., holders)) = self.holders(tenant_id, budget_id).await? else { return Ok(()) };
        for LeaseState { lease_id, replica_id, .. } in holders {
            let recall = LeaseRecall { lease_id, keep_nano_eur: 0 };
            self.feed().tell(Some(replica_id), Told::Recall(recall));
        }
        Ok(())
    }

    /// A budget, how it stands, and the leases of its running period.
    async fn holders(
        &self,
        tenant_id: &str,
        budget_id: &str,
    ) -> Result<Option<(Line, Account, Vec<LeaseState>)>, Away> {
        let Dependencies { tenants, ledger, clock, .. } = &self.dependencies;
        let Some(tenant) = tenants.tenant(tenant_id).await? else { return Ok(None) };
        let budgets = tenants.budgets(tenant_id).await?;
        let Some(budget) = budgets.into_iter().find(|budget| budget.budget_id == budget_id) else {
            return Ok(None);
        };
        let line = Line::new(&tenant, budget, clock.now());
        let accounts = ledger.accounts(&[line.opening()]).await?;
        let holders = ledger.holders(&line.key(), clock.now()).await?;
        Ok(accounts.into_iter().next().map(|account| (line, account, holders)))
    }
}

/// Names what changed, and how.
fn name(change: &Change) -> (u8, String, String) {
    match change {
        Change::Tenant { tenant_id } => (0, tenant_id.clone(), String::new()),
        Change::Key { key_id } => (1, key_id.clone(), String::new()),
        Change::Budget { tenant_id, budget_id } => (2, tenant_id.clone(), budget_id.clone()),
        Change::Recall { tenant_id, budget_id } => (3, tenant_id.clone(), budget_id.clone()),
    }
}
