//! Those in ClickHouse's engine.

use super::{Follower, Lines, Tables, account, pair};
use crate::ingesters::DATABASE;
use clickhouse::Client;
use signalbox_testkit::ClickHouseEngine;

const BETWEEN: char = '\t';
const LEVELS: [(&str, &str, &str); 3] = [
    ("usage_hourly", "hour", "toStartOfHour(counted_at)"),
    ("usage_daily", "day", "toDate(counted_at)"),
    ("usage_monthly", "month", "toStartOfMonth(counted_at)"),
];

fn client(url: &str) -> Client {
    let client = Client::default().with_url(url).with_database(DATABASE);
    client.with_user(ClickHouseEngine::USER).with_password(ClickHouseEngine::PASSWORD)
}

/// How many rows the raw table has now.
pub(crate) async fn rows(url: &str) -> Option<u64> {
    client(url).query("SELECT count() FROM usage_events").fetch_one().await.ok()
}

/// What all tables say.
pub(crate) async fn clickhouse(url: &str) -> Result<Tables, String> {
    let client = client(url);
    let ask = async |sql: &str| lines(&client, sql).await;
    let counts = ask("SELECT count(), uniqExact(event_id) FROM usage_events").await?;
    let (rows, events) = pair(&counts, BETWEEN)?;
    let sums = "sum(cost), sum(input_tokens + output_tokens)";
    let raw = format!(
        "SELECT tenant_id, model, count(), sum(attempts_made), {sums} FROM usage_events
        GROUP BY tenant_id, model ORDER BY tenant_id, model"
    );
    let mut followers = Vec::new();
    for (name, bucket, of) in LEVELS {
        let group = "GROUP BY tenant_id, model, bucket ORDER BY tenant_id, model, bucket";
        let raw = format!(
            "SELECT tenant_id, model, {of} AS bucket, count(), sum(attempts_made), {sums} FROM usage_events {group}"
        );
        let rolled_up = format!(
            "SELECT tenant_id, model, {bucket} AS bucket, sum(r.requests), sum(r.attempts), sum(r.cost),
            sum(r.input_tokens + r.output_tokens) FROM {name} AS r {group}"
        );
        followers.push(Follower { name, expected: ask(&raw).await?, found: ask(&rolled_up).await? });
    }
    let calls = "SELECT tenant_id, a.model AS called, count(), sum(a.cost), sum(a.output_tokens)
        FROM usage_events ARRAY JOIN attempts AS a GROUP BY tenant_id, called ORDER BY tenant_id, called";
    let own = "SELECT tenant_id, model, count(), sum(cost), sum(output_tokens) FROM provider_attempts
        GROUP BY tenant_id, model ORDER BY tenant_id, model";
    followers.push(Follower {
        name: "provider_attempts",
        expected: ask(calls).await?,
        found: ask(own).await?,
    });
    Ok(Tables { rows, events, account: account(&ask(&raw).await?, BETWEEN)?, followers })
}

async fn lines(client: &Client, sql: &str) -> Result<Lines, String> {
    let problem = |error: clickhouse::error::Error| format!("{error}: {sql}");
    let mut answer = client.query(sql).fetch_bytes("TabSeparated").map_err(problem)?;
    let text = answer.collect().await.map_err(problem)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}
