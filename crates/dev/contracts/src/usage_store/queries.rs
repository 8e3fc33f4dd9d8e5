//! Sums, grouped, filtered and paged.

use super::{
    Fresh,
    support::{INTERVALS, Pair, dimensions, everything, march, query, spread},
};
use crate::{Events, calendar};
use signalbox_api::v1::{
    Cost, Lane, UsageDimension, UsageEvent, UsageFilter, cache_effect, query_usage_request::Interval,
    usage_event::Outcome,
};
use signalbox_kit::Clock;
use signalbox_ports::usage_store::{Query, Window};
use std::{sync::Arc, time::Duration};

/// Alone, and with another.
pub async fn every_dimension_groups(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = Pair::filled(fresh).await;
    for dimension in dimensions() {
        pair.assert_query(&query(everything(), &[dimension], Interval::Unspecified)).await;
        pair.assert_query(&query(march(), &[UsageDimension::Model, dimension], Interval::Month)).await;
    }
    let all: Vec<UsageDimension> = dimensions().collect();
    pair.assert_query(&query(everything(), &all, Interval::Day)).await;
}

/// In UTC, with and without groups.
pub async fn every_interval_makes_its_buckets(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = Pair::filled(fresh).await;
    for interval in INTERVALS {
        pair.assert_query(&query(everything(), &[], interval)).await;
        pair.assert_query(&query(march(), &[UsageDimension::Tenant], interval)).await;
    }
    let page = pair.store.query(&query(everything(), &[], Interval::Month)).await.unwrap();
    assert_eq!(page.rows.len(), 4, "January to April");
    assert_eq!(page.newest, pair.model.newest());
    assert!(page.rows_read >= 4);
}

/// As for a chart of what each tenant cost since it came.
pub async fn years_of_months_add_up(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let start = calendar::at(2023, 6, 30, 23, 59);
    let events = Events { seed: 3, count: 300, start, span: Duration::from_secs(1_000 * 86_400) };
    pair.insert(&events.iter().collect::<Vec<_>>(), &[]).await;
    let window = Window { start: calendar::at(2023, 1, 1, 0, 0), end: calendar::at(2027, 1, 1, 0, 0) };
    pair.assert_query(&query(window, &[UsageDimension::Tenant], Interval::Month)).await;
    pair.assert_query(&query(window, &[], Interval::Day)).await;
}

/// One value, several, one that nothing has, and all kinds together.
pub async fn every_filter_filters(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = Pair::filled(fresh).await;
    let events: Vec<UsageEvent> = spread(400).iter().collect();
    let mut several = 0;
    for filter in filters(&events) {
        let by = [UsageDimension::Vendor, UsageDimension::Outcome];
        let asked = Query { filter, ..query(everything(), &by, Interval::Month) };
        pair.assert_query(&asked).await;
        several += usize::from(!pair.model.query(&asked).is_empty());
    }
    assert!(several > 10, "the filters let something through");
}

fn filters(events: &[UsageEvent]) -> Vec<UsageFilter> {
    let (one, other) = (&events[3], &events[11]);
    let two = |of: fn(&UsageEvent) -> &String| vec![of(one).clone(), of(other).clone()];
    let none = UsageFilter::default;
    let quote = "'; DROP TABLE usage_events; --".to_owned();
    vec![
        UsageFilter { tenant_ids: two(|event| &event.tenant_id), ..none() },
        UsageFilter { tenant_ids: vec![quote.clone()], ..none() },
        UsageFilter { tenant_ids: vec!["d'Oh \u{201c}Müller\u{201d}, 100%".to_owned()], ..none() },
        UsageFilter { key_ids: two(|event| &event.key_id), ..none() },
        UsageFilter { scenes: two(|event| &event.scene), ..none() },
        UsageFilter { task_types: vec![one.task_type.clone()], ..none() },
        UsageFilter { locales: vec![String::new()], ..none() },
        UsageFilter { locales: vec!["de-DE".to_owned()], ..none() },
        UsageFilter { references: two(|event| &event.reference), ..none() },
        UsageFilter { references: vec![String::new()], ..none() },
        UsageFilter { references: vec![quote], ..none() },
        UsageFilter { vendors: vec!["openai".to_owned()], ..none() },
        UsageFilter { models: vec!["gpt-6-mini".to_owned(), "llama-5".to_owned()], ..none() },
        UsageFilter { lanes: vec![Lane::Batch as i32], ..none() },
        UsageFilter { outcomes: vec![Outcome::Failed as i32, Outcome::Cancelled as i32], ..none() },
        UsageFilter { cache_outcomes: vec![cache_effect::Outcome::ExactHit as i32], ..none() },
        UsageFilter { cache_outcomes: vec![cache_effect::Outcome::Unspecified as i32], ..none() },
        UsageFilter {
            error_reasons: vec!["VENDOR_TIMEOUT".to_owned(), "BUDGET_EXHAUSTED".to_owned()],
            ..none()
        },
        UsageFilter { simulated: Some(true), ..none() },
        UsageFilter {
            tenant_ids: vec!["acme".to_owned(), "globex".to_owned()],
            lanes: vec![Lane::Interactive as i32],
            simulated: Some(false),
            ..none()
        },
    ]
}

/// Whatever the length of the pages.
pub async fn pages_join_to_the_whole(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = Pair::filled(fresh).await;
    for limit in [1, 7, 100] {
        let mut asked = query(march(), &[UsageDimension::Tenant, UsageDimension::Scene], Interval::Month);
        asked.limit = limit;
        let total = pair.model.query(&asked).len();
        for offset in (0..total + limit).step_by(limit) {
            asked.offset = offset;
            pair.assert_query(&asked).await;
        }
    }
}

/// Windows that begin and end anywhere, in the middle of hours, days and months.
pub async fn ragged_windows_are_exact(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = Pair::filled(fresh).await;
    let instants = [
        calendar::at(2026, 1, 28, 10, 20),
        calendar::at(2026, 1, 31, 23, 59) + Duration::from_micros(59_999_999),
        calendar::at(2026, 2, 1, 0, 0),
        calendar::at(2026, 2, 14, 0, 0),
        calendar::at(2026, 2, 14, 3, 0) + Duration::from_micros(1),
        calendar::at(2026, 2, 14, 3, 59),
        calendar::at(2026, 3, 1, 0, 0),
        calendar::at(2026, 3, 29, 2, 30),
        calendar::at(2026, 4, 3, 0, 1),
    ];
    for (number, start) in instants.iter().enumerate() {
        for end in &instants[number + 1..] {
            for interval in INTERVALS {
                let window = Window { start: *start, end: *end };
                pair.assert_query(&query(window, &[UsageDimension::Lane], interval)).await;
            }
        }
    }
    // To the microsecond: an event that ends at the start is in, one that ends at the end is not.
    let newest = pair.model.newest().unwrap();
    for (start, end, rows) in [(0, 1, 1), (1, 2, 0)] {
        let window =
            Window { start: newest + Duration::from_micros(start), end: newest + Duration::from_micros(end) };
        let page = pair.store.query(&query(window, &[], Interval::Unspecified)).await.unwrap();
        assert_eq!(page.rows.len(), rows);
    }
}

/// Never as nothing.
pub async fn unknown_costs_are_flagged_and_the_others_summed(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let mut events: Vec<UsageEvent> = spread(3).iter().collect();
    let costs = [
        Some(Cost { nano_eur: 40, ..Cost::default() }),
        Some(Cost { nano_eur: 2, unknown: true, ..Cost::default() }),
        None,
    ];
    for (event, cost) in events.iter_mut().zip(costs) {
        event.cost = cost;
    }
    pair.insert(&events, &[]).await;
    let page = pair.store.query(&query(everything(), &[], Interval::Unspecified)).await.unwrap();
    let row = &page.rows[0];
    assert_eq!(row.cost_unknown_requests, 2);
    assert_eq!(row.cost, Some(Cost { nano_eur: 42, unknown: true, price_version: String::new() }));
    pair.assert_query(&query(everything(), &[UsageDimension::Model], Interval::Day)).await;
}

/// With and without groups.
pub async fn a_window_without_events_has_no_rows(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = Pair::filled(fresh).await;
    let window = Window { start: calendar::at(2024, 1, 1, 0, 0), end: calendar::at(2024, 3, 1, 0, 0) };
    for interval in INTERVALS {
        let page = pair.store.query(&query(window, &[], interval)).await.unwrap();
        assert!(page.rows.is_empty() && !page.more);
    }
}

/// From milliseconds to minutes, over many events and roll-ups of them.
pub async fn quantiles_are_true_to_two_percent(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    for batch in spread(4_000).iter().collect::<Vec<_>>().chunks(1_000) {
        pair.insert(batch, &[]).await;
    }
    for interval in INTERVALS {
        pair.assert_query(&query(everything(), &[], interval)).await;
        pair.assert_query(&query(everything(), &[UsageDimension::Operation], interval)).await;
    }
    pair.assert_query(&query(march(), &[UsageDimension::Reference], Interval::Unspecified)).await;
}
