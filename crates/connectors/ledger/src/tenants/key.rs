//! API keys: what they are, and the digest of each, which no list tells.

use super::{Found, audit, change, tenant};
use crate::stored::{decoded, json, most, nanos, timestamp};
use prost::Message;
use serde::Serialize;
use signalbox_api::v1::{ApiKey, AuditEntry};
use signalbox_ports::tenants::{Change, TenantStoreError};
use signalbox_sql::Session;
use sqlx::{Row, any::AnyRow};
use std::time::SystemTime;

pub(super) async fn create(
    session: &mut Session<'_>,
    key: &ApiKey,
    digest: &[u8; 32],
    audit: &AuditEntry,
) -> Found<()> {
    if !tenant::exists(session, &key.tenant_id).await? {
        return Ok(Err(TenantStoreError::NotFound));
    }
    let query = session.query(
        "INSERT INTO api_keys (key_id, tenant_id, digest, revoked_at, used_at, api_key) \
         VALUES ($1, $2, $3, 0, 0, $4) ON CONFLICT DO NOTHING",
    );
    let query = query
        .bind(key.key_id.clone())
        .bind(key.tenant_id.clone())
        .bind(digest.to_vec())
        .bind(key.encode_to_vec());
    if query.execute(&mut *session.connection).await?.rows_affected() == 0 {
        return Ok(Err(TenantStoreError::Exists));
    }
    tell(session, &key.key_id, audit).await?;
    Ok(Ok(()))
}

async fn tell(session: &mut Session<'_>, key_id: &str, audit: &AuditEntry) -> sqlx::Result<()> {
    audit::write(session, audit).await?;
    change::write(session, &Change::Key { key_id: key_id.to_owned() }).await
}

pub(super) async fn get(session: &mut Session<'_>, key_id: &str) -> sqlx::Result<Option<(ApiKey, [u8; 32])>> {
    let query = session.query("SELECT digest, revoked_at, used_at, api_key FROM api_keys WHERE key_id = $1");
    let row = query.bind(key_id.to_owned()).fetch_optional(&mut *session.connection).await?;
    row.map(|row| Ok((key(&row)?, digest(&row)?))).transpose()
}

pub(super) async fn list(
    session: &mut Session<'_>,
    tenant_id: &str,
    after: Option<&str>,
    limit: usize,
) -> sqlx::Result<Vec<ApiKey>> {
    let query = session.query(
        "SELECT revoked_at, used_at, api_key FROM api_keys WHERE tenant_id = $1 \
         AND ($2 = '' OR position < (SELECT position FROM api_keys WHERE key_id = $2)) \
         ORDER BY position DESC LIMIT $3",
    );
    let query = query.bind(tenant_id.to_owned()).bind(after.unwrap_or_default().to_owned()).bind(most(limit));
    query.fetch_all(&mut *session.connection).await?.iter().map(key).collect()
}

pub(super) async fn revoke(
    session: &mut Session<'_>,
    tenant_id: &str,
    key_id: &str,
    at: SystemTime,
    audit: &AuditEntry,
) -> Found<ApiKey> {
    let query = session
        .query("UPDATE api_keys SET revoked_at = $1 WHERE tenant_id = $2 AND key_id = $3 AND revoked_at = 0");
    let query = query.bind(nanos(at).max(1)).bind(tenant_id.to_owned()).bind(key_id.to_owned());
    if query.execute(&mut *session.connection).await?.rows_affected() == 1 {
        tell(session, key_id, audit).await?;
    }
    let found = get(session, key_id).await?.filter(|(key, _)| key.tenant_id == tenant_id);
    Ok(found.map(|(key, _)| key).ok_or(TenantStoreError::NotFound))
}

pub(super) async fn used(session: &mut Session<'_>, uses: &[(String, SystemTime)]) -> sqlx::Result<()> {
    #[derive(Serialize)]
    struct Use<'a> {
        key_id: &'a str,
        used_at: i64,
    }
    let uses: Vec<Use<'_>> = uses.iter().map(|(key_id, at)| Use { key_id, used_at: nanos(*at) }).collect();
    let given = session.engine.given("$1", "key_id text, used_at bigint");
    // The latest of each; whoever notes uses at the same time takes the rows in the same order.
    let sql = format!(
        "SELECT t.key_id, CAST(given.used_at AS BIGINT) AS used_at FROM {given} \
         JOIN api_keys t ON t.key_id = given.key_id ORDER BY t.key_id, given.used_at{}",
        session.engine.for_update()
    );
    let rows = session.query(sql).bind(json(&uses)?).fetch_all(&mut *session.connection).await?;
    for row in &rows {
        let query = session.query("UPDATE api_keys SET used_at = $1 WHERE key_id = $2 AND used_at < $1");
        let query = query.bind(row.try_get::<i64, _>("used_at")?).bind(row.try_get::<String, _>("key_id")?);
        query.execute(&mut *session.connection).await?;
    }
    Ok(())
}

pub(super) async fn any(session: &mut Session<'_>) -> sqlx::Result<bool> {
    let query = session.query("SELECT key_id FROM api_keys LIMIT 1");
    Ok(query.fetch_optional(&mut *session.connection).await?.is_some())
}

/// A key as it is now.
fn key(row: &AnyRow) -> sqlx::Result<ApiKey> {
    let key: ApiKey = decoded(row, "api_key")?;
    let revoke_time = timestamp(row.try_get("revoked_at")?).or(key.revoke_time);
    let last_use_time = timestamp(row.try_get("used_at")?).or(key.last_use_time);
    Ok(ApiKey { revoke_time, last_use_time, ..key })
}

fn digest(row: &AnyRow) -> sqlx::Result<[u8; 32]> {
    let digest: Vec<u8> = row.try_get("digest")?;
    digest.try_into().map_err(|_| sqlx::Error::Decode("a digest that is not 32 bytes long".into()))
}
