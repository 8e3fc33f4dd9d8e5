//! Those in a file.

use super::{Follower, Lines, Tables, account, pair};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use std::path::Path;

const BETWEEN: char = '|';
/// Each level, where a bucket of it begins, and which events it holds: days and months get whole hours.
const LEVELS: [(&str, &str, &str); 3] = [
    ("usage_hourly", "counted_at / 1000000000 / 3600 * 3600", "true"),
    ("usage_daily", "counted_at / 1000000000 / 86400 * 86400", FOLDED),
    ("usage_monthly", "unixepoch(counted_at / 1000000000, 'unixepoch', 'start of month')", FOLDED),
];
const FOLDED: &str = "counted_at / 1000000000 < (SELECT until FROM usage_folded)";

/// What all tables say.
pub(crate) async fn sqlite(path: &Path) -> Result<Tables, String> {
    let connected = SqliteConnection::connect(&format!("sqlite:{}", path.display())).await;
    let mut file = connected.map_err(|error| error.to_string())?;
    let counts = "SELECT count(*) || '|' || count(DISTINCT event_id) FROM usage_events";
    let (rows, events) = pair(&lines(&mut file, counts.to_owned()).await?, BETWEEN)?;
    let names = "s.tenant || '|' || s.model || '|'";
    let sums = "sum(attempts) || '|' || sum(cost_nano_eur) || '|' || sum(input_tokens + output_tokens)";
    let group =
        "JOIN usage_series s ON s.id = series GROUP BY s.tenant, s.model, at ORDER BY s.tenant, s.model, at";
    let raw = format!(
        "SELECT {names} || count(*) || '|' || {sums} FROM (SELECT *, 0 AS at FROM usage_events) {group}"
    );
    let mut followers = Vec::new();
    for (name, begin, held) in LEVELS {
        let raw = format!(
            "SELECT {names} || at || '|' || count(*) || '|' || {sums}
            FROM (SELECT *, {begin} AS at FROM usage_events WHERE {held}) {group}"
        );
        let rolled_up = format!(
            "SELECT {names} || at || '|' || sum(requests) || '|' || {sums}
            FROM (SELECT *, start AS at FROM {name}) {group}"
        );
        let (expected, found) = (lines(&mut file, raw).await?, lines(&mut file, rolled_up).await?);
        followers.push(Follower { name, expected, found });
    }
    Ok(Tables { rows, events, account: account(&lines(&mut file, raw).await?, BETWEEN)?, followers })
}

async fn lines(file: &mut SqliteConnection, sql: String) -> Result<Lines, String> {
    let lines = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(file).await;
    lines.map_err(|error| error.to_string())
}
