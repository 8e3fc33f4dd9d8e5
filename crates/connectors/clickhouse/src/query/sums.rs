//! The SQL of sums.

use super::{
    filter::{Conditions, column},
    plan::{self, Parts, Table},
};
use crate::time;
use signalbox_api::v1::{UsageDimension, query_usage_request::Interval};
use signalbox_ports::usage_store::Query;

/// Columns of the sums: their name, how they come from accounts, and how from other sums.
const SUMS: [(&str, &str, &str); 19] = [
    ("requests", "count()", "sum"),
    ("failed", "countIf(outcome = 'OUTCOME_FAILED')", "sum"),
    ("cancelled", "countIf(outcome = 'OUTCOME_CANCELLED')", "sum"),
    ("attempts", "sum(attempts_made)", "sum"),
    ("fallbacks", "countIf(fallback)", "sum"),
    ("cache_hits", "countIf(cache_hit)", "sum"),
    ("input_tokens", "sum(input_tokens)", "sum"),
    ("cache_read_tokens", "sum(cache_read_tokens)", "sum"),
    ("cache_write_tokens", "sum(cache_write_tokens)", "sum"),
    ("cache_write_1h_tokens", "sum(cache_write_1h_tokens)", "sum"),
    ("output_tokens", "sum(output_tokens)", "sum"),
    ("reasoning_tokens", "sum(reasoning_tokens)", "sum"),
    ("certainty", "max(certainty)", "max"),
    ("cost", "sum(cost)", "sum"),
    ("cost_unknown_requests", "countIf(cost_unknown)", "sum"),
    ("saved", "sum(saved)", "sum"),
    ("saved_unknown_requests", "countIf(saved_unknown)", "sum"),
    (
        "latency",
        "quantilesBFloat16StateIf(0.5, 0.95, 0.99)(latency_us, latency_us > 0)",
        "quantilesBFloat16Merge(0.5, 0.95, 0.99)",
    ),
    (
        "first_token",
        "quantilesBFloat16StateIf(0.5, 0.95, 0.99)(first_token_us, first_token_us > 0)",
        "quantilesBFloat16Merge(0.5, 0.95, 0.99)",
    ),
];

/// A statement, and the times bound in it.
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) times: Vec<(String, i64)>,
}

pub(super) fn statement(query: &Query, conditions: &Conditions) -> Statement {
    let parts = parts(query);
    let by_tenant =
        conditions.are_of_tenants() && query.group_by.iter().all(|it| *it == UsageDimension::Tenant);
    let dimensions: Vec<&str> = query.group_by.iter().filter_map(|dimension| column(*dimension)).collect();
    let mut times = Vec::new();
    let branches: Vec<String> = parts
        .iter()
        .map(|(table, windows)| {
            let window = window(*table, windows, &mut times);
            let source = format!("{} WHERE ({window}){}", name(*table, by_tenant), conditions.sql());
            branch(*table, query.interval, &dimensions, &source)
        })
        .collect();
    Statement { sql: sums(&dimensions, &branches.join("\nUNION ALL\n")), times }
}

/// References are in accounts only.
fn parts(query: &Query) -> Parts {
    let by_reference = query.group_by.contains(&UsageDimension::Reference);
    let tables = if by_reference || !query.filter.references.is_empty() {
        &[Table::Events]
    } else {
        Table::for_interval(query.interval)
    };
    plan::parts(tables, time::micros(query.window.start), time::micros(query.window.end))
}

/// Puts the branches' sums together: dearest first in each bucket, and in a fixed order among equals.
fn sums(dimensions: &[&str], branches: &str) -> String {
    let columns: String =
        SUMS.iter().map(|(name, _, merge)| format!(",\n    {merge}({name}) AS {name}")).collect();
    let texts: Vec<String> = dimensions.iter().map(|it| format!("toString({it})")).collect();
    let keys: String = dimensions.iter().map(|it| format!(", {it}")).collect();
    format!(
        "SELECT\n    toUnixTimestamp(bucket) AS bucket,\n    [{texts}]::Array(String) AS group_values{columns}
FROM (\n{branches}\n)
GROUP BY bucket{keys}
ORDER BY bucket, sum(cost) DESC, group_values
LIMIT {{limit:UInt64}} OFFSET {{offset:UInt64}}",
        texts = texts.join(", "),
    )
}

/// The part of one table. Accounts are summed here, for a digest of each would cost far more than one of all.
fn branch(table: Table, interval: Interval, dimensions: &[&str], source: &str) -> String {
    let keys: String = dimensions.iter().map(|it| format!(", {it}")).collect();
    let bucket = bucket(table, interval);
    let (columns, group): (String, String) = if table == Table::Events {
        let columns = SUMS.iter().map(|(name, sum, _)| format!(", {sum} AS {name}")).collect();
        (columns, format!(" GROUP BY bucket{keys}"))
    } else {
        (SUMS.iter().map(|(name, ..)| format!(", {name}")).collect(), String::new())
    };
    format!("SELECT {bucket} AS bucket{keys}{columns} FROM {source}{group}")
}

/// The start of the bucket, a `DateTime('UTC')`.
fn bucket(table: Table, interval: Interval) -> String {
    let at = at(table);
    match interval {
        Interval::Unspecified => "toDateTime(0, 'UTC')".to_owned(),
        Interval::Hour => format!("toStartOfHour({at})"),
        Interval::Day => format!("toDateTime(toDate({at}), 'UTC')"),
        Interval::Month => format!("toDateTime(toStartOfMonth({at}), 'UTC')"),
    }
}

fn window(table: Table, windows: &[(i64, i64)], times: &mut Vec<(String, i64)>) -> String {
    let at = at(table);
    let each = windows.iter().map(|&(start, end)| {
        let (from, to) = (format!("time_{}", times.len()), format!("time_{}", times.len() + 1));
        let sql = format!("({at} >= {} AND {at} < {})", instant(table, &from), instant(table, &to));
        times.push((from, start));
        times.push((to, end));
        sql
    });
    each.collect::<Vec<_>>().join(" OR ")
}

/// A bound time, of the type of the table's own.
fn instant(table: Table, name: &str) -> String {
    let micros = format!("fromUnixTimestamp64Micro({{{name}:Int64}}, 'UTC')");
    match table {
        Table::Events => micros,
        Table::Hourly => format!("toDateTime({micros}, 'UTC')"),
        Table::Daily | Table::Monthly => format!("toDate({micros}, 'UTC')"),
    }
}

fn at(table: Table) -> &'static str {
    match table {
        Table::Monthly => "month",
        Table::Daily => "day",
        Table::Hourly => "hour",
        Table::Events => "counted_at",
    }
}

fn name(table: Table, by_tenant: bool) -> &'static str {
    match table {
        Table::Monthly if by_tenant => "usage_monthly_by_tenant",
        Table::Monthly => "usage_monthly",
        Table::Daily if by_tenant => "usage_daily_by_tenant",
        Table::Daily => "usage_daily",
        Table::Hourly => "usage_hourly",
        Table::Events => "usage_events",
    }
}
