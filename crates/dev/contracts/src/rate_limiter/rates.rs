//! Requests and tokens over time.

use super::{
    Fresh,
    support::{MINUTE, SECOND, World, ask, by},
};
use signalbox_api::v1::{RateLimit, rate_slice::Level};
use signalbox_kit::Clock;
use signalbox_ports::{Count, NoRate, RateAsk};
use std::{sync::Arc, time::Duration};

/// A limit of sixty is sixty at once, and then one a second.
pub async fn a_limit_holds_a_minute_and_fills_continuously(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let ask = ask(60, 0, 0);
    assert_eq!(world.drain(&ask, 0).await.0, 60);
    for _ in 0..5 {
        world.pass(SECOND);
        assert_eq!(world.drain(&ask, 0).await.0, 1);
    }
    world.pass(30 * SECOND);
    assert_eq!(world.given(&ask, 0).await.remaining.requests_per_minute, 30 - 3);
    world.pass(10 * MINUTE);
    assert_eq!(world.drain(&ask, 0).await.0, 60, "no more than a minute is ever saved");
}

/// One moment before it the request is still refused.
pub async fn the_time_to_wait_is_exact(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    for (ask, tokens) in
        [(ask(7, 0, 0), 0), (RateAsk { tenant_id: "b".to_owned(), ..ask(0, 30_000, 0) }, 1_234)]
    {
        world.drain(&ask, tokens).await;
        let wait = world.wait(&ask, tokens).await;
        assert!(wait < MINUTE, "{wait:?}");
        let moment = Duration::from_millis(1);
        world.pass(wait - moment);
        assert_eq!(world.wait(&ask, tokens).await, moment);
        world.pass(moment);
        world.given(&ask, tokens).await;
    }
}

/// Plenty is given while there is plenty; near the end what is needed.
pub async fn slices_are_a_twentieth_and_shrink_when_little_is_left(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let ask = ask(1000, 100_000, 0);
    let first = world.given(&ask, 200).await;
    assert_eq!((first.requests, first.tokens), (50, 5_000));
    let left = first.remaining;
    assert_eq!((left.requests_per_minute, left.tokens_per_minute), (950, 95_000));
    assert_eq!(world.given(&ask, 30_000).await.tokens, 30_000, "never less than is needed");
    for replica in 2..=10 {
        world.given(&by(replica, &ask), 0).await;
    }
    let mut last = 50;
    while let Ok(grant) = world.take(&ask, 1).await {
        assert!(grant.requests <= last, "{grant:?}");
        last = grant.requests;
    }
    assert_eq!(last, 1);
}

/// A limit that is short keeps the others whole.
pub async fn all_limits_give_or_none_does(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let tenant = ask(60, 0, 0);
    let key = RateAsk { level: Level::Key, name: "k1".to_owned(), ..ask(2, 0, 0) };
    let both = [tenant.clone(), key.clone()];
    let grants = world.take_all(&both, 0).await.unwrap();
    assert_eq!((grants[0].requests, grants[1].requests), (3, 1));
    world.take_all(&both, 0).await.unwrap();
    for _ in 0..3 {
        let short = world.take_all(&both, 0).await.unwrap_err();
        assert!(matches!(short, NoRate::Short { ask: 1, .. }), "{short:?}");
    }
    assert_eq!(world.given(&tenant, 0).await.remaining.requests_per_minute, 60 - 9);
}

/// So that who waits as long is not refused again by the other.
pub async fn the_limit_to_be_waited_for_the_longest_is_told(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let tenant = ask(60, 0, 0);
    let scene = RateAsk { level: Level::Scene, name: "news".to_owned(), ..ask(6, 0, 0) };
    world.drain(&tenant, 0).await;
    world.drain(&scene, 0).await;
    match world.take_all(&[tenant, scene], 0).await {
        Err(NoRate::Short { ask: 1, retry_after, remaining, of: Count::Requests }) => {
            assert_eq!((retry_after, remaining), (10 * SECOND, RateLimit::default()));
        }
        other => panic!("{other:?}"),
    }
}

/// So that the caller knows whether fewer, shorter or slower requests would help.
pub async fn it_is_told_what_of_a_limit_is_used_up(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    for (limit, used_up) in [
        (ask(2, 100_000, 50), Count::Requests),
        (ask(1_000, 10, 50), Count::Tokens),
        (ask(1_000, 100_000, 1), Count::Concurrent),
    ] {
        let world = World::new(fresh).await;
        world.drain(&limit, 5).await;
        let other = RateAsk { slice_id: "other".to_owned(), ..limit };
        match world.take(&other, 5).await {
            Err(NoRate::Short { of, .. }) => assert_eq!(of, used_up),
            given => panic!("{used_up:?}: {given:?}"),
        }
    }
}

/// However long one waits.
pub async fn more_tokens_than_a_limit_ever_has_never_fit(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let ask = ask(0, 1_000, 0);
    world.given(&ask, 1_000).await;
    assert_eq!(world.take(&ask, 1_001).await, Err(NoRate::TooLarge { ask: 0 }));
    assert_eq!(world.wait(&ask, 1_000).await, MINUTE);
    assert_eq!(world.take(&ask, u64::MAX).await, Err(NoRate::TooLarge { ask: 0 }));
}

/// Zero is no limit.
pub async fn what_is_not_limited_is_given_without_end(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let none = ask(0, 0, 0);
    for _ in 0..100 {
        let grant = world.given(&none, 1_000_000_000_000).await;
        assert_eq!((grant.requests, grant.tokens, grant.concurrent), (0, 0, 0));
    }
    let huge = RateAsk { tenant_id: "huge".to_owned(), ..ask(u32::MAX, u64::MAX, u32::MAX) };
    let grant = world.given(&huge, 1_000_000_000).await;
    assert!(grant.tokens >= 1_000_000_000 && grant.requests > 1, "{grant:?}");
}

/// Requests that were not made count for nobody.
pub async fn what_comes_back_can_be_taken_by_others(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (one, two) = (by(1, &ask(100, 10_000, 0)), by(2, &ask(100, 10_000, 0)));
    let grant = world.given(&one, 4_000).await;
    world.give_back(&one, grant.requests - 1, 3_000, 0).await;
    assert_eq!(world.drain(&two, 1).await, (99, 9_000 - world_left(&world, &two).await));
    world.give_back(&two, 1_000_000, 1_000_000, 0).await;
    let left = world.given(&one, 1).await.remaining;
    assert_eq!(left.requests_per_minute, 99 - 5, "no more comes back than was taken");
    world.give_back(&by(3, &one), 5, 5, 0).await;
}

/// Tokens that are left when requests are used up.
async fn world_left(world: &World, ask: &RateAsk) -> u64 {
    match world.take(ask, 1).await {
        Err(NoRate::Short { remaining, .. }) => remaining.tokens_per_minute,
        other => panic!("{other:?}"),
    }
}

/// Otherwise what was taken long ago and comes back now could be used on top of a full bucket.
pub async fn what_the_limit_has_made_up_for_does_not_come_back(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let limit = RateAsk { ttl: 10 * MINUTE, ..ask(0, 60, 0) };
    let (one, two) = (by(1, &limit), by(2, &limit));
    world.given(&one, 60).await;
    world.pass(MINUTE);
    world.given(&two, 60).await;
    world.give_back(&one, 0, 60, 0).await;
    assert_eq!(world.wait(&one, 1).await, SECOND);
    world.pass(20 * SECOND);
    world.given(&one, 20).await;
    world.give_back(&one, 0, 20, 0).await;
    world.give_back(&two, 0, 60, 0).await;
    assert_eq!(
        world.given(&one, 1).await.remaining.tokens_per_minute,
        60 - 3,
        "a busy bucket takes all back"
    );
}

/// More is free at once, and less holds at once.
pub async fn a_limit_that_changes_holds_at_once(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    assert_eq!(world.drain(&ask(10, 0, 0), 0).await.0, 10);
    assert_eq!(world.drain(&ask(100, 0, 0), 0).await.0, 90);
    assert_eq!(world.wait(&ask(6, 0, 0), 0).await, 10 * SECOND, "and nothing is owed from the time before");
    assert_eq!(world.given(&ask(0, 0, 0), 0).await.requests, 0);
}

/// Tenants, kinds and names, whatever characters they have.
pub async fn names_of_all_kinds_are_kept_apart(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let tenants = ["", "a", "a:", "a}", "{a}", "a b", "a%20b", "ä", "*", "a\nb", "a\0b", "t:a"];
    for tenant_id in tenants.map(str::to_owned) {
        for (level, name) in [
            (Level::Tenant, ""),
            (Level::Key, "k"),
            (Level::Scene, "k"),
            (Level::Scene, "k:slices"),
            (Level::Scene, "{k}"),
            (Level::Unspecified, "k"),
        ] {
            let ask = RateAsk { tenant_id: tenant_id.clone(), level, name: name.to_owned(), ..ask(3, 0, 0) };
            assert_eq!(world.drain(&ask, 0).await.0, 3, "{ask:?}");
        }
    }
}

/// As when a server with another clock takes over.
pub async fn a_clock_that_is_set_back_gives_nothing(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let ask = ask(60, 0, 0);
    world.drain(&ask, 0).await;
    world.set_back(MINUTE);
    assert_eq!(world.wait(&ask, 0).await, SECOND);
    world.pass(SECOND);
    assert_eq!(world.drain(&ask, 0).await.0, 1, "and it goes on from there");
}
