//! What stands in a table, whatever the form of its file.

use prost_types::{Duration, Timestamp};
use signalbox_api::v1::Cost;

/// A column: its name, what it holds, and how to find it in a row.
pub(crate) struct Column<T> {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) cell: for<'r> fn(&'r T) -> Cell<'r>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Flag,
    /// Microseconds; may be missing.
    Micros,
    /// To the microsecond, UTC; may be missing.
    Time,
    /// A calendar day, UTC.
    Day,
}

/// What stands in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell<'r> {
    Text(&'r str),
    Number(i64),
    Flag(bool),
    Micros(Option<i64>),
    /// Microseconds since 1970.
    Time(Option<i64>),
    /// Days since 1970.
    Day(i32),
}

impl<'r> Cell<'r> {
    pub(crate) fn count(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }

    pub(crate) fn span(span: Option<&Duration>) -> Self {
        Self::Micros(span.map(|span| micros(span.seconds, span.nanos)))
    }

    pub(crate) fn time(time: Option<&Timestamp>) -> Self {
        Self::Time(time.map(|time| micros(time.seconds, time.nanos)))
    }

    pub(crate) fn day(time: Option<&Timestamp>) -> Self {
        let days = time.map_or(0, |time| time.seconds.div_euclid(24 * 60 * 60));
        Self::Day(i32::try_from(days).unwrap_or_default())
    }
}

fn micros(seconds: i64, nanos: i32) -> i64 {
    seconds.saturating_mul(1_000_000).saturating_add(i64::from(nanos / 1_000))
}

/// Columns by what they hold, their name, and what stands in them.
macro_rules! columns {
    ($($kind:ident $name:ident: $row:ident => $cell:expr,)*) => {
        &[$(Column { name: stringify!($name), kind: Kind::$kind, cell: |$row| $cell },)*]
    };
}
pub(super) use columns;

pub(super) fn money(cost: Option<&Cost>) -> Cell<'static> {
    Cell::Number(cost.map_or(0, |cost| cost.nano_eur))
}

pub(super) fn unknown(cost: Option<&Cost>) -> Cell<'static> {
    Cell::Flag(cost.is_some_and(|cost| cost.unknown))
}

pub(super) fn price_version(cost: Option<&Cost>) -> Cell<'_> {
    Cell::Text(cost.map_or("", |cost| &cost.price_version))
}
