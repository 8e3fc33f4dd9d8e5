//! Tenants, their keys and budgets, who changed them, and what replicas must hear of.
//!
//! A change, its entry in the audit trail and its [`Change`] are one transaction.

mod audit;
mod budget;
mod change;
mod key;
mod tenant;

use crate::SqlLedger;
use signalbox_api::v1::{ApiKey, AuditEntry, Budget, Tenant};
use signalbox_ports::tenants::{Change, TenantStore, TenantStoreError};
use std::time::SystemTime;

/// What a store answers.
type Answer<T> = Result<T, TenantStoreError>;

/// What a transaction found: the outer error is the database's, the inner one its answer.
type Found<T> = sqlx::Result<Answer<T>>;

#[async_trait::async_trait]
impl TenantStore for SqlLedger {
    async fn create_tenant(&self, tenant: &Tenant, audit: &AuditEntry) -> Answer<()> {
        let ask = (tenant, audit);
        self.database
            .run(&ask, |session, (tenant, audit)| Box::pin(tenant::create(session, tenant, audit)))
            .await?
    }

    async fn tenant(&self, tenant_id: &str) -> Answer<Option<Tenant>> {
        Ok(self
            .database
            .read(tenant_id, |session, tenant_id| Box::pin(tenant::get(session, tenant_id)))
            .await?)
    }

    async fn tenants(&self, after: &str, most: usize) -> Answer<Vec<Tenant>> {
        let ask = (after, most);
        Ok(self
            .database
            .read(&ask, |session, (after, most)| Box::pin(tenant::list(session, after, *most)))
            .await?)
    }

    async fn update_tenant(&self, tenant: &Tenant, etag: &str, audit: &AuditEntry) -> Answer<()> {
        let ask = (tenant, etag, audit);
        let updated = self.database.run(&ask, |session, (tenant, etag, audit)| {
            Box::pin(tenant::update(session, tenant, etag, audit))
        });
        updated.await?
    }

    async fn create_key(&self, key: &ApiKey, digest: &[u8; 32], audit: &AuditEntry) -> Answer<()> {
        let ask = (key, digest, audit);
        let created = self
            .database
            .run(&ask, |session, (key, digest, audit)| Box::pin(key::create(session, key, digest, audit)));
        created.await?
    }

    async fn key(&self, key_id: &str) -> Answer<Option<(ApiKey, [u8; 32])>> {
        Ok(self.database.read(key_id, |session, key_id| Box::pin(key::get(session, key_id))).await?)
    }

    async fn keys(&self, tenant_id: &str, after: Option<&str>, most: usize) -> Answer<Vec<ApiKey>> {
        let ask = (tenant_id, after, most);
        let keys = self.database.read(&ask, |session, (tenant_id, after, most)| {
            Box::pin(key::list(session, tenant_id, *after, *most))
        });
        Ok(keys.await?)
    }

    async fn revoke_key(
        &self,
        tenant_id: &str,
        key_id: &str,
        at: SystemTime,
        audit: &AuditEntry,
    ) -> Answer<ApiKey> {
        let ask = (tenant_id, key_id, at, audit);
        let revoked = self.database.run(&ask, |session, (tenant_id, key_id, at, audit)| {
            Box::pin(key::revoke(session, tenant_id, key_id, *at, audit))
        });
        revoked.await?
    }

    async fn keys_used(&self, uses: &[(String, SystemTime)]) -> Answer<()> {
        Ok(self.database.run(uses, |session, uses| Box::pin(key::used(session, uses))).await?)
    }

    async fn has_keys(&self) -> Answer<bool> {
        Ok(self.database.read(&(), |session, ()| Box::pin(key::any(session))).await?)
    }

    async fn create_budget(&self, budget: &Budget, audit: &AuditEntry) -> Answer<()> {
        let ask = (budget, audit);
        self.database
            .run(&ask, |session, (budget, audit)| Box::pin(budget::create(session, budget, audit)))
            .await?
    }

    async fn budgets(&self, tenant_id: &str) -> Answer<Vec<Budget>> {
        Ok(self
            .database
            .read(tenant_id, |session, tenant_id| Box::pin(budget::list(session, tenant_id)))
            .await?)
    }

    async fn update_budget(&self, budget: &Budget, etag: &str, audit: &AuditEntry) -> Answer<()> {
        let ask = (budget, etag, audit);
        let updated = self.database.run(&ask, |session, (budget, etag, audit)| {
            Box::pin(budget::update(session, budget, etag, audit))
        });
        updated.await?
    }

    async fn audit(&self, entry: &AuditEntry) -> Answer<()> {
        Ok(self.database.run(entry, |session, entry| Box::pin(audit::write(session, entry))).await?)
    }

    async fn audits(&self, tenant_id: &str, before: Option<&str>, most: usize) -> Answer<Vec<AuditEntry>> {
        let ask = (tenant_id, before, most);
        let audits = self.database.read(&ask, |session, (tenant_id, before, most)| {
            Box::pin(audit::list(session, tenant_id, *before, *most))
        });
        Ok(audits.await?)
    }

    async fn changes(&self, after: u64, most: usize) -> Answer<Vec<(u64, Change)>> {
        let ask = (after, most);
        Ok(self
            .database
            .read(&ask, |session, (after, most)| Box::pin(change::list(session, *after, *most)))
            .await?)
    }

    async fn beat(&self) -> Answer<()> {
        Ok(self.database.run(&(), |session, ()| Box::pin(change::beat(session))).await?)
    }

    async fn last_change(&self) -> Answer<u64> {
        Ok(self.database.read(&(), |session, ()| Box::pin(change::last(session))).await?)
    }

    async fn announce(&self, change: &Change) -> Answer<()> {
        Ok(self.database.run(change, |session, change| Box::pin(change::write(session, change))).await?)
    }
}
