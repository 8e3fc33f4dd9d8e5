use super::hand_over::until;
use super::world::{World, answer, error, item};
use signalbox_api::v1::Lane;
use std::time::Duration;

#[tokio::test]
async fn a_vendor_without_a_batch_endpoint_is_called_as_usual_at_the_usual_price() {
    let world = World::new().await;
    let working = world.work();
    world.submit("j", vec![item("x", "usual"), item("bad", "usual")]).await;
    let results = world.results("j").await;
    let answer = answer(&results["x"]);
    let route = answer.route.as_ref().unwrap();
    assert_eq!((&*route.vendor, route.lane()), ("c", Lane::Unspecified));
    assert_eq!(answer.cost.as_ref().unwrap().nano_eur, 40);
    assert!(route.attempts[0].latency.is_some());
    assert_eq!(error(&results["bad"]).reason, "INVALID_REQUEST");
    working.end().await;
}

#[tokio::test]
async fn only_so_many_calls_are_under_way_to_a_vendor_whatever_the_number_of_windows() {
    let mut world = World::new().await;
    world.dependencies.options.concurrency = 2;
    world.vendor.desk().holds = true;
    let working = world.work();
    for job in ["j", "k"] {
        let items = (0..4).map(|number| item(&format!("i{number}"), "usual")).collect();
        world.submit(job, items).await;
    }
    until(|| world.vendor.desk().calls.len() == 2).await;
    world.vendor.let_go();
    assert_eq!((world.results("j").await.len(), world.results("k").await.len()), (4, 4));
    assert_eq!(world.vendor.desk().most_under_way, 2);
    working.end().await;
}

#[tokio::test]
async fn a_process_that_drains_finishes_its_calls_begins_no_more_and_leaves_the_rest_to_others() {
    let mut world = World::new().await;
    world.dependencies.options.concurrency = 1;
    world.vendor.desk().holds = true;
    let working = world.work();
    world.submit("j", vec![item("x", "usual"), item("y", "usual")]).await;
    until(|| world.vendor.desk().calls.len() == 1).await;
    // In this order: it is told to drain before its call is answered.
    tokio::join!(working.end(), async { world.vendor.let_go() });
    let counts = world.job("j").await.counts.unwrap();
    assert_eq!((counts.succeeded, world.vendor.desk().calls.len()), (1, 1));
    // No lease stands in the way of the next process.
    let working = world.work_as("two");
    assert_eq!(world.results("j").await.len(), 2);
    assert_eq!(world.vendor.desk().calls.len(), 2, "none was made twice");
    working.end().await;
}

#[tokio::test]
async fn a_drain_does_not_wait_for_a_call_for_longer_than_it_may() {
    let mut world = World::new().await;
    world.dependencies.options.drain = Duration::from_millis(50);
    world.vendor.desk().holds = true;
    let working = world.work();
    world.submit("j", vec![item("x", "usual")]).await;
    until(|| world.vendor.desk().calls.len() == 1).await;
    tokio::time::timeout(Duration::from_secs(5), working.end()).await.expect("it ends");
    world.vendor.let_go();
    let working = world.work_as("two");
    assert_eq!(world.results("j").await.len(), 1);
    working.end().await;
}
