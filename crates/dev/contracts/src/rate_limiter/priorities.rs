//! Who goes first when rate is short.

use super::{
    Fresh,
    support::{SECOND, World, ask, by},
};
use signalbox_kit::Clock;
use signalbox_ports::RateAsk;
use std::{sync::Arc, time::Duration};

/// Two askers of one limit: the replica for the lower priority, and the one for the higher.
fn low_and_high(ask: &RateAsk) -> (RateAsk, RateAsk) {
    (RateAsk { priority: (0, 1), ..by(1, ask) }, RateAsk { priority: (1, 1), ..by(2, ask) })
}

/// A tenth of the limit for each step, half at most.
pub async fn a_lower_priority_leaves_room_to_a_higher_one(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    for (priority, left) in [((0, 1), 10), ((-2, 1), 30), ((0, 5), 50), ((i32::MIN, i32::MAX), 50)] {
        let limit = RateAsk { tenant_id: format!("{priority:?}"), ..ask(100, 0, 0) };
        let low = RateAsk { priority, ..limit.clone() };
        assert_eq!(world.drain(&low, 0).await.0, 100 - left);
        assert!(world.wait(&low, 0).await <= 60 * SECOND);
        let high = RateAsk { priority: (priority.1, priority.1), ..by(2, &limit) };
        assert_eq!(world.drain(&high, 0).await.0, left);
    }
    let everything = RateAsk { tenant_id: "large".to_owned(), priority: (0, 1), ..ask(0, 100, 0) };
    world.given(&everything, 100).await;
}

/// Although the higher one takes whatever it can get ten times a second, and always asks before it.
pub async fn a_lower_priority_is_never_starved(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (low, high) = low_and_high(&ask(100, 0, 0));
    world.drain(&high, 0).await;
    world.drain(&low, 0).await;
    let step = Duration::from_millis(100);
    let (mut lows, mut highs, mut wait) = (0, 0, Duration::ZERO);
    for _ in 0..1800 {
        world.pass(step);
        wait = wait.saturating_sub(step);
        highs += world.drain(&high, 0).await.0;
        if wait.is_zero() {
            match world.take(&low, 0).await {
                Ok(grant) => lows += grant.requests,
                Err(_) => wait = world.wait(&low, 0).await,
            }
        }
    }
    assert!((35..=40).contains(&lows), "a tenth of 300, and one saved before: {lows}");
    assert!((295..=300).contains(&(lows + highs)), "and nothing is lost: {highs}");
}

/// One for each tenth of the limit.
pub async fn a_permit_is_kept_for_a_lower_priority_that_waits(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (low, high) = low_and_high(&ask(0, 0, 10));
    for replica in 2..=11 {
        world.given(&by(replica, &high), 0).await;
    }
    world.wait(&low, 0).await;
    world.give_back(&by(2, &high), 0, 0, 1).await;
    world.wait(&by(12, &high), 0).await;
    world.given(&low, 0).await;
    world.give_back(&by(3, &high), 0, 0, 1).await;
    world.wait(&RateAsk { under_way: 1, ..low }, 0).await;
    world.given(&by(12, &high), 0).await;
}
