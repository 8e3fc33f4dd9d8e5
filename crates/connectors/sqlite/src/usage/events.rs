//! The table of events.

use super::{insert::Line, sums::COUNTS};
use sqlx::{AssertSqlSafe, SqliteConnection};
use std::{collections::HashSet, iter::repeat_n};

/// Rows of one statement: a larger one saves nothing more.
const ROWS: usize = 100;
const NAMES: [&str; 5] = ["event_id", "counted_at", "series", "request_id", "reference"];
const LAST: [&str; 4] = ["certainty", "latency", "first_token", "event"];

/// Inserts what is not there yet. The `event_id`s of these, or nothing where it was all of them.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    lines: &[Line<'_>],
) -> sqlx::Result<Option<HashSet<String>>> {
    let newest = "SELECT coalesce(max(id), 0) FROM usage_events";
    let newest: i64 = sqlx::query_scalar(newest).fetch_one(&mut *connection).await?;
    let mut stored = 0;
    for chunk in lines.chunks(ROWS) {
        // Only the statement of a whole chunk is worth keeping.
        let statement = sqlx::query(AssertSqlSafe(statement(chunk.len()))).persistent(chunk.len() == ROWS);
        let bound = chunk.iter().fold(statement, |mut statement, line| {
            let Line { event, counted_at, series, single, encoded } = line;
            statement = statement.bind(&event.event_id).bind(counted_at).bind(series);
            statement = statement.bind(&event.request_id).bind(&event.reference);
            statement = single.counts[1..].iter().fold(statement, |statement, count| statement.bind(count));
            statement.bind(single.certainty).bind(single.latency).bind(single.first_token).bind(encoded)
        });
        stored += bound.execute(&mut *connection).await?.rows_affected();
    }
    if stored == lines.len() as u64 {
        return Ok(None);
    }
    // Nobody else writes now: greater numbers are ours.
    let new = sqlx::query_scalar("SELECT event_id FROM usage_events WHERE id > ?").bind(newest);
    Ok(Some(new.fetch_all(connection).await?.into_iter().collect()))
}

fn statement(rows: usize) -> String {
    let columns: Vec<&str> = [&NAMES, &COUNTS[1..], &LAST].concat();
    format!(
        "INSERT INTO usage_events ({}) VALUES {} ON CONFLICT DO NOTHING",
        columns.join(", "),
        rows_of(columns.len(), rows)
    )
}

/// Places for so many rows of so many values.
pub(super) fn rows_of(columns: usize, rows: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(","));
    repeat_n(row, rows).collect::<Vec<_>>().join(",")
}
