//! Which tables answer a question about a window, each for its part of it.

use crate::time::Unit;
use signalbox_api::v1::query_usage_request::Interval;

/// A table that knows sums, the finest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Table {
    Monthly,
    Daily,
    Hourly,
    Events,
}

/// Half-open windows of a table, in microseconds.
pub(crate) type Parts = Vec<(Table, Vec<(i64, i64)>)>;

impl Table {
    /// The tables that can answer in buckets of this length.
    pub(crate) fn for_interval(interval: Interval) -> &'static [Self] {
        const ALL: &[Table] = &[Table::Monthly, Table::Daily, Table::Hourly, Table::Events];
        match interval {
            Interval::Unspecified | Interval::Month => ALL,
            Interval::Day => ALL.get(1..).unwrap_or_default(),
            Interval::Hour => ALL.get(2..).unwrap_or_default(),
        }
    }

    fn unit(self) -> Option<Unit> {
        match self {
            Self::Monthly => Some(Unit::Month),
            Self::Daily => Some(Unit::Day),
            Self::Hourly => Some(Unit::Hour),
            Self::Events => None,
        }
    }
}

/// Splits a window so that each part is answered exactly by the coarsest table that can.
pub(crate) fn parts(tables: &[Table], start: i64, end: i64) -> Parts {
    let mut parts = Parts::new();
    split(tables, start, end, &mut parts);
    parts.sort_by_key(|(table, _)| *table);
    parts
}

fn split(tables: &[Table], start: i64, end: i64, parts: &mut Parts) {
    let Some((&table, finer)) = tables.split_first() else { return };
    if start >= end {
        return;
    }
    let Some(unit) = table.unit() else { return add(parts, table, start, end) };
    let (first, last) = (unit.ceil(start), unit.floor(end));
    if first < last {
        split(finer, start, first, parts);
        add(parts, table, first, last);
        split(finer, last, end, parts);
    } else {
        split(finer, start, end, parts);
    }
}

fn add(parts: &mut Parts, table: Table, start: i64, end: i64) {
    match parts.iter_mut().find(|(other, _)| *other == table) {
        Some((_, windows)) => windows.push((start, end)),
        None => parts.push((table, vec![(start, end)])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
    }

    fn tables(interval: Interval, start: &str, end: &str) -> Vec<(Table, usize)> {
        let parts = parts(Table::for_interval(interval), at(start), at(end));
        parts.into_iter().map(|(table, windows)| (table, windows.len())).collect()
    }

    #[test]
    fn whole_years_are_answered_by_months_alone() {
        let parts = tables(Interval::Month, "2024-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
        assert_eq!(parts, [(Table::Monthly, 1)]);
    }

    #[test]
    fn ragged_edges_are_answered_by_finer_tables() {
        let parts = tables(Interval::Unspecified, "2026-01-30T22:30:00Z", "2026-03-02T01:00:00.5Z");
        assert_eq!(parts, [(Table::Monthly, 1), (Table::Daily, 2), (Table::Hourly, 2), (Table::Events, 2)]);
    }

    #[test]
    fn no_table_is_coarser_than_the_buckets() {
        let window = ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z");
        assert_eq!(tables(Interval::Hour, window.0, window.1), [(Table::Hourly, 1)]);
        assert_eq!(tables(Interval::Day, window.0, window.1), [(Table::Daily, 1)]);
    }

    #[test]
    fn parts_cover_the_window_once() {
        let (start, end) = (at("2025-12-31T23:59:59.999999Z"), at("2026-04-01T00:00:00.000001Z"));
        let parts = parts(Table::for_interval(Interval::Unspecified), start, end);
        let mut windows: Vec<(i64, i64)> = parts.into_iter().flat_map(|(_, windows)| windows).collect();
        windows.sort_unstable();
        let joined = windows.windows(2).all(|pair| matches!(pair, [a, b] if a.1 == b.0));
        assert!(joined && windows.first().unwrap().0 == start && windows.last().unwrap().1 == end);
    }
}
