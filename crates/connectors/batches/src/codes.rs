//! States as numbers: their places in the order of their enums.

use signalbox_ports::batches::{JobState, Kind, Lane, Outcome, WindowState};
use signalbox_sql::time;
use sqlx::{Row, any::AnyRow};
use std::time::SystemTime;

/// What is stored as a number.
pub(crate) trait Code: Copy + PartialEq + Sized + 'static {
    /// All, in the order of their numbers.
    const ORDER: &'static [Self];

    fn code(self) -> i64 {
        Self::ORDER
            .iter()
            .position(|other| *other == self)
            .and_then(|place| i64::try_from(place).ok())
            .unwrap_or(-1)
    }

    fn read(row: &AnyRow, column: &str) -> sqlx::Result<Self> {
        let code: i64 = row.try_get(column)?;
        let known = usize::try_from(code).ok().and_then(|place| Self::ORDER.get(place).copied());
        known.ok_or_else(|| sqlx::Error::Decode(format!("{column} {code} is not known here").into()))
    }
}

impl Code for JobState {
    const ORDER: &'static [Self] = &Self::ALL;
}

impl Code for WindowState {
    const ORDER: &'static [Self] = &Self::ALL;
}

impl Code for Outcome {
    const ORDER: &'static [Self] = &Self::ALL;
}

impl Code for Lane {
    const ORDER: &'static [Self] = &[Self::Batch, Self::Usual];
}

impl Code for Kind {
    const ORDER: &'static [Self] = &[Self::Generate, Self::Embed];
}

/// A time that may not have come.
pub(crate) fn maybe_time(row: &AnyRow, column: &str) -> sqlx::Result<Option<SystemTime>> {
    let nanos: i64 = row.try_get(column)?;
    Ok((nanos > 0).then(|| time(nanos)))
}

/// A time.
pub(crate) fn time_of(row: &AnyRow, column: &str) -> sqlx::Result<SystemTime> {
    row.try_get(column).map(time)
}

/// A number that is never negative.
pub(crate) fn count(row: &AnyRow, column: &str) -> sqlx::Result<u64> {
    row.try_get::<i64, _>(column).map(|number| number.max(0).cast_unsigned())
}

/// The same, to be stored.
pub(crate) fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
