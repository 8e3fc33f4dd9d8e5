//! Months that are closed: nothing is added to them any more.

use crate::{
    limits,
    time::{self, Unit},
};
use clickhouse::{Client, Row};
use serde::Deserialize;
use signalbox_ports::usage_store::StoreFailure;
use std::time::{Duration, SystemTime};

/// The rows of `usage_closings`.
#[derive(Debug, Default)]
pub(crate) struct Closings(Vec<Closing>);

#[derive(Debug, Row, Deserialize)]
struct Closing {
    before: i64,
    at: i64,
}

impl Closings {
    pub(crate) async fn load(client: &Client) -> Result<Self, StoreFailure> {
        let query = client.query("SELECT before, at FROM usage_closings");
        limits::bounded(limits::LOOKUP, query.fetch_all()).await.map(Self)
    }

    /// When an event counts: at its end, or now if that month is being closed.
    pub(crate) fn counted_at(&self, ended_at: i64, now: i64) -> i64 {
        let closed_before = self.closed_before();
        if ended_at < closed_before { now.max(closed_before) } else { ended_at }
    }

    /// When the month that ends at `end` was closed, if that is over: inserts that began before may still add to it.
    pub(crate) fn closed_at(&self, end: i64, now: i64) -> Option<i64> {
        let closings = self.0.iter().filter(|closing| closing.before >= end);
        closings.map(|closing| closing.at).min().filter(|at| *at <= now)
    }

    fn closed_before(&self) -> i64 {
        self.0.iter().map(|closing| closing.before).max().unwrap_or(0)
    }
}

/// Closes all months that ended before a time. It takes `delay` until they are closed. Until when they will be, where that
/// is new.
pub(crate) async fn close(
    client: &Client,
    before: SystemTime,
    now: SystemTime,
    delay: Duration,
) -> Result<Option<SystemTime>, StoreFailure> {
    let before = Unit::Month.floor(time::micros(before));
    if Closings::load(client).await?.closed_before() >= before {
        return Ok(None);
    }
    let at = time::micros(now + delay);
    // Of several that close at the same time one row stays.
    let sql = "INSERT INTO usage_closings (before, at)
        SELECT fromUnixTimestamp64Micro({before:Int64}, 'UTC'), fromUnixTimestamp64Micro({at:Int64}, 'UTC')";
    let insert = client.query(sql).param("before", before).param("at", at);
    let insert = insert.with_setting("insert_deduplication_token", before.to_string());
    limits::bounded(limits::INSERT, insert.execute()).await?;
    Ok(Some(time::system_time(before)))
}

/// What the server's clock says.
pub(crate) async fn server_time(client: &Client) -> Result<SystemTime, StoreFailure> {
    let query = client.query("SELECT toUnixTimestamp64Micro(now64(6))");
    limits::bounded(limits::LOOKUP, query.fetch_one::<i64>()).await.map(time::system_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closings(rows: &[(i64, i64)]) -> Closings {
        Closings(rows.iter().map(|&(before, at)| Closing { before, at }).collect())
    }

    #[test]
    fn a_late_event_counts_when_it_comes() {
        let closings = closings(&[(100, 110), (200, 210)]);
        assert_eq!(closings.counted_at(199, 500), 500);
        assert_eq!(closings.counted_at(200, 500), 200);
        assert_eq!(closings.counted_at(50, 150), 200, "never into a closed month, whatever the clock says");
    }

    #[test]
    fn a_month_is_closed_by_the_first_closing_after_it_and_only_when_its_delay_is_over() {
        let closings = closings(&[(200, 210), (100, 110)]);
        assert_eq!(closings.closed_at(100, 300), Some(110));
        assert_eq!(closings.closed_at(101, 300), Some(210));
        assert_eq!(closings.closed_at(101, 209), None);
        assert_eq!(closings.closed_at(201, 300), None);
    }
}
