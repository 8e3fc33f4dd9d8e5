//! The tables themselves, by SQL.

use crate::{
    check::{same, same_accounts},
    ledger::{Account, Sums},
    parts::DATABASE,
};
use clickhouse::Client;
use signalbox_testkit::ClickHouseEngine;
use sqlx::{Connection as _, SqliteConnection};
use std::{collections::BTreeMap, fmt, path::Path};

/// What a table says: sums by group, one line each.
type Lines = Vec<String>;

/// The tables of a store.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// Rows of the raw table, and different events among them.
    rows: u64,
    events: u64,
    /// By tenant and model, from the raw table.
    account: Account,
    /// By tenant, model and hour, day or month: the raw table's sums, and the roll-up's.
    levels: BTreeMap<&'static str, (Lines, Lines)>,
    /// Model calls by tenant and model of the call: from the events, and from a table of their own.
    attempts: Option<(Lines, Lines)>,
}

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nano_eur: i64 = self.account.values().map(|sums| sums.nano_eur).sum();
        let (euros, rest) = (nano_eur / 1_000_000_000, nano_eur % 1_000_000_000);
        write!(f, "{} rows, {} events, {euros}.{rest:09} EUR", self.rows, self.events)
    }
}

impl Tables {
    pub(crate) fn judge(&self, expected: &Account, problems: &mut Vec<String>) {
        let events = expected.values().map(|sums| sums.requests).sum();
        same(problems, "rows of the raw table", &events, &self.rows);
        same(problems, "different events in it", &events, &self.events);
        same_accounts(problems, "the raw table", expected, &self.account);
        let attempts = self.attempts.iter().map(|pair| ("attempts", pair));
        for (name, (raw, sums)) in self.levels.iter().map(|(name, pair)| (*name, pair)).chain(attempts) {
            same(problems, &format!("groups of {name}"), &raw.len(), &sums.len());
            let differing = raw.iter().zip(sums).filter(|(raw, sums)| raw != sums);
            problems
                .extend(differing.take(5).map(|(raw, sums)| format!("{name}: `{sums}` in place of `{raw}`")));
        }
    }
}

const LEVELS: [(&str, &str, &str); 3] = [
    ("usage_hourly", "hour", "toStartOfHour(counted_at)"),
    ("usage_daily", "day", "toDate(counted_at)"),
    ("usage_monthly", "month", "toStartOfMonth(counted_at)"),
];

/// Those in the engine.
pub(crate) async fn clickhouse(url: &str) -> Result<Tables, String> {
    let client = Client::default().with_url(url).with_database(DATABASE);
    let client = client.with_user(ClickHouseEngine::USER).with_password(ClickHouseEngine::PASSWORD);
    let ask = async |sql: String| lines(&client, &sql).await;
    let counts = ask("SELECT count(), uniqExact(event_id) FROM usage_events".to_owned()).await?;
    let (rows, events) = pair(&counts, '\t')?;
    let mut tables = Tables { rows, events, ..Tables::default() };
    let sums = "sum(cost), sum(input_tokens + output_tokens)";
    let raw = format!(
        "SELECT tenant_id, model, count(), sum(attempts_made), {sums} FROM usage_events GROUP BY ALL ORDER BY ALL"
    );
    tables.account = account(&ask(raw).await?, '\t')?;
    for (table, bucket, of) in LEVELS {
        let raw = format!(
            "SELECT tenant_id, model, {of} AS bucket, count(), sum(attempts_made), {sums} FROM usage_events
            GROUP BY tenant_id, model, bucket ORDER BY tenant_id, model, bucket"
        );
        let rolled_up = format!(
            "SELECT tenant_id, model, {bucket} AS bucket, sum(r.requests), sum(r.attempts), sum(r.cost),
            sum(r.input_tokens + r.output_tokens) FROM {table} AS r
            GROUP BY tenant_id, model, bucket ORDER BY tenant_id, model, bucket"
        );
        tables.levels.insert(table, (ask(raw).await?, ask(rolled_up).await?));
    }
    let calls = "SELECT tenant_id, a.model AS called, count(), sum(a.cost), sum(a.output_tokens)
        FROM usage_events ARRAY JOIN attempts AS a GROUP BY tenant_id, called ORDER BY tenant_id, called";
    let own = "SELECT tenant_id, model, count(), sum(cost), sum(output_tokens) FROM provider_attempts
        GROUP BY tenant_id, model ORDER BY tenant_id, model";
    tables.attempts = Some((ask(calls.to_owned()).await?, ask(own.to_owned()).await?));
    Ok(tables)
}

async fn lines(client: &Client, sql: &str) -> Result<Lines, String> {
    let problem = |error: clickhouse::error::Error| format!("{error}: {sql}");
    let mut answer = client.query(sql).fetch_bytes("TabSeparated").map_err(problem)?;
    let text = answer.collect().await.map_err(problem)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

/// Those in a file.
pub(crate) async fn sqlite(path: &Path) -> Result<Tables, String> {
    let problem = |error: sqlx::Error| error.to_string();
    let mut file = SqliteConnection::connect(&format!("sqlite:{}", path.display())).await.map_err(problem)?;
    let mut answers = Vec::new();
    let sums = "sum(attempts) || '|' || sum(cost_nano_eur) || '|' || sum(input_tokens + output_tokens)";
    let names = "s.tenant || '|' || s.model || '|'";
    let mut wanted = vec![
        "SELECT count(*) || '|' || count(DISTINCT event_id) FROM usage_events".to_owned(),
        format!("SELECT {names} || count(*) || '|' || {sums} FROM usage_events JOIN usage_series s ON s.id = series
            GROUP BY s.tenant, s.model ORDER BY s.tenant, s.model"),
    ];
    for (table, begin) in [
        ("usage_hourly", "counted_at / 1000000000 / 3600 * 3600"),
        ("usage_daily", "counted_at / 1000000000 / 86400 * 86400"),
        ("usage_monthly", "unixepoch(counted_at / 1000000000, 'unixepoch', 'start of month')"),
    ] {
        let (order, join) = (
            "GROUP BY s.tenant, s.model, at ORDER BY s.tenant, s.model, at",
            "usage_series s ON s.id = series",
        );
        wanted.push(format!(
            "SELECT {names} || at || '|' || count(*) || '|' || {sums}
            FROM (SELECT *, {begin} AS at FROM usage_events) JOIN {join} {order}"
        ));
        wanted.push(format!(
            "SELECT {names} || at || '|' || sum(requests) || '|' || {sums}
            FROM (SELECT *, start AS at FROM {table}) JOIN {join} {order}"
        ));
    }
    for sql in wanted {
        let lines: Lines =
            sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(&mut file).await.map_err(problem)?;
        answers.push(lines);
    }
    let mut answers = answers.into_iter();
    let mut next = || answers.next().unwrap_or_default();
    let (rows, events) = pair(&next(), '|')?;
    let mut tables = Tables { rows, events, account: account(&next(), '|')?, ..Tables::default() };
    for (table, _, _) in LEVELS {
        tables.levels.insert(table, (next(), next()));
    }
    Ok(tables)
}

fn pair(lines: &[String], between: char) -> Result<(u64, u64), String> {
    let both = lines.first().and_then(|line| line.split_once(between));
    let number = |text: &str| text.parse().ok();
    both.and_then(|(one, other)| Some((number(one)?, number(other)?)))
        .ok_or_else(|| format!("no counts in {lines:?}"))
}

/// From lines of tenant, model, requests, attempts, cost, tokens.
fn account(lines: &[String], between: char) -> Result<Account, String> {
    let entry = |line: &String| {
        let mut words = line.split(between);
        let key = (words.next()?.to_owned(), words.next()?.to_owned());
        let (requests, attempts) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let nano_eur = nano_eur(words.next()?, between)?;
        Some((key, Sums { requests, attempts, tokens: words.next()?.parse().ok()?, nano_eur }))
    };
    lines.iter().map(|line| entry(line).ok_or_else(|| format!("cannot be read: {line}"))).collect()
}

/// Nano-EUR as SQLite has them, or EUR with up to nine decimals as ClickHouse writes them.
fn nano_eur(text: &str, between: char) -> Option<i64> {
    if between == '|' {
        return text.parse().ok();
    }
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let rest: i64 = format!("{rest:0<9}").parse().ok()?;
    Some(whole.parse::<i64>().ok()? * 1_000_000_000 + rest)
}
