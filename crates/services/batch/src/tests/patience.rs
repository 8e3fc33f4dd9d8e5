//! What the lane waits for, and what it gives up.

use super::{
    hand_over::until,
    world::{World, answer, error, item, job},
};
use signalbox_api::v1::{self, batch_item_error::Kind, batch_job::State, vendor_batch};
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);

fn vendor(outcome: &v1::batch_result::Outcome) -> String {
    answer(outcome).route.as_ref().unwrap().vendor.clone()
}

#[tokio::test]
async fn what_a_vendor_may_have_goes_nowhere_else_however_the_search_for_it_fails() {
    let world = World::new().await;
    world.vendor.desk().deaf = true;
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    until(|| !world.vendor.desk().batches.is_empty()).await;
    {
        use ErrorReason as E;
        let reasons =
            [E::VendorAuth, E::VendorPermission, E::NotFound, E::InvalidRequest, E::VendorModelNotFound];
        let mut desk = world.vendor.desk();
        desk.failures = reasons.map(|reason| Failure::new(reason, "the search failed")).into();
        desk.deaf = false;
    }
    let results = world.results("j").await;
    assert_eq!(vendor(&results["x"]), "a");
    assert!(world.vendor.desk().failures.is_empty());
    assert_eq!(world.vendor.desk().batches.len(), 1);
    working.end().await;
}

#[tokio::test]
async fn what_a_vendor_may_have_and_never_says_ends_with_its_cost_unknown() {
    let mut world = World::new().await;
    world.dependencies.options.lease = Duration::from_hours(1000);
    world.vendor.desk().deaf = true;
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    until(|| !world.vendor.desk().batches.is_empty()).await;
    world.clock.forward(DAY + Duration::from_mins(31));
    let results = world.results("j").await;
    assert_eq!(error(&results["x"]).kind(), Kind::Expired);
    world.settled().await;
    assert!(world.told.all()[0].cost.as_ref().unwrap().unknown);
    working.end().await;
}

#[tokio::test]
async fn a_batch_that_its_vendor_does_not_know_for_a_moment_is_not_given_up() {
    let world = World::new().await;
    world.vendor.desk().silence = Some((ErrorReason::NotFound, 20));
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    let results = world.results("j").await;
    assert_eq!(vendor(&results["x"]), "a");
    working.end().await;
}

#[tokio::test]
async fn a_batch_that_its_vendor_does_not_know_for_minutes_is_gone_and_its_cost_unknown() {
    let mut world = World::new().await;
    world.dependencies.options.lease = Duration::from_hours(1000);
    world.vendor.desk().silence = Some((ErrorReason::NotFound, usize::MAX));
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    until(|| world.vendor.desk().silence.unwrap().1 < usize::MAX - 5).await;
    world.clock.forward(Duration::from_mins(10));
    until(|| world.vendor.desk().batches.len() == 2).await;
    world.vendor.desk().silence = None;
    let results = world.results("j").await;
    let route = answer(&results["x"]).route.as_ref().unwrap();
    assert_eq!((&*route.vendor, route.attempts.len()), ("b", 2));
    assert!(route.total_cost.as_ref().unwrap().unknown);
    working.end().await;
}

#[tokio::test]
async fn a_vendor_that_is_full_is_handed_the_items_again_later_where_there_is_no_other() {
    let mut world = World::new().await;
    world.dependencies.options.lease = Duration::from_hours(1000);
    {
        let mut desk = world.vendor.desk();
        desk.states.insert("a".into(), vendor_batch::State::Refused);
        desk.refusal = Some(ErrorReason::VendorRateLimited);
    }
    let working = world.work();
    world.submit("j", vec![item("x", "one"), item("y", "two")]).await;
    until(|| world.vendor.desk().batches.len() == 2).await;
    world.vendor.desk().states.clear();
    assert_eq!(world.job("j").await.state(), State::Running);
    let results = world.results_in_time("j").await;
    assert_eq!((&*vendor(&results["x"]), &*vendor(&results["y"])), ("a", "b"));
    assert_eq!(answer(&results["x"]).route.as_ref().unwrap().attempts.len(), 2);
    working.end().await;
}

#[tokio::test]
async fn a_refused_key_is_waited_for_until_somebody_mends_it() {
    let world = World::new().await;
    world.vendor.desk().failures = vec![Failure::new(ErrorReason::VendorAuth, "the key was refused"); 3];
    let working = world.work();
    world.submit("j", vec![item("x", "one")]).await;
    let results = world.results("j").await;
    assert_eq!(vendor(&results["x"]), "a");
    assert!(world.vendor.desk().failures.is_empty());
    working.end().await;
}

#[tokio::test]
async fn a_batch_at_a_vendor_that_is_gone_ends_soon_after_its_jobs_time_with_its_cost_unknown() {
    let mut world = World::new().await;
    world.dependencies.options.lease = Duration::from_hours(1000);
    world.vendor.desk().silence = Some((ErrorReason::VendorAuth, usize::MAX));
    let working = world.work();
    for job_id in ["expires", "stops"] {
        world.submit(job_id, vec![item("x", "two")]).await;
    }
    until(|| world.vendor.desk().silence.unwrap().1 < usize::MAX).await;
    let cancel = v1::CancelBatchJobRequest { job_id: "stops".into(), tenant_id: "acme".into() };
    world.client().cancel_batch_job(cancel).await.unwrap();
    world.clock.forward(DAY + Duration::from_mins(31));
    let (expired, stopped) = (world.results("expires").await, world.results("stops").await);
    assert_eq!(error(&expired["x"]).kind(), Kind::Expired);
    assert_eq!(error(&stopped["x"]).kind(), Kind::Cancelled);
    world.settled().await;
    assert!(world.told.all().iter().any(|event| event.cost.as_ref().unwrap().unknown));
    assert!(world.job("expires").await.cost.unwrap().unknown);
    working.end().await;
}

#[tokio::test]
async fn jobs_with_little_time_do_not_travel_with_those_that_have_a_day() {
    let mut world = World::new().await;
    world.dependencies.options.rules.window_wait = Duration::from_hours(1);
    world.submit("slow", vec![item("x", "two")]).await;
    let hour = prost_types::Duration { seconds: 3600, nanos: 0 };
    let hasty = v1::BatchJob { completion_window: Some(hour), ..job("hasty") };
    world.try_submit(hasty, vec![item("x", "two")]).await.unwrap();
    let (slow, hasty) = (world.job("slow").await, world.job("hasty").await);
    assert_ne!(slow.windows[0].window_id, hasty.windows[0].window_id);
}
