//! Where tenants, their API keys and their budgets are kept.

use signalbox_api::v1::{ApiKey, AuditEntry, Budget, Tenant};
use std::{fmt, time::SystemTime};

/// The store of tenants, keys and budgets. What is given to it is checked before. Every change is written together
/// with its entry in the audit trail, and as a [`Change`] that every replica hears of.
#[async_trait::async_trait]
pub trait TenantStore: Send + Sync + fmt::Debug {
    /// Adds a tenant.
    ///
    /// # Errors
    /// [`TenantStoreError::Exists`].
    async fn create_tenant(&self, tenant: &Tenant, audit: &AuditEntry) -> Result<(), TenantStoreError>;

    /// One tenant.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn tenant(&self, tenant_id: &str) -> Result<Option<Tenant>, TenantStoreError>;

    /// Tenants after an id, ordered by id.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn tenants(&self, after: &str, most: usize) -> Result<Vec<Tenant>, TenantStoreError>;

    /// Replaces a tenant whose etag still is `etag`.
    ///
    /// # Errors
    /// [`TenantStoreError::Changed`], [`TenantStoreError::NotFound`].
    async fn update_tenant(
        &self,
        tenant: &Tenant,
        etag: &str,
        audit: &AuditEntry,
    ) -> Result<(), TenantStoreError>;

    /// Adds a key; `digest` is the SHA-256 of the whole key.
    ///
    /// # Errors
    /// [`TenantStoreError::NotFound`]: there is no such tenant. [`TenantStoreError::Exists`].
    async fn create_key(
        &self,
        key: &ApiKey,
        digest: &[u8; 32],
        audit: &AuditEntry,
    ) -> Result<(), TenantStoreError>;

    /// A key and its digest, whatever its state.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn key(&self, key_id: &str) -> Result<Option<(ApiKey, [u8; 32])>, TenantStoreError>;

    /// A tenant's keys, newest first, after the one with `after` as its id.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn keys(
        &self,
        tenant_id: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ApiKey>, TenantStoreError>;

    /// Ends a key; one that has ended stays as it was. The key as it is now.
    ///
    /// # Errors
    /// [`TenantStoreError::NotFound`].
    async fn revoke_key(
        &self,
        tenant_id: &str,
        key_id: &str,
        at: SystemTime,
        audit: &AuditEntry,
    ) -> Result<ApiKey, TenantStoreError>;

    /// Keys were used. Not audited.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn keys_used(&self, uses: &[(String, SystemTime)]) -> Result<(), TenantStoreError>;

    /// Whether there is any key, whatever its state: from the first one on callers must authenticate.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn has_keys(&self) -> Result<bool, TenantStoreError>;

    /// Adds a budget.
    ///
    /// # Errors
    /// [`TenantStoreError::NotFound`]: there is no such tenant. [`TenantStoreError::Exists`].
    async fn create_budget(&self, budget: &Budget, audit: &AuditEntry) -> Result<(), TenantStoreError>;

    /// A tenant's budgets, ordered by id, without where they stand.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn budgets(&self, tenant_id: &str) -> Result<Vec<Budget>, TenantStoreError>;

    /// Replaces a budget whose etag still is `etag`. Its running period is the ledger's.
    ///
    /// # Errors
    /// [`TenantStoreError::Changed`], [`TenantStoreError::NotFound`].
    async fn update_budget(
        &self,
        budget: &Budget,
        etag: &str,
        audit: &AuditEntry,
    ) -> Result<(), TenantStoreError>;

    /// Writes an entry of the audit trail for a change that the ledger keeps, as a top-up.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn audit(&self, entry: &AuditEntry) -> Result<(), TenantStoreError>;

    /// The audit trail of a tenant (of all, for an empty id), newest first, before an entry.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn audits(
        &self,
        tenant_id: &str,
        before: Option<&str>,
        most: usize,
    ) -> Result<Vec<AuditEntry>, TenantStoreError>;

    /// What changed after a point, in order. Points are given in the order in which changes can be seen: none appears
    /// before one that was returned.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn changes(&self, after: u64, most: usize) -> Result<Vec<(u64, Change)>, TenantStoreError>;

    /// The point of the last change; 0 before the first.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn last_change(&self) -> Result<u64, TenantStoreError>;

    /// Writes what is there once more: shows that the store can be written, and is not read only or full.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn beat(&self) -> Result<(), TenantStoreError>;

    /// Makes a change known that is not one of the store's own.
    ///
    /// # Errors
    /// See [`TenantStoreError`].
    async fn announce(&self, change: &Change) -> Result<(), TenantStoreError>;
}

/// Something that replicas must hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A tenant.
    Tenant {
        /// Its id.
        tenant_id: String,
    },
    /// A key.
    Key {
        /// Its id.
        key_id: String,
    },
    /// A budget: it was changed, or another threshold is in force.
    Budget {
        /// Whose.
        tenant_id: String,
        /// Which.
        budget_id: String,
    },
    /// Idle slices of a budget's period are wanted back.
    Recall {
        /// Whose.
        tenant_id: String,
        /// Which budget.
        budget_id: String,
    },
}

/// The store did not do as it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TenantStoreError {
    /// There is one with this id.
    #[error("it exists already")]
    Exists,
    /// There is none with this id.
    #[error("it does not exist")]
    NotFound,
    /// It was changed by somebody else in between.
    #[error("it was changed in between; read it again")]
    Changed,
    /// The store's disk is full: nothing was done, and nothing is until there is room.
    #[error("the tenant store's disk is full: {0}")]
    Full(String),
    /// The store cannot be reached, or failed.
    #[error("the tenant store is away: {0}")]
    Away(String),
}
