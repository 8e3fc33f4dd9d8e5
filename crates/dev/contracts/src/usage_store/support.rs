//! A store and the model beside it, given the same.

use super::{Fresh, model::Model};
use crate::{Events, SetClock, calendar};
use futures_util::TryStreamExt;
use signalbox_api::v1::{UsageDimension, UsageEvent, UsageFilter, query_usage_request::Interval};
use signalbox_kit::Clock;
use signalbox_ports::usage_store::{Batch, Counted, Export, Inserted, Query, Requests, UsageStore, Window};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

/// A store and what it must answer.
pub(super) struct Pair {
    pub(super) store: Arc<dyn UsageStore>,
    pub(super) model: Model,
    pub(super) clock: Arc<SetClock>,
    _keep: Box<dyn std::any::Any + Send>,
}

impl Pair {
    /// An empty store, migrated, on a day in April 2026.
    pub(super) async fn new(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) -> Self {
        let clock = Arc::new(SetClock::at(calendar::at(2026, 4, 20, 12, 30)));
        let Fresh { store, keep } = fresh(clock.clone()).await;
        store.migrate().await.unwrap();
        Self { store, model: Model::default(), clock, _keep: keep }
    }

    /// One that holds some events of three months.
    pub(super) async fn filled(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) -> Self {
        let mut pair = Self::new(fresh).await;
        let all: Vec<UsageEvent> = spread(400).iter().collect();
        for batch in all.chunks(150) {
            pair.insert(batch, &[]).await;
        }
        pair
    }

    /// Inserts into both.
    pub(super) async fn insert(&mut self, events: &[UsageEvent], suspects: &[UsageEvent]) -> Inserted {
        let inserted = self.store.insert(&batch(events, suspects)).await.unwrap();
        let stored = self.model.insert(events, self.clock.now());
        assert_eq!(inserted, Inserted { stored, repeated: events.len() - stored });
        inserted
    }

    pub(super) async fn close_months(&mut self, before: SystemTime) {
        self.store.close_months(before).await.unwrap();
        self.model.close_months(before);
    }

    /// Asks both, and tells how the answers differ.
    pub(super) async fn difference(&self, query: &Query) -> Option<String> {
        let page = self.store.query(query).await.unwrap();
        let all = self.model.query(query);
        let more = all.len() > query.offset + query.limit;
        let expected: Vec<_> = all.into_iter().skip(query.offset).take(query.limit).collect();
        if (page.rows.len(), page.more) != (expected.len(), more) {
            let (rows, told) = (page.rows.len(), page.more);
            let expected = expected.len();
            return Some(format!(
                "{query:#?}: expected {expected} rows, more {more}; answered {rows}, {told}"
            ));
        }
        let differing = expected.iter().zip(&page.rows).find_map(|(expected, row)| expected.difference(row));
        differing.map(|differing| format!("{query:#?}: {differing}"))
    }

    pub(super) async fn assert_query(&self, query: &Query) {
        if let Some(difference) = self.difference(query).await {
            panic!("{difference}");
        }
    }

    pub(super) async fn assert_requests(&self, query: &Requests) -> Vec<Counted> {
        let page = self.store.requests(query).await.unwrap();
        let mut expected = self.model.requests(query);
        assert_eq!(page.more, expected.len() > query.limit, "{query:?}");
        expected.truncate(query.limit);
        assert_eq!(names(&page.rows), names(&expected), "{query:?}");
        assert_eq!(page.rows, expected, "{query:?}");
        page.rows
    }

    pub(super) async fn assert_export(&self, export: &Export) -> Vec<Counted> {
        let exported = self.store.export(export).await.unwrap();
        let total = exported.total;
        let events: Vec<Counted> = exported.events.try_collect().await.unwrap();
        let expected = self.model.export(export);
        assert_eq!(names(&events), names(&expected), "{export:?}");
        assert_eq!(events, expected, "{export:?}");
        assert_eq!(total, events.len() as u64);
        events
    }

    pub(super) async fn assert_minutes(&self, window: Window) {
        assert_eq!(self.store.minutes(window).await.unwrap(), self.model.minutes(window));
    }
}

/// Short enough to read when they differ.
fn names(counted: &[Counted]) -> Vec<(SystemTime, &str)> {
    counted.iter().map(|counted| (counted.when, counted.event.event_id.as_str())).collect()
}

/// So many events from the end of January to the start of April 2026.
pub(super) fn spread(count: u64) -> Events {
    let start = calendar::at(2026, 1, 28, 10, 20);
    Events { seed: 7, count, start, span: Duration::from_secs(66 * 86_400) }
}

/// A window that holds all of `spread`, and what comes late.
pub(super) fn everything() -> Window {
    Window { start: calendar::at(2025, 1, 1, 0, 0), end: calendar::at(2027, 1, 1, 0, 0) }
}

pub(super) fn march() -> Window {
    Window { start: calendar::at(2026, 3, 1, 0, 0), end: calendar::at(2026, 4, 1, 0, 0) }
}

pub(super) fn batch(events: &[UsageEvent], suspects: &[UsageEvent]) -> Batch {
    let ids = |events: &[UsageEvent]| events.iter().map(|event| event.event_id.clone()).collect::<Vec<_>>();
    Batch { token: ids(events).join(" "), events: events.to_vec(), suspects: ids(suspects) }
}

pub(super) fn query(window: Window, group_by: &[UsageDimension], interval: Interval) -> Query {
    let filter = UsageFilter::default();
    Query { window, filter, group_by: group_by.to_vec(), interval, limit: 10_000, offset: 0 }
}

pub(super) fn requests(window: Window, limit: usize) -> Requests {
    Requests { window, filter: UsageFilter::default(), request_id: String::new(), limit, after: None }
}

pub(super) fn dimensions() -> impl Iterator<Item = UsageDimension> {
    (1..=14).map(|number| UsageDimension::try_from(number).unwrap())
}

pub(super) const INTERVALS: [Interval; 4] =
    [Interval::Unspecified, Interval::Hour, Interval::Day, Interval::Month];
