//! What replicas must hear of, in the order in which it can be seen.

use crate::stored::most;
use signalbox_ports::tenants::Change;
use signalbox_sql::Session;
use sqlx::{Row, any::AnyRow};

/// So many are kept. Whoever has not heard of one before that many others has long begun anew.
const KEPT: i64 = 100_000;

/// Adds a change. It is the last thing a transaction does: others wait with theirs until it is committed.
pub(super) async fn write(session: &mut Session<'_>, change: &Change) -> sqlx::Result<()> {
    let query = session.query("UPDATE last_change SET position = position + 1 RETURNING position");
    let position: i64 = query.fetch_one(&mut *session.connection).await?.try_get("position")?;
    let (kind, tenant_id, item_id) = match change {
        Change::Tenant { tenant_id } => ("tenant", tenant_id.as_str(), ""),
        Change::Key { key_id } => ("key", "", key_id.as_str()),
        Change::Budget { tenant_id, budget_id } => ("budget", tenant_id.as_str(), budget_id.as_str()),
        Change::Recall { tenant_id, budget_id } => ("recall", tenant_id.as_str(), budget_id.as_str()),
    };
    let query =
        session.query("INSERT INTO changes (position, kind, tenant_id, item_id) VALUES ($1, $2, $3, $4)");
    let query = query.bind(position).bind(kind).bind(tenant_id.to_owned()).bind(item_id.to_owned());
    query.execute(&mut *session.connection).await?;
    let query = session.query("DELETE FROM changes WHERE position <= $1").bind(position - KEPT);
    query.execute(&mut *session.connection).await?;
    Ok(())
}

/// Changes after a point.
pub(super) async fn list(
    session: &mut Session<'_>,
    after: u64,
    limit: usize,
) -> sqlx::Result<Vec<(u64, Change)>> {
    let query = session.query(
        "SELECT position, kind, tenant_id, item_id FROM changes WHERE position > $1 ORDER BY position LIMIT $2",
    );
    let query = query.bind(i64::try_from(after).unwrap_or(i64::MAX)).bind(most(limit));
    query.fetch_all(&mut *session.connection).await?.iter().map(change).collect()
}

pub(super) async fn last(session: &mut Session<'_>) -> sqlx::Result<u64> {
    let row = session.query("SELECT position FROM last_change").fetch_one(&mut *session.connection).await?;
    Ok(row.try_get::<i64, _>("position")?.cast_unsigned())
}

/// Writes something that nobody reads: that it could be written is all that is asked.
pub(super) async fn beat(session: &mut Session<'_>) -> sqlx::Result<()> {
    let query = session.query("UPDATE pulse SET beats = beats + 1");
    query.execute(&mut *session.connection).await?;
    Ok(())
}

fn change(row: &AnyRow) -> sqlx::Result<(u64, Change)> {
    let (kind, tenant_id, item_id): (String, String, String) =
        (row.try_get("kind")?, row.try_get("tenant_id")?, row.try_get("item_id")?);
    let change = match kind.as_str() {
        "tenant" => Change::Tenant { tenant_id },
        "key" => Change::Key { key_id: item_id },
        "budget" => Change::Budget { tenant_id, budget_id: item_id },
        "recall" => Change::Recall { tenant_id, budget_id: item_id },
        other => return Err(sqlx::Error::Decode(format!("a change of the unknown kind {other}").into())),
    };
    Ok((row.try_get::<i64, _>("position")?.cast_unsigned(), change))
}
