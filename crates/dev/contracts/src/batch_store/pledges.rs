//! Money that is being set aside for jobs that are not kept yet.

use super::{
    Fresh,
    support::{World, items, later, new_job, now, rules},
};
use signalbox_ports::batches::{BatchStore, BatchStoreError, NewJob, Pledge, Submitted};
use std::sync::Arc;

fn pledge(id: &str) -> Pledge {
    Pledge { pledge_id: id.to_owned(), details: format!("{id}\0\u{1}").into_bytes(), due: later(60) }
}

fn paid_by(pledge: &str, job: &str) -> NewJob {
    NewJob { pledge_id: pledge.to_owned(), ..new_job("acme", job) }
}

async fn keep(store: &dyn BatchStore, job: &NewJob) -> Result<Submitted, BatchStoreError> {
    store.submit(job, &items(1, "openai"), &rules()).await
}

/// Then nobody sets its money free, and it may be handed in again.
pub async fn a_job_takes_its_pledge_with_it(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    for _ in 0..2 {
        world.store.pledge(&pledge("p")).await.unwrap();
    }
    let job = paid_by("p", "job");
    assert!(matches!(keep(&*world.store, &job).await.unwrap(), Submitted::New(_)));
    world.store.give_up("p", now()).await.unwrap();
    assert_eq!(world.store.given_up(later(1000), later(2000), 10).await.unwrap(), []);
    assert!(matches!(keep(&*world.store, &job).await.unwrap(), Submitted::Exists(_)));
    // One of the same id that came second leaves its own where it is.
    world.store.pledge(&pledge("q")).await.unwrap();
    assert!(matches!(keep(&*world.store, &paid_by("q", "job")).await.unwrap(), Submitted::Exists(_)));
    let left = world.store.given_up(later(1000), later(2000), 10).await.unwrap();
    assert_eq!(left, [pledge("q")]);
}

/// By whoever made it, or since it was due.
pub async fn no_job_is_kept_for_a_pledge_that_was_given_up(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    for id in ["own", "due"] {
        world.store.pledge(&pledge(id)).await.unwrap();
    }
    world.store.give_up("own", now()).await.unwrap();
    let ids = |left: Vec<Pledge>| left.into_iter().map(|left| left.pledge_id).collect::<Vec<_>>();
    assert_eq!(ids(world.store.given_up(now(), later(10), 10).await.unwrap()), ["own"]);
    assert_eq!(ids(world.store.given_up(later(60), later(100), 10).await.unwrap()), ["own", "due"]);
    for id in ["own", "due", "never made"] {
        assert_eq!(keep(&*world.store, &paid_by(id, "job")).await.unwrap_err(), BatchStoreError::PledgeLost);
    }
    assert_eq!(world.store.job("acme", "job").await.unwrap(), None);
    // The name is free.
    world.store.pledge(&pledge("new")).await.unwrap();
    assert!(matches!(keep(&*world.store, &paid_by("new", "job")).await.unwrap(), Submitted::New(_)));
}

/// And again to another, until its money is free.
pub async fn a_pledge_that_is_due_is_given_to_one_at_a_time(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    for id in ["a", "b", "c"] {
        world.store.pledge(&pledge(id)).await.unwrap();
    }
    assert_eq!(world.store.given_up(later(59), later(100), 10).await.unwrap(), []);
    let another = (world.another)();
    let (one, other) = (
        world.store.given_up(later(60), later(100), 2).await.unwrap(),
        another.given_up(later(60), later(100), 2).await.unwrap(),
    );
    assert_eq!((one, other), (vec![pledge("a"), pledge("b")], vec![pledge("c")]));
    for _ in 0..2 {
        world.store.forget("a").await.unwrap();
    }
    let again = another.given_up(later(100), later(200), 10).await.unwrap();
    assert_eq!(again.iter().map(|left| &*left.pledge_id).collect::<Vec<_>>(), ["b", "c"]);
}

/// However close they come.
pub async fn a_pledge_is_kept_or_given_up_and_never_both(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let (store, another): (Arc<dyn BatchStore>, _) = (world.store.clone(), (world.another)());
    for number in 0..25 {
        let id = format!("p{number}");
        store.pledge(&pledge(&id)).await.unwrap();
        let job = paid_by(&id, &id);
        let (kept, left) = tokio::join!(keep(&*store, &job), another.given_up(later(60), later(1000), 10));
        let left = left.unwrap();
        // It may have been held just then: asked again, it is there or gone.
        let late = another.given_up(later(60), later(1000), 10).await.unwrap();
        let lost = left.len() + late.len();
        match kept {
            Ok(_) => assert_eq!(lost, 0, "{id} is kept"),
            Err(error) => assert_eq!((error, lost), (BatchStoreError::PledgeLost, 1), "{id} is given up"),
        }
        assert_eq!(store.job("acme", &id).await.unwrap().is_some(), lost == 0);
    }
}
