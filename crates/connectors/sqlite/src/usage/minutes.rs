//! Calls by the minute, vendor and model.

use super::{
    insert::Line,
    level::{SECOND, instant, nanos},
};
use crate::Database;
use signalbox_ports::{
    usage_facts::{Call, calls},
    usage_store::{Minute, Window},
};
use sqlx::{AssertSqlSafe, Row, SqliteConnection, sqlite::SqliteRow};
use std::collections::BTreeMap;

const COUNTS: [&str; 10] = [
    "calls",
    "failed",
    "fell_back",
    "first_choices",
    "structured",
    "invalid",
    "cost_nano_eur",
    "priced",
    "output_tokens",
    "answered",
];

/// What a batch adds, by the start in seconds, vendor and model; in the order of [`COUNTS`].
#[derive(Debug, Default)]
pub(super) struct Minutes<'a>(BTreeMap<(i64, &'a str, &'a str), [i64; COUNTS.len()]>);

impl<'a> Minutes<'a> {
    pub(super) fn of(lines: &[&'a Line<'a>]) -> Self {
        let mut minutes = Self::default();
        for line in lines {
            let second = line.counted_at.div_euclid(SECOND);
            let start = second - second.rem_euclid(60);
            for call in calls(line.event) {
                let sums = minutes.0.entry((start, call.vendor, call.model)).or_default();
                let counts = counts(&call);
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
            }
        }
        minutes
    }

    pub(super) async fn write(&self, connection: &mut SqliteConnection) -> sqlx::Result<()> {
        let columns = COUNTS.join(", ");
        let places = ["?"; COUNTS.len()].join(", ");
        let added = COUNTS.map(|column| format!("{column} = {column} + excluded.{column}")).join(", ");
        let sql = format!(
            "INSERT INTO usage_minutes (start, vendor, model, {columns}) VALUES (?, ?, ?, {places}) \
             ON CONFLICT DO UPDATE SET {added}"
        );
        for ((start, vendor, model), sums) in &self.0 {
            let upsert = sqlx::query(AssertSqlSafe(sql.clone())).bind(start).bind(*vendor).bind(*model);
            let bound = sums.iter().fold(upsert, |upsert, sum| upsert.bind(sum));
            bound.execute(&mut *connection).await?;
        }
        Ok(())
    }
}

fn counts(call: &Call<'_>) -> [i64; COUNTS.len()] {
    [
        1,
        call.failed.into(),
        call.fell_back.into(),
        call.first_choice.into(),
        call.structured.into(),
        call.invalid.into(),
        call.cost_nano_eur.unwrap_or(0),
        call.cost_nano_eur.is_some().into(),
        call.output_tokens.map_or(0, |tokens| i64::try_from(tokens).unwrap_or(i64::MAX)),
        call.output_tokens.is_some().into(),
    ]
}

pub(super) async fn minutes(database: &Database, window: Window) -> sqlx::Result<Vec<Minute>> {
    // The first second that is in, and the first that is out.
    let [first, end] = [window.start, window.end].map(|instant| {
        let nanos = nanos(instant);
        nanos.div_euclid(SECOND) + i64::from(nanos.rem_euclid(SECOND) > 0)
    });
    let sql = format!(
        "SELECT start, vendor, model, {} FROM usage_minutes WHERE start >= ? AND start < ? \
         ORDER BY start, vendor, model",
        COUNTS.join(", ")
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(first).bind(end).fetch_all(database.readers()).await?;
    rows.iter().map(minute).collect()
}

fn minute(row: &SqliteRow) -> sqlx::Result<Minute> {
    let count = |name| row.try_get::<i64, _>(name).map(i64::unsigned_abs);
    Ok(Minute {
        start: instant(row.try_get::<i64, _>("start")?.saturating_mul(SECOND)),
        vendor: row.try_get("vendor")?,
        model: row.try_get("model")?,
        calls: count("calls")?,
        failed: count("failed")?,
        fell_back: count("fell_back")?,
        first_choices: count("first_choices")?,
        structured: count("structured")?,
        invalid: count("invalid")?,
        cost_nano_eur: row.try_get("cost_nano_eur")?,
        priced: count("priced")?,
        output_tokens: count("output_tokens")?,
        answered: count("answered")?,
    })
}
