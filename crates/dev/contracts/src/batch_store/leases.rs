//! Leases of windows.

use super::{
    Fresh,
    support::{LEASE, World, end, handed, items, later, now, rules},
};
use signalbox_ports::batches::{BatchStoreError, Outcome, Pause, Step, WindowEnd, WindowState};

/// And as long as it is kept.
pub async fn only_one_process_holds_a_window_until_its_lease_is_over(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let other = (world.another)();
    world.submit("acme", "job", &items(3, "openai")).await;
    let claim = world.claim(now()).await.unwrap();
    assert_eq!(other.claim("p2", later(29), LEASE).await.unwrap(), None);
    world.store.keep(&claim.lease, later(60)).await.unwrap();
    assert_eq!(other.claim("p2", later(59), LEASE).await.unwrap(), None);
    let taken = other.claim("p2", later(60), LEASE).await.unwrap().unwrap();
    assert!(taken.lease.number > claim.lease.number);
    assert_eq!(world.store.keep(&claim.lease, later(90)).await, Err(BatchStoreError::LeaseLost));
    other.keep(&taken.lease, later(90)).await.unwrap();
}

/// However late it comes back, and whatever it wants to write.
pub async fn whoever_stood_still_changes_nothing_any_more(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(3, "openai")).await;
    let (stale, items) = world.take(now()).await;
    let taken = world.claim(later(31)).await.unwrap();
    let lost = Err(BatchStoreError::LeaseLost);
    let steps = [(items[0].key, Step::End(end(&items[0], Outcome::Failed)))];
    let pause = Pause { due: later(1), expire_time: None, cancel_asked: false, not_taken: false };
    let over = WindowEnd { end_time: now(), refused: None };
    assert_eq!(world.store.step(&stale.lease, &steps, now(), &rules()).await, lost.map(|()| 0));
    let lost = Err(BatchStoreError::LeaseLost);
    assert_eq!(world.store.handed(&stale.lease, &handed("late", now())).await, lost);
    assert_eq!(world.store.put_back(&stale.lease, &pause).await, lost);
    assert_eq!(world.store.close(&stale.lease, &over).await, lost);
    // Nor after the other one is done with it.
    world.store.handed(&taken.lease, &handed("first", later(32))).await.unwrap();
    assert_eq!(world.store.handed(&stale.lease, &handed("late", now())).await, lost);
    let (_, windows) = world.job("acme", "job").await;
    assert_eq!(windows[0].window.vendor_batch_id, "first");
    assert_eq!(world.job("acme", "job").await.0.counts.running, 3);
}

/// With the time of the first try, so that it can be looked for at the vendor.
pub async fn what_may_have_been_handed_over_is_said_to_the_next(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(3, "openai")).await;
    let first = world.claim(later(1)).await.unwrap();
    assert_eq!((first.maybe_since, first.window.hand_time), (None, Some(later(1))));
    let second = world.claim(later(40)).await.unwrap();
    assert_eq!((second.maybe_since, second.window.state), (Some(later(1)), WindowState::Handing));
    let pause = Pause { due: later(50), expire_time: None, cancel_asked: false, not_taken: false };
    world.store.put_back(&second.lease, &pause).await.unwrap();
    assert_eq!(world.claim(later(49)).await, None);
    let third = world.claim(later(50)).await.unwrap();
    assert_eq!(third.maybe_since, Some(later(1)));
    // Where that has certainly not come to pass, the next try is like the first.
    let not_taken = Pause { due: later(51), not_taken: true, ..pause };
    world.store.put_back(&third.lease, &not_taken).await.unwrap();
    let fourth = world.claim(later(51)).await.unwrap();
    assert_eq!((fourth.maybe_since, fourth.window.hand_time), (None, Some(later(51))));
    world.store.handed(&fourth.lease, &handed("vb", later(51))).await.unwrap();
    assert_eq!(world.claim(later(81)).await.unwrap().maybe_since, None);
}
