//! Calendar months, and when they are closed.

use crate::ingest::Backoff;
use jiff::{civil::Date, tz::TimeZone};
use signalbox_api::v1::{UsageFilter, query_usage_request::Interval};
use signalbox_kit::Clock;
use signalbox_ports::usage_store::{Query, StoreFailure, UsageStore, Window};
use signalbox_types::Failure;
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

/// How often it is looked whether a month can be closed.
const EVERY: Duration = Duration::from_secs(15 * 60);
/// The same while nobody else says what time it is.
const SOON: Duration = Duration::from_secs(5);

/// A clock that is further from the store's own closes no month: what it closed could never be opened again.
const MOST_APART: Duration = Duration::from_secs(60 * 60);

/// Closes months some time after their end, again and again.
pub async fn close_months(store: Arc<dyn UsageStore>, after: Duration, clock: Arc<dyn Clock>) {
    let mut backoff = Backoff::default();
    loop {
        match close(&*store, after, clock.now()).await {
            Ok(known) => {
                backoff = Backoff::default();
                tokio::time::sleep(if known { EVERY } else { SOON }).await;
            }
            Err(error) => {
                tracing::warn!(%error, "ended months cannot be closed yet");
                backoff.pause().await;
            }
        }
    }
}

/// Closes what ended so long ago, as far as not only this process's clock says so. Whether it is known how far that is.
async fn close(store: &dyn UsageStore, after: Duration, now: SystemTime) -> Result<bool, StoreFailure> {
    let limit = match limit(store, now).await? {
        Limit::Until(limit) => limit,
        Limit::Apart => return Ok(true),
        Limit::Unknown => return Ok(false),
    };
    let before = now.checked_sub(after).unwrap_or(SystemTime::UNIX_EPOCH).min(limit);
    if let Some(until) =
        store.close_months(before).await?.and_then(|until| jiff::Timestamp::try_from(until).ok())
    {
        tracing::info!(%until, "all months until then are closed: their exports do not change any more");
    }
    Ok(true)
}

/// Until when months may have ended.
enum Limit {
    Until(SystemTime),
    /// The clock here is not to be trusted.
    Apart,
    /// Nobody has said anything yet.
    Unknown,
}

/// Until when months may have ended, by somebody else's word: the store's clock, else the newest account, whose own month
/// may have ended since.
async fn limit(store: &dyn UsageStore, now: SystemTime) -> Result<Limit, StoreFailure> {
    if let Some(told) = store.time().await? {
        let apart = now.duration_since(told).unwrap_or_else(|behind| behind.duration());
        if apart > MOST_APART {
            let seconds = apart.as_secs();
            tracing::error!(
                seconds,
                "this machine's clock and the usage store's are apart: no month is closed here"
            );
            return Ok(Limit::Apart);
        }
        return Ok(Limit::Until(told.min(now)));
    }
    let nothing = Query {
        window: Window { start: now, end: now },
        filter: UsageFilter::default(),
        group_by: Vec::new(),
        interval: Interval::Unspecified,
        limit: 1,
        offset: 0,
    };
    let newest = store.query(&nothing).await?.newest;
    let month = newest.and_then(month_of);
    Ok(month.map_or(Limit::Unknown, |month| Limit::Until(month.end)))
}

/// The window of a month in UTC, as in `2026-11`.
pub(crate) fn month(text: &str) -> Result<Window, Failure> {
    let wrong = || Failure::invalid("month", "must be a month as in 2026-11");
    let digits = text.len() == 7 && text.bytes().enumerate().all(|(at, byte)| (at == 4) == (byte == b'-'));
    let first: Date = digits.then(|| format!("{text}-01").parse().ok()).flatten().ok_or_else(wrong)?;
    window(first).ok_or_else(wrong)
}

/// The month that a time is in.
pub(crate) fn month_of(time: SystemTime) -> Option<Window> {
    let date = jiff::Timestamp::try_from(time).ok()?.to_zoned(TimeZone::UTC).date();
    window(date.first_of_month())
}

fn window(first: Date) -> Option<Window> {
    let next = first.checked_add(jiff::Span::new().months(1)).ok()?;
    Some(Window { start: instant(first)?, end: instant(next)? })
}

fn instant(date: Date) -> Option<SystemTime> {
    date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp().into())
}

/// The days of a month, first to last.
pub(crate) fn days(month: Window) -> impl Iterator<Item = Window> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    std::iter::successors(Some(month.start), |start| Some(*start + DAY))
        .take_while(move |start| *start < month.end)
        .map(|start| Window { start, end: start + DAY })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        samples::{NOW, event},
        world::World,
    };
    use signalbox_api::v1::UsageRow;
    use signalbox_ports::usage_store::{Batch, Counted, Export, Exported, Inserted, Minute, Page, Requests};

    fn seconds(time: SystemTime) -> u64 {
        time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
    }

    #[test]
    fn a_month_begins_and_ends_in_utc() {
        let november = month("2026-11").unwrap();
        assert_eq!((seconds(november.start), seconds(november.end)), (1_793_491_200, 1_796_083_200));
        assert_eq!(days(november).count(), 30);
        assert_eq!(days(month("2028-02").unwrap()).count(), 29);
        assert_eq!(month_of(november.end - Duration::from_nanos(1)), Some(november));
        assert_eq!(month_of(november.end), Some(month("2026-12").unwrap()));
    }

    const YEARS: Duration = Duration::from_secs(4 * 366 * 24 * 60 * 60);
    const DAYS: Duration = Duration::from_secs(3 * 24 * 60 * 60);

    async fn closed(world: &World, text: &str) -> bool {
        let month = month(text).unwrap();
        let export = Export { month, tenant_id: String::new() };
        world.dependencies.store.export(&export).await.unwrap().closed_at.is_some()
    }

    #[tokio::test]
    async fn a_clock_far_ahead_closes_no_month_beyond_that_of_the_newest_account() {
        let world = World::new("{}").await;
        let store = &*world.dependencies.store;
        close(store, DAYS, *NOW + YEARS).await.unwrap();
        assert!(!closed(&world, "2026-10").await, "nothing was counted, so nobody knows what time it is");
        world.store(vec![event("e1")]).await;
        close(store, DAYS, *NOW).await.unwrap();
        assert_eq!((closed(&world, "2026-10").await, closed(&world, "2026-11").await), (true, false));
        close(store, DAYS, *NOW + YEARS).await.unwrap();
        assert_eq!((closed(&world, "2026-11").await, closed(&world, "2026-12").await), (true, false));
    }

    /// A store that has a clock of its own.
    #[derive(Debug)]
    struct Timed<'a>(&'a dyn UsageStore, SystemTime);

    #[async_trait::async_trait]
    impl UsageStore for Timed<'_> {
        async fn migrate(&self) -> Result<(), StoreFailure> {
            self.0.migrate().await
        }
        async fn insert(&self, batch: &Batch) -> Result<Inserted, StoreFailure> {
            self.0.insert(batch).await
        }
        async fn query(&self, query: &Query) -> Result<Page<UsageRow>, StoreFailure> {
            self.0.query(query).await
        }
        async fn requests(&self, query: &Requests) -> Result<Page<Counted>, StoreFailure> {
            self.0.requests(query).await
        }
        async fn export(&self, query: &Export) -> Result<Exported, StoreFailure> {
            self.0.export(query).await
        }
        async fn close_months(&self, before: SystemTime) -> Result<Option<SystemTime>, StoreFailure> {
            self.0.close_months(before).await
        }
        async fn time(&self) -> Result<Option<SystemTime>, StoreFailure> {
            Ok(Some(self.1))
        }
        async fn minutes(&self, window: Window) -> Result<Vec<Minute>, StoreFailure> {
            self.0.minutes(window).await
        }
    }

    #[tokio::test]
    async fn a_clock_unlike_the_stores_closes_nothing() {
        let world = World::new("{}").await;
        world.store(vec![event("e1")]).await;
        let store = Timed(&*world.dependencies.store, *NOW);
        for wrong in [*NOW + YEARS, *NOW + MOST_APART + Duration::from_secs(1)] {
            close(&store, DAYS, wrong).await.unwrap();
            assert!(!closed(&world, "2026-10").await);
        }
        close(&store, DAYS, *NOW + MOST_APART).await.unwrap();
        assert!(closed(&world, "2026-10").await && !closed(&world, "2026-11").await);
    }

    #[test]
    fn what_is_no_month_is_refused() {
        for wrong in ["", "2026", "2026-13", "2026-00", "2026-1", "26-11", "2026-11-01", "2026/11", "+226-11"]
        {
            assert!(month(wrong).unwrap_err().message.starts_with("month: "), "{wrong}");
        }
    }
}
