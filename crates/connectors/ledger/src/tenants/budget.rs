//! Budgets.

use super::{Found, audit, change, tenant};
use crate::stored::decoded;
use prost::Message;
use signalbox_api::v1::{AuditEntry, Budget};
use signalbox_ports::tenants::{Change, TenantStoreError};
use signalbox_sql::Session;

pub(super) async fn create(session: &mut Session<'_>, budget: &Budget, audit: &AuditEntry) -> Found<()> {
    if !tenant::exists(session, &budget.tenant_id).await? {
        return Ok(Err(TenantStoreError::NotFound));
    }
    let query = session.query(
        "INSERT INTO budgets (tenant_id, budget_id, etag, budget) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (tenant_id, budget_id) DO NOTHING",
    );
    let query = query
        .bind(budget.tenant_id.clone())
        .bind(budget.budget_id.clone())
        .bind(budget.etag.clone())
        .bind(encoded(budget));
    if query.execute(&mut *session.connection).await?.rows_affected() == 0 {
        return Ok(Err(TenantStoreError::Exists));
    }
    tell(session, budget, audit).await
}

pub(super) async fn update(
    session: &mut Session<'_>,
    budget: &Budget,
    etag: &str,
    audit: &AuditEntry,
) -> Found<()> {
    let query = session.query(
        "UPDATE budgets SET etag = $1, budget = $2 WHERE tenant_id = $3 AND budget_id = $4 AND etag = $5",
    );
    let query = query
        .bind(budget.etag.clone())
        .bind(encoded(budget))
        .bind(budget.tenant_id.clone())
        .bind(budget.budget_id.clone())
        .bind(etag.to_owned());
    if query.execute(&mut *session.connection).await?.rows_affected() == 0 {
        let is_there = exists(session, budget).await?;
        return Ok(Err(if is_there { TenantStoreError::Changed } else { TenantStoreError::NotFound }));
    }
    tell(session, budget, audit).await
}

async fn tell(session: &mut Session<'_>, budget: &Budget, audit: &AuditEntry) -> Found<()> {
    audit::write(session, audit).await?;
    let (tenant_id, budget_id) = (budget.tenant_id.clone(), budget.budget_id.clone());
    change::write(session, &Change::Budget { tenant_id, budget_id }).await?;
    Ok(Ok(()))
}

async fn exists(session: &mut Session<'_>, budget: &Budget) -> sqlx::Result<bool> {
    let query = session.query("SELECT budget_id FROM budgets WHERE tenant_id = $1 AND budget_id = $2");
    let query = query.bind(budget.tenant_id.clone()).bind(budget.budget_id.clone());
    Ok(query.fetch_optional(&mut *session.connection).await?.is_some())
}

pub(super) async fn list(session: &mut Session<'_>, tenant_id: &str) -> sqlx::Result<Vec<Budget>> {
    let query = session.query("SELECT budget FROM budgets WHERE tenant_id = $1 ORDER BY budget_id");
    let rows = query.bind(tenant_id.to_owned()).fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| decoded(row, "budget")).collect()
}

/// Where it stands is the ledger's to tell.
fn encoded(budget: &Budget) -> Vec<u8> {
    Budget { status: None, ..budget.clone() }.encode_to_vec()
}
