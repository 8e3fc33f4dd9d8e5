//! Every event once.

use super::{
    Fresh,
    support::{INTERVALS, Pair, batch, everything, query, requests, spread},
};
use futures_util::future::join_all;
use signalbox_api::v1::{UsageDimension, UsageEvent};
use signalbox_kit::Clock;
use signalbox_ports::usage_store::Inserted;
use std::sync::Arc;

async fn assert_everything(pair: &Pair) {
    for interval in INTERVALS {
        pair.assert_query(&query(everything(), &[UsageDimension::Tenant], interval)).await;
        pair.assert_query(&query(everything(), &[UsageDimension::Reference], interval)).await;
    }
    pair.assert_requests(&requests(everything(), 1000)).await;
    pair.assert_minutes(everything()).await;
}

/// All fields, with attempts and the record of the decision.
pub async fn an_event_comes_back_as_it_was_given(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let events: Vec<UsageEvent> = spread(20).iter().collect();
    pair.insert(&events, &[]).await;
    let found = pair.assert_requests(&requests(everything(), 100)).await;
    assert!(found.iter().any(|counted| counted.event.attempts.len() > 1 || counted.event.decision.is_some()));
}

/// As when a confirmation was lost.
pub async fn a_repeat_counts_once_in_rows_and_in_sums(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let events: Vec<UsageEvent> = spread(60).iter().collect();
    pair.insert(&events, &[]).await;
    let inserted = pair.insert(&events[10..30], &events[10..30]).await;
    assert_eq!(inserted, Inserted { stored: 0, repeated: 20 });
    assert_everything(&pair).await;
}

/// As when an answer was lost and the same batch is tried again.
pub async fn a_batch_given_twice_with_its_token_counts_once(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let events: Vec<UsageEvent> = spread(60).iter().collect();
    pair.insert(&events, &[]).await;
    // Whether it is told as stored or as repeated is the store's affair: it counts once.
    pair.store.insert(&batch(&events, &[])).await.unwrap();
    pair.store.insert(&batch(&events, &[])).await.unwrap();
    assert_everything(&pair).await;
}

/// As when another ingester takes over.
pub async fn a_batch_may_hold_new_events_and_repeats(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let events: Vec<UsageEvent> = spread(60).iter().collect();
    pair.insert(&events[..30], &[]).await;
    // Some are suspected for nothing.
    let inserted = pair.insert(&events[20..50], &events[15..40]).await;
    assert_eq!(inserted, Inserted { stored: 20, repeated: 10 });
    pair.insert(&events, &events).await;
    assert_everything(&pair).await;
}

/// Nothing to do is no error.
pub async fn an_empty_batch_is_nothing(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    pair.insert(&[], &[]).await;
    assert_everything(&pair).await;
    assert_eq!(pair.store.requests(&requests(everything(), 10)).await.unwrap().newest, None);
}

/// Several ingesters.
pub async fn two_writers_at_once_count_every_event_once(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut pair = Pair::new(fresh).await;
    let events: Vec<UsageEvent> = spread(200).iter().collect();
    let batches: Vec<_> = events.chunks(20).map(|events| batch(events, &[])).collect();
    for inserted in join_all(batches.iter().map(|batch| pair.store.insert(batch))).await {
        assert_eq!(inserted.unwrap(), Inserted { stored: 20, repeated: 0 });
    }
    pair.model.insert(&events, pair.clock.now());
    assert_everything(&pair).await;
}

/// As at every start.
pub async fn a_store_is_migrated_again_without_harm(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let pair = Pair::filled(fresh).await;
    let (one, other) = (pair.store.migrate(), pair.store.migrate());
    let (one, other) = futures_util::join!(one, other);
    one.unwrap();
    other.unwrap();
    assert_everything(&pair).await;
}
