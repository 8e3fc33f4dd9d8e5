//! The table of events.

use super::{insert::Line, sums::COUNTS};
use sqlx::{AssertSqlSafe, Row, SqliteConnection};
use std::{collections::HashSet, iter::repeat_n};

/// Rows of one statement: a larger one saves nothing more.
const ROWS: usize = 100;
const NAMES: [&str; 5] = ["event_id", "counted_at", "series", "request_id", "reference"];
const LAST: [&str; 4] = ["certainty", "latency", "first_token", "event"];

/// Inserts what is not there yet. The `event_id`s of these.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    lines: &[Line<'_>],
) -> sqlx::Result<HashSet<String>> {
    let mut stored = HashSet::with_capacity(lines.len());
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
        for row in bound.fetch_all(&mut *connection).await? {
            stored.insert(row.try_get(0)?);
        }
    }
    Ok(stored)
}

fn statement(rows: usize) -> String {
    let columns: Vec<&str> = [&NAMES, &COUNTS[1..], &LAST].concat();
    format!(
        "INSERT INTO usage_events ({}) VALUES {} ON CONFLICT DO NOTHING RETURNING event_id",
        columns.join(", "),
        rows_of(columns.len(), rows)
    )
}

/// Places for so many rows of so many values.
pub(super) fn rows_of(columns: usize, rows: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(","));
    repeat_n(row, rows).collect::<Vec<_>>().join(",")
}
