//! The process dies while it takes a job.

use super::{Gathered, Order, gather, keep, prepare};
use crate::tests::world::{TENANT, World, item, job};
use futures_util::stream;
use signalbox_api::v1::SubmitBatchJobRequest;
use signalbox_ports::batches::BatchStore as _;
use signalbox_testkit::some_steps;
use std::time::Duration;

/// A job as it was handed in.
async fn order(world: &World) -> Order {
    let message =
        SubmitBatchJobRequest { job: Some(job("j")), items: vec![item("x", "two"), item("y", "one")] };
    let options = &world.dependencies.options;
    let gathered = gather::gather(stream::iter([Ok(message)]), options, |_| Ok(())).await;
    let gathered: Gathered = gathered.unwrap();
    Order::new(gathered, "", String::new(), options).unwrap()
}

/// Goes as far as so many steps lead; whether that was to the end.
async fn keep_until_killed(world: &World, steps: usize) -> bool {
    let Order { head, items } = order(world).await;
    let prepared = prepare::prepare(&world.dependencies, &head, items).await.unwrap();
    some_steps(keep::keep(world.dependencies.clone(), head, prepared), steps).await
}

/// At whatever step: its money comes back within minutes, or the job is there; and the caller's repeat is taken.
#[tokio::test]
async fn a_job_that_was_being_taken_is_kept_or_its_money_is_free_within_minutes() {
    let (mut kept, mut held) = (0, 0);
    for steps in 1.. {
        let world = World::new().await;
        let done = keep_until_killed(&world, steps).await;
        let found = world.store.job(TENANT, "j").await.unwrap().is_some();
        assert!(found || !done, "{steps}: it was said to be kept");
        held += usize::from(!found && world.bank.held() > 0);
        kept += usize::from(found);
        let working = world.work();
        if !found {
            world.clock.forward(Duration::from_mins(3));
            world.settled().await;
            assert_eq!(world.bank.sums().1, 0, "{steps}");
        }
        world.submit("j", vec![item("x", "two"), item("y", "one")]).await;
        assert_eq!(world.results("j").await.len(), 2, "{steps}");
        world.settled().await;
        assert_eq!((world.bank.sums().1, world.bank.sums().2), (40, 0), "{steps}: it is paid for once");
        working.end().await;
        if done {
            break;
        }
    }
    assert!(kept > 0 && held > 0, "it died with money set aside {held} times, and {kept} jobs were kept");
}
