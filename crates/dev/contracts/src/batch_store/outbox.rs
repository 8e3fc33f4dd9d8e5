//! Accounts to be told, and what is removed in the end.

use super::{
    Fresh,
    support::{World, handed, items, later, now},
};
use signalbox_ports::batches::{Gauges, Submitted, WindowState};

/// Whoever asks.
pub async fn an_account_stays_until_it_is_told(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(3, "openai")).await;
    let (claim, items) = world.take(now()).await;
    world.succeed(&claim, &items, later(1)).await;
    let untold = world.store.untold(2).await.unwrap();
    assert_eq!((untold.len(), world.store.untold(2).await.unwrap()), (2, untold.clone()));
    let numbers: Vec<i64> = untold.iter().map(|untold| untold.number).collect();
    for _ in 0..2 {
        world.store.told(&numbers).await.unwrap();
    }
    let rest = world.store.untold(2).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert!(rest[0].number > numbers[1]);
}

/// Not before.
pub async fn a_job_is_settled_once_it_has_ended_and_all_is_told(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let job = world.submit("acme", "job", &items(3, "openai")).await;
    let (claim, items) = world.take(now()).await;
    world.succeed(&claim, &items[..2], later(1)).await;
    tell_all(&world).await;
    world.store.settled(job.number).await.unwrap();
    assert_eq!(world.store.unsettled(10).await.unwrap(), []);
    world.succeed(&claim, &items[2..], later(2)).await;
    assert_eq!(world.store.unsettled(10).await.unwrap(), []);
    tell_all(&world).await;
    let unsettled = world.store.unsettled(10).await.unwrap();
    assert_eq!(unsettled, [world.job("acme", "job").await.0]);
    for _ in 0..2 {
        world.store.settled(job.number).await.unwrap();
        assert_eq!(world.store.unsettled(10).await.unwrap(), []);
    }
}

/// And its id is free again.
pub async fn what_need_not_be_kept_is_removed_once_it_is_settled(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let job = world.submit("acme", "job", &items(2, "openai")).await;
    world.submit("acme", "stays", &items(1, "openai")).await;
    let (claim, items) = world.hand(now()).await;
    world.succeed(&claim, &items[..2], later(1)).await;
    assert_eq!(world.store.remove_expired(later(100_000), 10).await.unwrap(), 0);
    tell_all(&world).await;
    world.store.settled(job.number).await.unwrap();
    assert_eq!(world.store.remove_expired(later(3600), 10).await.unwrap(), 0);
    assert_eq!(world.store.remove_expired(later(3601), 10).await.unwrap(), 1);
    assert_eq!(world.store.job("acme", "job").await.unwrap(), None);
    assert_eq!(world.store.results("acme", "job", 0, 10).await.unwrap(), None);
    assert_eq!(world.job("acme", "stays").await.1.len(), 1);
    let again = world.submit("acme", "job", &super::support::items(1, "gemini")).await;
    assert!(again.number > job.number);
    assert_eq!(world.results("acme", "job", 0).await.results, []);
    assert!(matches!(
        world
            .store
            .submit(&super::support::new_job("acme", "job"), &[], &super::support::rules())
            .await
            .unwrap(),
        Submitted::Exists(_)
    ));
}

/// Of what is not over.
pub async fn gauges_say_what_there_is(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    assert_eq!(world.store.gauges(now()).await.unwrap(), Gauges::default());
    world.submit_until("acme", "job", &items(7, "openai"), later(1000)).await;
    let (claim, at_work) = world.take(now()).await;
    world.store.handed(&claim.lease, &handed("vb", now())).await.unwrap();
    world.succeed(&claim, &at_work[..1], now()).await;
    let gauges = world.store.gauges(later(799)).await.unwrap();
    let windows =
        vec![(WindowState::Open, "openai".to_owned(), 2), (WindowState::Submitted, "openai".to_owned(), 1)];
    let expected =
        Gauges { queued: 4, running: 2, windows, oldest_queued: Some(now()), untold: 1, late_jobs: 0 };
    assert_eq!(gauges, expected);
    assert_eq!(world.store.gauges(later(800)).await.unwrap().late_jobs, 1);
}

async fn tell_all(world: &World) {
    let untold = world.store.untold(1000).await.unwrap();
    world.store.told(&untold.iter().map(|untold| untold.number).collect::<Vec<_>>()).await.unwrap();
}
