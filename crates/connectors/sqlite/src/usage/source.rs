//! What a query reads: of each part of its window the roll-up that can answer, or the events, in the same columns.

use super::{
    level::{SECOND, Segment},
    series,
    sums::COUNTS,
};
use signalbox_api::v1::UsageFilter;
use sqlx::{QueryBuilder, Sqlite};

/// Appends ` FROM … WHERE …`: rows `r` of the parts, each with its series `s`, that a filter lets through.
pub(super) fn push(sql: &mut QueryBuilder<Sqlite>, segments: &[Segment], filter: &UsageFilter) {
    sql.push(" FROM (");
    for (number, segment) in segments.iter().enumerate() {
        if number > 0 {
            sql.push(" UNION ALL ");
        }
        push_segment(sql, segment, filter);
    }
    // In this order: the rows are read once, and the series of each is looked up.
    sql.push(") r CROSS JOIN usage_series s ON s.id = r.series WHERE true");
    push_filter(sql, filter);
}

fn push_segment(sql: &mut QueryBuilder<Sqlite>, segment: &Segment, filter: &UsageFilter) {
    match segment.level {
        Some(level) => {
            let counts = COUNTS.join(", ");
            sql.push(format!(
                "SELECT start, series, '' AS reference, {counts}, certainty, latency, first_token"
            ));
            sql.push(format!(" FROM {} WHERE start >= ", level.table()));
            sql.push_bind(segment.start / SECOND).push(" AND start < ").push_bind(segment.end / SECOND);
        }
        None => {
            let counts = COUNTS[1..].join(", ");
            sql.push(format!(
                "SELECT counted_at / {SECOND} AS start, series, reference, 1 AS requests, {counts}, "
            ));
            sql.push(
                "certainty, latency || ';' AS latency, first_token || ';' AS first_token FROM usage_events",
            );
            sql.push(" WHERE counted_at >= ").push_bind(segment.start);
            sql.push(" AND counted_at < ").push_bind(segment.end);
            push_references(sql, &filter.references);
        }
    }
}

/// Appends conditions on the series `s`.
pub(super) fn push_filter(sql: &mut QueryBuilder<Sqlite>, filter: &UsageFilter) {
    for (column, values) in series::wanted(filter) {
        sql.push(format!(" AND s.{column} IN "));
        push_list(sql, &values);
    }
}

/// Appends a condition on the reference of events, told so that its index can be used.
pub(super) fn push_references(sql: &mut QueryBuilder<Sqlite>, references: &[String]) {
    if references.is_empty() {
        return;
    }
    sql.push(" AND reference IN ");
    push_list(sql, references);
    if references.iter().all(|reference| !reference.is_empty()) {
        sql.push(" AND reference <> ''");
    }
}

fn push_list(sql: &mut QueryBuilder<Sqlite>, values: &[String]) {
    sql.push("(");
    let mut list = sql.separated(", ");
    for value in values {
        list.push_bind(value.clone());
    }
    sql.push(")");
}
