//! What ends before it is handed over.

use super::{
    Fresh,
    support::{World, end, ids, item, items, later, now, rules},
};
use signalbox_ports::batches::{Counts, Item, ItemEnd, ItemKey, JobState, Outcome, Pause, WaitingQuery};

fn ends(items: &[Item], outcome: Outcome) -> Vec<(ItemKey, ItemEnd)> {
    items.iter().map(|item| (item.key, end(item, outcome))).collect()
}

/// What is being handed over or at a vendor does not.
pub async fn what_waits_ends_at_once_when_its_job_is_cancelled(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let job = world.submit("acme", "job", &items(4, "openai")).await;
    world.submit("acme", "stays", &items(1, "openai")).await;
    let (claim, running) = world.hand(now()).await;
    assert_eq!(world.waiting(now()).await, []);
    let cancelled = world.store.cancel("acme", "job", later(1)).await.unwrap().unwrap();
    assert_eq!(cancelled.state, JobState::Cancelling);
    let waiting = world.waiting(later(1)).await;
    assert_eq!((ids(&waiting), waiting[0].job.state), (vec!["i3"], JobState::Cancelling));
    let query = |job| WaitingQuery { job: Some(job), now: later(1), most: 10 };
    assert_eq!(world.store.waiting(&query(job.number)).await.unwrap(), waiting);
    assert_eq!(world.store.waiting(&query(job.number + 1)).await.unwrap(), []);
    let mut given = ends(&waiting, Outcome::Cancelled);
    given.extend(ends(&running, Outcome::Cancelled));
    assert_eq!(world.store.end_waiting(&given, later(2), &rules()).await.unwrap(), 1);
    assert_eq!(world.store.end_waiting(&given, later(2), &rules()).await.unwrap(), 0);
    let counts = world.job("acme", "job").await.0.counts;
    assert_eq!(counts, Counts { total: 4, running: 3, cancelled: 1, ..Counts::default() });
    // What the vendor finishes all the same is kept.
    world.succeed(&claim, &running, later(40)).await;
    world.close(&claim, later(41)).await;
    let job = world.job("acme", "job").await.0;
    assert_eq!((job.state, job.counts.succeeded), (JobState::Ended, 3));
    let again = world.store.cancel("acme", "job", later(50)).await.unwrap().unwrap();
    assert_eq!(again, job);
    assert_eq!(ids(&world.take(later(60)).await.1), ["i0"]);
}

/// Each at its own.
pub async fn what_waits_ends_when_its_time_is_over(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit_until("acme", "soon", &items(1, "openai"), later(1200)).await;
    world.submit_until("acme", "later", &items(1, "openai"), later(1700)).await;
    assert_eq!(world.waiting(later(1199)).await, []);
    let waiting = world.waiting(later(1200)).await;
    assert_eq!(waiting.iter().map(|item| item.job.job_id.as_str()).collect::<Vec<_>>(), ["soon"]);
    let ends = ends(&waiting, Outcome::Expired);
    assert_eq!(world.store.end_waiting(&ends, later(1200), &rules()).await.unwrap(), 1);
    assert_eq!(world.job("acme", "soon").await.0.counts.expired, 1);
    let (claim, items) = world.take(later(1200)).await;
    assert_eq!((items.len(), claim.unwanted, world.waiting(later(3000)).await), (1, false, vec![]));
}

/// One that holds an item that somebody waits for is neither.
pub async fn a_window_of_cancelled_jobs_alone_is_due_and_unwanted(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "one", &[item("a", &["openai"])]).await;
    world.submit("other", "two", &[item("b", &["openai"]), item("c", &["openai"])]).await;
    world.hand(now()).await;
    world.store.cancel("acme", "one", later(1)).await.unwrap();
    assert_eq!(world.claim(later(29)).await, None);
    world.store.cancel("other", "two", later(2)).await.unwrap();
    let claim = world.claim(later(2)).await.unwrap();
    assert!(claim.unwanted);
    let pause = Pause { due: later(600), expire_time: None, cancel_asked: true, not_taken: false };
    world.store.put_back(&claim.lease, &pause).await.unwrap();
    world.store.cancel("other", "two", later(3)).await.unwrap();
    assert_eq!(world.claim(later(599)).await, None);
    // Nobody waits either for what cannot be there in time.
    world.submit_until("acme", "late", &items(3, "gemini"), later(50)).await;
    assert!(!world.claim(later(49)).await.unwrap().unwanted);
    assert!(world.claim(later(80)).await.unwrap().unwanted);
}
