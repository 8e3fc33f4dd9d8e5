use super::*;
use futures_util::FutureExt;
use std::{pin::pin, time::Duration};
use tokio::time::advance;

const SECOND: Duration = Duration::from_secs(1);

fn bulkhead(max_concurrency: usize, max_queue: usize) -> Arc<Bulkhead> {
    Arc::new(Bulkhead::new(max_concurrency, max_queue))
}

fn soon() -> Instant {
    Instant::now() + 5 * SECOND
}

fn full(bulkhead: &Arc<Bulkhead>) -> Vec<Place> {
    let mut places = Vec::new();
    while let Some(Ok(place)) = bulkhead.enter(soon()).now_or_never() {
        places.push(place);
    }
    places
}

#[tokio::test(start_paused = true)]
async fn a_freed_place_goes_to_the_one_who_waited_longest() {
    let bulkhead = bulkhead(1, 2);
    let place = bulkhead.enter(soon()).await.unwrap();
    let mut first = pin!(bulkhead.enter(soon()));
    let mut second = pin!(bulkhead.enter(soon()));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    assert_eq!((bulkhead.in_flight(), bulkhead.waiting()), (1, 2));

    drop(place);
    assert!(second.as_mut().now_or_never().is_none());
    let place = first.as_mut().now_or_never().unwrap().unwrap();
    drop(place);
    assert!(second.as_mut().now_or_never().unwrap().is_ok());
    assert_eq!((bulkhead.in_flight(), bulkhead.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn one_more_than_the_queue_holds_is_refused_at_once_by_name_of_the_limit() {
    let bulkhead = bulkhead(1, 1);
    let _place = bulkhead.enter(soon()).await.unwrap();
    {
        let mut waiting = pin!(bulkhead.enter(soon()));
        assert!(waiting.as_mut().now_or_never().is_none());
        let refused = bulkhead.enter(soon()).now_or_never().unwrap().unwrap_err();
        assert_eq!(refused.to_string(), "1 calls are under way (max_concurrency) and 1 wait (max_queue)");
    }
    assert_eq!(bulkhead.waiting(), 0, "a waiter who goes away leaves the queue");
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_the_calls_own_time() {
    let bulkhead = bulkhead(1, 1);
    let _place = bulkhead.enter(soon()).await.unwrap();
    let refused = bulkhead.enter(soon()).await.unwrap_err();
    let told = "1 calls are under way (max_concurrency), and none ended while this one could wait";
    assert_eq!((refused.to_string().as_str(), bulkhead.waiting()), (told, 0));
}

#[tokio::test(start_paused = true)]
async fn an_overload_takes_a_tenth_of_the_places_once_in_a_round_trip() {
    let bulkhead = bulkhead(20, 0);
    let places = full(&bulkhead);
    assert_eq!((places.len(), bulkhead.limit()), (20, 20));
    for place in &places {
        place.failed(ErrorReason::VendorOverloaded);
    }
    assert_eq!(bulkhead.limit(), 18);
    advance(SECOND).await;
    places[0].failed(ErrorReason::VendorRateLimited);
    assert_eq!(bulkhead.limit(), 16);
    advance(SECOND).await;
    places[0].failed(ErrorReason::VendorError);
    assert_eq!(bulkhead.limit(), 16, "other failures say nothing of load");
    assert_eq!(bulkhead.in_flight(), 20, "no call is dropped");
}

#[tokio::test(start_paused = true)]
async fn a_lowered_limit_takes_effect_as_calls_end_and_before_those_who_wait() {
    let bulkhead = bulkhead(10, 1);
    let mut places = full(&bulkhead);
    let mut waiting = pin!(bulkhead.enter(soon()));
    assert!(waiting.as_mut().now_or_never().is_none());
    places[0].overloaded();
    places.pop();
    assert!(waiting.as_mut().now_or_never().is_none(), "the place is gone");
    let refused = bulkhead.enter(soon()).now_or_never().unwrap().unwrap_err();
    let told = "9 calls are under way (the limit now; max_concurrency is 10) and 1 wait (max_queue)";
    assert_eq!(refused.to_string(), told);
    places.pop();
    assert!(waiting.as_mut().now_or_never().unwrap().is_ok());
    assert_eq!(bulkhead.in_flight(), 8);
}

#[tokio::test(start_paused = true)]
async fn free_places_go_at_once_and_successes_bring_them_back_to_those_who_wait() {
    let bulkhead = bulkhead(10, 9);
    bulkhead.enter(soon()).await.unwrap().overloaded();
    let places = full(&bulkhead);
    assert_eq!((places.len(), bulkhead.limit()), (9, 9));
    let mut waiting = pin!(bulkhead.enter(soon()));
    assert!(waiting.as_mut().now_or_never().is_none());
    for place in &places {
        place.answered();
    }
    assert_eq!(bulkhead.limit(), 9, "a round adds one at most");
    places[0].answered();
    assert_eq!(bulkhead.limit(), 10);
    assert!(waiting.as_mut().now_or_never().unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_round_trip_is_the_time_that_calls_wait_for_their_answer() {
    let bulkhead = bulkhead(20, 0);
    let place = bulkhead.enter(soon()).await.unwrap();
    advance(4 * SECOND).await;
    place.answered();
    place.overloaded();
    advance(3 * SECOND).await;
    place.overloaded();
    assert_eq!(bulkhead.limit(), 18);
    advance(SECOND).await;
    place.overloaded();
    assert_eq!(bulkhead.limit(), 16);
}

#[tokio::test(start_paused = true)]
async fn whatever_happens_two_places_are_left() {
    let bulkhead = bulkhead(8, 0);
    for _ in 0..100 {
        bulkhead.enter(soon()).await.unwrap().overloaded();
        advance(SECOND).await;
    }
    assert_eq!((bulkhead.limit(), full(&bulkhead).len()), (2, 2));
    assert_eq!(bulkhead.in_flight(), 0);
}

#[test]
fn places_are_shared_by_several_runtimes() {
    let bulkhead = bulkhead(1, 1);
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let place = runtime().block_on(bulkhead.enter(soon())).unwrap();
    let other = std::thread::spawn({
        let bulkhead = Arc::clone(&bulkhead);
        move || runtime().block_on(bulkhead.enter(soon())).is_ok()
    });
    while bulkhead.waiting() == 0 {
        std::thread::yield_now();
    }
    drop(place);
    assert!(other.join().unwrap());
}
