//! The audit trail.

use crate::stored::{decoded, most};
use prost::Message;
use signalbox_api::v1::AuditEntry;
use signalbox_sql::Session;

/// Writes an entry, once.
pub(super) async fn write(session: &mut Session<'_>, entry: &AuditEntry) -> sqlx::Result<()> {
    let query = session.query(
        "INSERT INTO audit (audit_id, tenant_id, entry) VALUES ($1, $2, $3) ON CONFLICT (audit_id) DO NOTHING",
    );
    let query = query.bind(entry.audit_id.clone()).bind(entry.tenant_id.clone()).bind(entry.encode_to_vec());
    query.execute(&mut *session.connection).await?;
    Ok(())
}

/// Entries, newest first.
pub(super) async fn list(
    session: &mut Session<'_>,
    tenant_id: &str,
    before: Option<&str>,
    limit: usize,
) -> sqlx::Result<Vec<AuditEntry>> {
    let query = session.query(
        "SELECT entry FROM audit WHERE ($1 = '' OR tenant_id = $1) \
         AND ($2 = '' OR position < (SELECT position FROM audit WHERE audit_id = $2)) \
         ORDER BY position DESC LIMIT $3",
    );
    let query =
        query.bind(tenant_id.to_owned()).bind(before.unwrap_or_default().to_owned()).bind(most(limit));
    query.fetch_all(&mut *session.connection).await?.iter().map(|row| decoded(row, "entry")).collect()
}
