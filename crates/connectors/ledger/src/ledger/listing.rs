//! What is told of the entries.

use crate::stored::{json, most, nanos, timestamp};
use serde::Serialize;
use signalbox_api::v1::{LedgerEntry, ledger_entry::Kind};
use signalbox_ports::ledger::{EntryQuery, SettledQuery, SettledRequest};
use signalbox_sql::Session;
use sqlx::{Row, any::AnyRow};

/// Entries, newest first.
pub(super) async fn entries(session: &mut Session<'_>, query: &EntryQuery) -> sqlx::Result<Vec<LedgerEntry>> {
    let kinds: Vec<String> = query.kinds.iter().map(|kind| i32::from(*kind).to_string()).collect();
    let of_kind =
        if kinds.is_empty() { String::new() } else { format!("AND kind IN ({})", kinds.join(", ")) };
    let sql = format!(
        "SELECT entry_id, tenant_id, budget_id, period_id, kind, amount, estimated, request_id, hold_id, source_id, \
         reason, created_at FROM entries WHERE tenant_id = $1 AND entry_id < $2 AND ($3 = '' OR budget_id = $3) \
         AND ($4 = '' OR period_id = $4) AND ($5 = '' OR request_id = $5) {of_kind} ORDER BY entry_id DESC LIMIT $6"
    );
    let only = |filter: &Option<String>| filter.clone().unwrap_or_default();
    let query = session
        .query(sql)
        .bind(query.tenant_id.clone())
        .bind(query.before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX))
        .bind(only(&query.budget_id))
        .bind(only(&query.period_id))
        .bind(only(&query.request_id))
        .bind(most(query.most));
    query.fetch_all(&mut *session.connection).await?.iter().map(entry).collect()
}

fn entry(row: &AnyRow) -> sqlx::Result<LedgerEntry> {
    let kind = i32::try_from(row.try_get::<i64, _>("kind")?).ok().and_then(|kind| Kind::try_from(kind).ok());
    Ok(LedgerEntry {
        entry_id: row.try_get::<i64, _>("entry_id")?.cast_unsigned(),
        tenant_id: row.try_get("tenant_id")?,
        budget_id: row.try_get("budget_id")?,
        period_id: row.try_get("period_id")?,
        kind: kind.unwrap_or_default().into(),
        amount_nano_eur: row.try_get("amount")?,
        estimated: row.try_get::<i64, _>("estimated")? == 1,
        request_id: row.try_get("request_id")?,
        hold_id: row.try_get("hold_id")?,
        source_id: row.try_get("source_id")?,
        reason: row.try_get("reason")?,
        create_time: timestamp(row.try_get("created_at")?),
    })
}

/// Requests that were settled.
pub(super) async fn settled(
    session: &mut Session<'_>,
    query: &SettledQuery,
) -> sqlx::Result<Vec<SettledRequest>> {
    #[derive(Serialize)]
    struct Id<'a> {
        id: &'a str,
    }
    let among = match query.request_ids {
        Some(_) => format!("AND request_id IN (SELECT id FROM {})", session.engine.given("$7", "id text")),
        None => "AND $7 = '[]'".to_owned(),
    };
    // Said in the statement, not as an argument: so the index of settlements serves it.
    let settle = i32::from(Kind::Settle);
    let sql = format!(
        "SELECT tenant_id, request_id, budget_id, CAST(SUM(amount) AS BIGINT) AS amount FROM entries \
         WHERE kind = {settle} AND created_at >= $1 AND created_at < $2 AND ($3 = '' OR tenant_id = $3) \
         AND (tenant_id, request_id, budget_id) > ($4, $5, $6) {among} \
         GROUP BY tenant_id, request_id, budget_id ORDER BY tenant_id, request_id, budget_id LIMIT $8"
    );
    let ids: Vec<Id<'_>> = query.request_ids.iter().flatten().map(|id| Id { id }).collect();
    let (tenant_id, request_id, budget_id) = query.after.clone().unwrap_or_default();
    let query = session
        .query(sql)
        .bind(nanos(query.from))
        .bind(nanos(query.until))
        .bind(query.tenant_id.clone())
        .bind(tenant_id)
        .bind(request_id)
        .bind(budget_id)
        .bind(json(&ids)?)
        .bind(most(query.most));
    let rows = query.fetch_all(&mut *session.connection).await?;
    rows.iter().map(request).collect()
}

fn request(row: &AnyRow) -> sqlx::Result<SettledRequest> {
    Ok(SettledRequest {
        tenant_id: row.try_get("tenant_id")?,
        request_id: row.try_get("request_id")?,
        budget_id: row.try_get("budget_id")?,
        amount: row.try_get("amount")?,
    })
}
