//! Requests, newest first.

use super::{
    Fresh,
    support::{Pair, everything, march, requests, spread},
};
use signalbox_api::v1::{UsageEvent, UsageFilter};
use signalbox_kit::Clock;
use signalbox_ports::usage_store::Requests;
use std::sync::Arc;

/// None left out and none twice, also among those that end at the same instant.
pub async fn requests_come_newest_first_page_by_page(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let mut events: Vec<UsageEvent> = spread(60).iter().collect();
    let same = events[20].end_time;
    for event in &mut events[20..40] {
        event.end_time = same;
    }
    events.reverse();
    pair.insert(&events, &[]).await;
    let mut asked = requests(everything(), 7);
    let mut found = Vec::new();
    loop {
        let page = pair.assert_requests(&asked).await;
        let Some(last) = page.last() else { break };
        asked.after = Some((last.when, last.event.event_id.clone()));
        found.extend(page);
    }
    assert_eq!(found, pair.model.requests(&requests(everything(), 0)));
}

/// What an article cost; and a request by its id, which a client may have used again.
pub async fn requests_are_found_by_reference_and_by_id(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let mut events: Vec<UsageEvent> = spread(80).iter().collect();
    for number in [5, 30, 77] {
        events[number].reference = "article-of-the-year".to_owned();
        events[number].request_id = "again".to_owned();
    }
    pair.insert(&events, &[]).await;
    let by_reference =
        UsageFilter { references: vec!["article-of-the-year".to_owned()], ..UsageFilter::default() };
    let found = pair.assert_requests(&Requests { filter: by_reference, ..requests(everything(), 100) }).await;
    assert_eq!(found.len(), 3);
    let again = |window| Requests { request_id: "again".to_owned(), ..requests(window, 2) };
    assert_eq!(pair.assert_requests(&again(everything())).await.len(), 2);
    assert!(pair.assert_requests(&again(march())).await.len() < 3);
    let whose = UsageFilter { tenant_ids: vec![events[5].tenant_id.clone()], ..UsageFilter::default() };
    pair.assert_requests(&Requests { filter: whose, ..again(everything()) }).await;
    let nobody = UsageFilter { tenant_ids: vec!["nobody".to_owned()], ..UsageFilter::default() };
    assert!(pair.assert_requests(&Requests { filter: nobody, ..again(everything()) }).await.is_empty());
}
