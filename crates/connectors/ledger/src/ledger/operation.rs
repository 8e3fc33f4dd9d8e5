//! What was done already.

use crate::stored::json;
use serde::Serialize;
use signalbox_sql::Session;
use sqlx::Row;
use std::collections::{BTreeSet, HashSet};

/// What kinds there are.
pub(super) mod kind {
    pub(in super::super) const GRANT: &str = "grant";
    pub(in super::super) const RETURN: &str = "return";
    pub(in super::super) const RESERVE: &str = "reserve";
    pub(in super::super) const SETTLE: &str = "settle";
    pub(in super::super) const LIMIT: &str = "limit";
}

/// What came of an operation, if it was done. Whoever asks has locked the accounts it is about, so that nobody does it
/// meanwhile.
pub(super) async fn result(
    session: &mut Session<'_>,
    kind: &'static str,
    id: &str,
) -> sqlx::Result<Option<String>> {
    let query = session.query("SELECT result FROM operations WHERE kind = $1 AND id = $2");
    let row = query.bind(kind).bind(id.to_owned()).fetch_optional(&mut *session.connection).await?;
    row.map(|row| row.try_get("result")).transpose()
}

/// Records an operation with what came of it.
pub(super) async fn record(
    session: &mut Session<'_>,
    kind: &'static str,
    id: &str,
    result: String,
) -> sqlx::Result<()> {
    let query = session.query("INSERT INTO operations (kind, id, result) VALUES ($1, $2, $3)");
    query.bind(kind).bind(id.to_owned()).bind(result).execute(&mut *session.connection).await?;
    Ok(())
}

/// Records many; those that were not recorded before.
pub(super) async fn record_all(
    session: &mut Session<'_>,
    kind: &'static str,
    ids: &[&str],
) -> sqlx::Result<HashSet<String>> {
    #[derive(Serialize)]
    struct Id<'a> {
        id: &'a str,
    }
    let ids: Vec<Id<'_>> = ids.iter().map(|id| Id { id }).collect();
    let given = session.engine.given("$2", "id text");
    let sql = format!(
        "INSERT INTO operations (kind, id, result) SELECT $1, id, '' FROM {given} WHERE true ORDER BY id \
         ON CONFLICT (kind, id) DO NOTHING RETURNING id"
    );
    let query = session.query(sql).bind(kind).bind(json(&ids)?);
    let rows = query.fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| row.try_get("id")).collect()
}

/// Forgets operations, by kind and id; how many there were. Whoever asks for one again asks for something new.
pub(super) async fn forget(
    session: &mut Session<'_>,
    operations: &BTreeSet<(&'static str, &str)>,
) -> sqlx::Result<u64> {
    #[derive(Serialize)]
    struct Operation<'a> {
        kind: &'a str,
        id: &'a str,
    }
    if operations.is_empty() {
        return Ok(0);
    }
    let operations: Vec<Operation<'_>> =
        operations.iter().map(|&(kind, id)| Operation { kind, id }).collect();
    let given = session.engine.given("$1", "kind text, id text");
    let sql = format!("DELETE FROM operations WHERE (kind, id) IN (SELECT kind, id FROM {given})");
    let query = session.query(sql).bind(json(&operations)?);
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}
