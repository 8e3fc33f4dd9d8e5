//! Requests under way at once.

use super::{
    Fresh,
    support::{MINUTE, SECOND, World, ask, by},
};
use signalbox_api::v1::RateLimit;
use signalbox_kit::Clock;
use signalbox_ports::RateAsk;
use std::sync::Arc;

/// Whoever asks.
pub async fn permits_are_never_more_than_the_limit(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let ask = ask(0, 0, 10);
    for replica in 1..=10 {
        assert_eq!(world.given(&by(replica, &ask), 0).await.concurrent, 1);
    }
    assert!(world.wait(&by(11, &ask), 0).await <= SECOND);
    let more = RateAsk { under_way: 1, ..by(1, &ask) };
    assert!(world.wait(&more, 0).await <= SECOND);
    assert_eq!(world.given(&by(1, &ask), 0).await.concurrent, 1, "its own is no other's");
}

/// When its slice's time is over, and no sooner.
pub async fn permits_of_a_dead_replica_come_back(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let ask = ask(0, 0, 1);
    world.given(&by(1, &ask), 0).await;
    world.pass(MINUTE - SECOND / 2);
    assert_eq!(world.wait(&by(2, &ask), 0).await, SECOND / 2);
    world.pass(SECOND / 2);
    world.given(&by(2, &ask), 0).await;
    world.pass(MINUTE / 2);
    world.given(&by(2, &ask), 0).await;
    world.pass(MINUTE / 2);
    world.wait(&by(1, &ask), 0).await;
}

/// Not more of them than there were.
pub async fn permits_that_are_given_back_can_be_taken_by_others(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let ask = ask(0, 0, 2);
    world.given(&by(1, &ask), 0).await;
    world.given(&by(2, &ask), 0).await;
    world.give_back(&by(1, &ask), 0, 0, 1).await;
    world.give_back(&by(1, &ask), 0, 0, 5).await;
    world.given(&by(3, &ask), 0).await;
    world.wait(&by(1, &ask), 0).await;
}

/// As many as it needs and some to spare, and none that it has no use for any more.
pub async fn a_slice_asked_for_again_has_permits_for_what_is_under_way(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    for (under_way, concurrent) in [(0, 6), (6, 12), (40, 46), (0, 6)] {
        let grant = world.given(&RateAsk { under_way, ..ask(0, 0, 100) }, 0).await;
        assert_eq!(grant.concurrent, concurrent);
        assert_eq!(grant.remaining.concurrent_requests, 100 - concurrent);
    }
}

/// Even while nothing more can be taken, and without taking anything.
pub async fn a_slice_that_is_renewed_keeps_its_permits(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let busy = RateAsk { under_way: 39, ..ask(1, 0, 100) };
    assert_eq!(world.renew(&busy).await, None, "there is none");
    assert_eq!(world.given(&busy, 0).await.concurrent, 45);
    world.pass(MINUTE - SECOND);
    let renewed = world.renew(&busy).await.unwrap();
    assert_eq!((renewed.requests, renewed.concurrent, renewed.remaining.concurrent_requests), (0, 44, 56));
    assert_eq!(world.renew(&RateAsk { under_way: 80, ..busy.clone() }).await.unwrap().concurrent, 44);
    world.pass(MINUTE - SECOND);
    assert_eq!(world.renew(&RateAsk { under_way: 2, ..busy.clone() }).await.unwrap().concurrent, 7);
    assert_eq!(world.given(&by(2, &busy), 0).await.remaining, left(0, 100 - 7 - 45));
    world.pass(MINUTE);
    assert_eq!(world.renew(&busy).await, None, "it is over");
}

fn left(requests_per_minute: u32, concurrent_requests: u32) -> RateLimit {
    RateLimit { requests_per_minute, tokens_per_minute: 0, concurrent_requests }
}
