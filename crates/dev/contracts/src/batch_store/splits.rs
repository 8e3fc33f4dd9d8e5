//! Windows that are refused for what may be one item's fault.

use super::{
    Fresh,
    support::{World, ids, item, items, later, new_job, now},
};
use signalbox_batching::Fault;
use signalbox_ports::batches::{BatchStoreError, Claim, JobState, Step, WindowEnd, WindowState};

fn refusal() -> WindowEnd {
    WindowEnd { end_time: later(1), refused: Some("INVALID_REQUEST".to_owned()) }
}

async fn split(world: &World, claim: &Claim) -> bool {
    world.store.split(&claim.lease, &refusal()).await.unwrap()
}

/// In as many steps as there are halves.
pub async fn a_refused_window_is_divided_until_an_item_stands_alone(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(5, "wide")).await;
    let (claim, _) = world.take(later(60)).await;
    assert!(split(&world, &claim).await);
    assert!(split(&world, &claim).await, "said again");
    let (first, one) = world.take(later(60)).await;
    let (second, other) = world.take(later(60)).await;
    assert_eq!((ids(&one), ids(&other)), (vec!["i0", "i1", "i2"], vec!["i3", "i4"]));
    assert!(world.claim(later(60)).await.is_none());
    world.succeed(&first, &one, later(61)).await;
    world.close(&first, later(61)).await;
    assert!(split(&world, &second).await);
    let (alone, last) = world.take(later(61)).await;
    assert_eq!(ids(&last), ["i3"]);
    assert!(!split(&world, &alone).await, "it is not divided any more");
    world.succeed(&alone, &last, later(62)).await;
    let (alone, last) = world.take(later(61)).await;
    assert_eq!((ids(&last), &last[0].request[..]), (vec!["i4"], &b"ask i4"[..]));
    world.succeed(&alone, &last, later(62)).await;
    let (job, windows) = world.job("acme", "job").await;
    assert_eq!((job.state, job.counts.succeeded), (JobState::Ended, 5));
    let refused = windows.iter().filter(|window| window.window.state == WindowState::Refused);
    assert_eq!(refused.clone().count(), 2);
    assert!(refused.clone().all(|refused| refused.window.error_reason == "INVALID_REQUEST"));
    assert_eq!(windows.iter().map(|window| window.items).sum::<u64>(), 5);
}

/// A stranger would suffer for what it has nothing to do with.
pub async fn nobody_joins_a_window_that_was_divided(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(2, "wide")).await;
    let (claim, _) = world.take(later(60)).await;
    assert!(split(&world, &claim).await);
    world.submit("other", "job", &items(1, "wide")).await;
    let windows = world.job("other", "job").await.1;
    assert_eq!((windows[0].window.level.items, windows[0].items), (1, 1));
    for id in ["i0", "i1"] {
        assert_eq!(ids(&world.take(later(1)).await.1), [id]);
    }
}

/// Its items go on, end and are cancelled, and whoever lost it changes nothing.
pub async fn a_divided_window_is_as_good_as_any_other(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let given: Vec<_> = (0..4).map(|number| item(&format!("i{number}"), &["wide", "gemini"])).collect();
    for job in ["one", "two"] {
        world.submit("acme", job, &given).await;
    }
    let (claim, _) = world.take(later(60)).await;
    let another = world.claim(later(60 + 30)).await.unwrap();
    let refused = world.store.split(&claim.lease, &refusal()).await;
    assert_eq!(refused, Err(BatchStoreError::LeaseLost));
    assert!(split(&world, &another).await);
    let (claim, items) = world.take(later(90)).await;
    assert_eq!((ids(&items), claim.window.level.items), (vec!["i0", "i1", "i2", "i3"], 4));
    assert_eq!(claim.window.level.bytes, 4 * 6, "as many as were handed in");
    let trail = items[0].trail.after(Fault::Target, now(), new_job("acme", "one").complete_by).unwrap();
    let go = [(items[0].key, Step::Go { trail, history: Vec::new() })];
    assert_eq!(world.step(&claim, &go, later(91)).await, 1);
    world.succeed(&claim, &items[1..], later(91)).await;
    world.close(&claim, later(91)).await;
    world.store.cancel("acme", "two", later(92)).await.unwrap();
    assert_eq!(world.waiting(later(92)).await.len(), 4);
    assert_eq!(world.job("acme", "one").await.0.counts.succeeded, 3);
    assert_eq!(world.job("acme", "one").await.0.counts.queued, 1);
}
