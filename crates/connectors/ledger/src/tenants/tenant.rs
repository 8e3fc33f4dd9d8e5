//! Tenants.

use super::{Found, audit, change};
use crate::stored::{decoded, most};
use prost::Message;
use signalbox_api::v1::{AuditEntry, Tenant};
use signalbox_ports::tenants::{Change, TenantStoreError};
use signalbox_sql::Session;

pub(super) async fn create(session: &mut Session<'_>, tenant: &Tenant, audit: &AuditEntry) -> Found<()> {
    let query = session.query(
        "INSERT INTO tenants (tenant_id, etag, tenant) VALUES ($1, $2, $3) ON CONFLICT (tenant_id) DO NOTHING",
    );
    let query = query.bind(tenant.tenant_id.clone()).bind(tenant.etag.clone()).bind(tenant.encode_to_vec());
    if query.execute(&mut *session.connection).await?.rows_affected() == 0 {
        return Ok(Err(TenantStoreError::Exists));
    }
    tell(session, tenant, audit).await
}

pub(super) async fn update(
    session: &mut Session<'_>,
    tenant: &Tenant,
    etag: &str,
    audit: &AuditEntry,
) -> Found<()> {
    let query = session.query("UPDATE tenants SET etag = $1, tenant = $2 WHERE tenant_id = $3 AND etag = $4");
    let query = query
        .bind(tenant.etag.clone())
        .bind(tenant.encode_to_vec())
        .bind(tenant.tenant_id.clone())
        .bind(etag.to_owned());
    if query.execute(&mut *session.connection).await?.rows_affected() == 0 {
        let is_there = exists(session, &tenant.tenant_id).await?;
        return Ok(Err(if is_there { TenantStoreError::Changed } else { TenantStoreError::NotFound }));
    }
    tell(session, tenant, audit).await
}

async fn tell(session: &mut Session<'_>, tenant: &Tenant, audit: &AuditEntry) -> Found<()> {
    audit::write(session, audit).await?;
    change::write(session, &Change::Tenant { tenant_id: tenant.tenant_id.clone() }).await?;
    Ok(Ok(()))
}

pub(super) async fn exists(session: &mut Session<'_>, tenant_id: &str) -> sqlx::Result<bool> {
    let query =
        session.query("SELECT tenant_id FROM tenants WHERE tenant_id = $1").bind(tenant_id.to_owned());
    Ok(query.fetch_optional(&mut *session.connection).await?.is_some())
}

pub(super) async fn get(session: &mut Session<'_>, tenant_id: &str) -> sqlx::Result<Option<Tenant>> {
    let query = session.query("SELECT tenant FROM tenants WHERE tenant_id = $1").bind(tenant_id.to_owned());
    let row = query.fetch_optional(&mut *session.connection).await?;
    row.map(|row| decoded(&row, "tenant")).transpose()
}

pub(super) async fn list(session: &mut Session<'_>, after: &str, limit: usize) -> sqlx::Result<Vec<Tenant>> {
    let query = session.query("SELECT tenant FROM tenants WHERE tenant_id > $1 ORDER BY tenant_id LIMIT $2");
    let query = query.bind(after.to_owned()).bind(most(limit));
    query.fetch_all(&mut *session.connection).await?.iter().map(|row| decoded(row, "tenant")).collect()
}
