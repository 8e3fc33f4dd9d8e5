//! Months that are closed.

use super::{
    Fresh,
    support::{INTERVALS, Pair, everything, march, query, requests, spread},
};
use crate::calendar;
use signalbox_api::v1::{UsageDimension, UsageEvent};
use signalbox_kit::Clock;
use signalbox_ports::usage_store::{Export, Window};
use std::{sync::Arc, time::Duration};

fn month_of(window: Window) -> Export {
    Export { month: window, tenant_id: String::new() }
}

fn april() -> Window {
    Window { start: calendar::at(2026, 4, 1, 0, 0), end: calendar::at(2026, 5, 1, 0, 0) }
}

/// A store in which March was closed on the 20th of April; then its other half came.
async fn half_late(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) -> Pair {
    let mut pair = Pair::new(fresh).await;
    let events: Vec<UsageEvent> = spread(200).iter().collect();
    let (late, punctual): (Vec<_>, Vec<_>) =
        events.into_iter().enumerate().partition(|(number, _)| number % 2 == 0);
    let events = |numbered: Vec<(usize, UsageEvent)>| numbered.into_iter().map(|(_, event)| event);
    pair.insert(&events(punctual).collect::<Vec<_>>(), &[]).await;
    pair.close_months(calendar::at(2026, 4, 19, 0, 0)).await;
    pair.clock.set(calendar::at(2026, 4, 21, 9, 15) + Duration::from_micros(1));
    let late: Vec<_> = events(late).collect();
    let (first, second) = late.split_at(40);
    pair.insert(first, &[]).await;
    pair.clock.set(calendar::at(2026, 4, 22, 18, 0));
    pair.insert(second, &[]).await;
    pair
}

/// In sums, in requests and in minutes.
pub async fn a_late_event_counts_when_it_comes(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = half_late(fresh).await;
    for interval in INTERVALS {
        for window in [everything(), march(), april()] {
            pair.assert_query(&query(window, &[UsageDimension::Tenant], interval)).await;
            pair.assert_query(&query(window, &[UsageDimension::Reference], interval)).await;
        }
    }
    pair.assert_requests(&requests(april(), 1000)).await;
    pair.assert_minutes(april()).await;
    let page = pair.store.requests(&requests(april(), 1)).await.unwrap();
    assert_eq!(page.newest, pair.model.newest());
}

/// What is billed stays billed.
pub async fn a_closed_month_gives_the_same_export_for_ever(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let events: Vec<UsageEvent> = spread(200).iter().collect();
    pair.insert(&events[..150], &[]).await;
    assert_eq!(pair.store.export(&month_of(march())).await.unwrap().closed_at, None);
    let closed_at = pair.clock.now();
    pair.close_months(closed_at).await;
    let before = pair.assert_export(&month_of(march())).await;

    pair.clock.set(closed_at + Duration::from_secs(3600));
    pair.insert(&events[100..], &events[100..150]).await;
    // Closing it again changes nothing, and nor does closing less.
    pair.close_months(pair.clock.now()).await;
    pair.close_months(calendar::at(2026, 2, 2, 0, 0)).await;
    let after = pair.assert_export(&month_of(march())).await;
    assert_eq!(before, after);
    assert_eq!(pair.store.export(&month_of(march())).await.unwrap().closed_at, Some(closed_at));
    let open = pair.store.export(&month_of(april())).await.unwrap();
    assert_eq!(open.closed_at, None);
    assert!(open.total >= 50, "those that came late are in the month they came in");
}

/// When, then `event_id`.
pub async fn an_export_is_in_order_and_of_one_tenant(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = half_late(fresh).await;
    for window in [march(), april()] {
        let all = pair.assert_export(&month_of(window)).await;
        let of_one = pair.assert_export(&Export { month: window, tenant_id: "acme".to_owned() }).await;
        assert!(!of_one.is_empty() && of_one.len() < all.len());
    }
}

/// Many of them count at the same instant.
pub async fn late_events_are_paged_by_when_they_count(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = half_late(fresh).await;
    let mut asked = requests(april(), 9);
    let mut found = 0;
    loop {
        let page = pair.assert_requests(&asked).await;
        let Some(last) = page.last() else { break };
        asked.after = Some((last.when, last.event.event_id.clone()));
        found += page.len();
    }
    assert_eq!(found, pair.model.requests(&requests(april(), 0)).len());
}
