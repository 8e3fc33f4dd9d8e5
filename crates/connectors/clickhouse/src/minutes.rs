//! Calls by minute, vendor and model.

use crate::{
    limits::{self, bounded, seconds},
    time,
};
use clickhouse::{Client, Row};
use serde::Deserialize;
use signalbox_ports::usage_store::{Minute, StoreFailure, Window};

const SQL: &str = "SELECT
    toUnixTimestamp(toStartOfMinute(counted_at)) AS minute, vendor, model, count() AS calls,
    countIf(failed) AS failed, countIf(fell_back) AS fell_back, countIf(first_choice) AS first_choices,
    countIf(structured) AS structured, countIf(invalid) AS invalid,
    sum(cost) AS cost, countIf(NOT cost_unknown) AS priced,
    sum(answer_tokens) AS output_tokens, countIf(answered) AS answered
FROM provider_attempts
WHERE counted_at >= fromUnixTimestamp64Micro({start:Int64}, 'UTC')
    AND counted_at < fromUnixTimestamp64Micro({end:Int64}, 'UTC')
GROUP BY minute, vendor, model ORDER BY minute, vendor, model";
const MINUTE: i64 = 60_000_000;

#[derive(Row, Deserialize)]
struct Sums {
    minute: u32,
    vendor: String,
    model: String,
    calls: u64,
    failed: u64,
    fell_back: u64,
    first_choices: u64,
    structured: u64,
    invalid: u64,
    cost: i128,
    priced: u64,
    output_tokens: u64,
    answered: u64,
}

pub(crate) async fn minutes(client: &Client, window: Window) -> Result<Vec<Minute>, StoreFailure> {
    let begun = |time| time::micros(time).div_euclid(MINUTE) * MINUTE;
    let ceil = |time| if begun(time) < time::micros(time) { begun(time) + MINUTE } else { begun(time) };
    let query = client
        .query(SQL)
        .with_setting("max_execution_time", seconds(limits::QUERY))
        .with_setting("prefer_column_name_to_alias", "1")
        .param("start", ceil(window.start))
        .param("end", ceil(window.end));
    let sums: Vec<Sums> = bounded(limits::QUERY, query.fetch_all()).await?;
    Ok(sums.into_iter().map(minute).collect())
}

fn minute(sums: Sums) -> Minute {
    Minute {
        start: time::system_time(i64::from(sums.minute) * 1_000_000),
        vendor: sums.vendor,
        model: sums.model,
        calls: sums.calls,
        failed: sums.failed,
        fell_back: sums.fell_back,
        first_choices: sums.first_choices,
        structured: sums.structured,
        invalid: sums.invalid,
        cost_nano_eur: i64::try_from(sums.cost).unwrap_or(i64::MAX),
        priced: sums.priced,
        output_tokens: sums.output_tokens,
        answered: sums.answered,
    }
}
