//! Windows that a vendor refuses for one of their items, and what vendors keep of them.

use super::{
    vendor::said_by,
    world::{World, answer, error, item},
};
use signalbox_api::v1::{batch_window, vendor_batch};
use signalbox_types::ErrorReason;

#[tokio::test]
async fn one_bad_item_does_not_fail_the_others_of_its_window() {
    let world = World::new().await;
    let working = world.work();
    let mut items: Vec<_> = (0..19).map(|number| item(&format!("i{number}"), "one")).collect();
    items.insert(11, item("spoilt", "one"));
    world.submit("j", items).await;
    let results = world.results("j").await;
    let bad = error(&results["spoilt"]);
    assert_eq!((&*bad.reason, &*bad.message), ("INVALID_REQUEST", "one of them is not valid"));
    assert_eq!(bad.failure.as_ref().unwrap().attempts.len(), 1, "as if it had been handed over alone");
    for number in 0..19 {
        let route = answer(&results[&format!("i{number}")]).route.as_ref().unwrap();
        assert_eq!((&*route.vendor, route.attempts.len()), ("a", 1));
    }
    // 20, 10, 5, 3 or 2, 2 or 1, and 1 at the latest.
    assert!((5..=6).contains(&world.vendor.desk().spoilt), "{}", world.vendor.desk().spoilt);
    world.settled().await;
    assert_eq!(world.bank.sums().1, 19 * 20);
    working.end().await;
}

#[tokio::test]
async fn a_bad_item_that_another_may_take_goes_there_alone() {
    let world = World::new().await;
    let working = world.work();
    world.submit("j", vec![item("x", "two"), item("spoilt", "two"), item("y", "two")]).await;
    let results = world.results("j").await;
    let vendor = |id: &str| answer(&results[id]).route.as_ref().unwrap().vendor.clone();
    assert_eq!(["x", "spoilt", "y"].map(vendor), ["a", "b", "a"]);
    let elsewhere: Vec<_> =
        world.vendor.desk().batches.values().filter(|it| it.vendor == "b").map(|it| it.items.len()).collect();
    assert_eq!(elsewhere, [1]);
    let windows = world.job("j").await.windows;
    let refused = windows.iter().filter(|window| window.state() == batch_window::State::Refused);
    assert!(refused.clone().count() >= 2);
    assert!(refused.clone().all(|refused| refused.error_reason == "INVALID_REQUEST"));
    working.end().await;
}

#[tokio::test]
async fn a_process_that_dies_while_a_window_is_divided_is_followed_by_one_that_goes_on() {
    let world = World::new().await;
    let mut items: Vec<_> = (0..40).map(|number| item(&format!("i{number}"), "one")).collect();
    items.push(item("spoilt", "one"));
    world.submit("j", items).await;
    for owner in ["one", "two", "three"] {
        let before = world.vendor.desk().spoilt;
        let working = world.work_as(owner);
        super::hand_over::until(|| world.vendor.desk().spoilt > before).await;
        working.die().await;
        // The lease of the process that died is over.
        world.clock.forward(std::time::Duration::from_secs(61));
    }
    let working = world.work_as("four");
    let results = world.results("j").await;
    assert_eq!((results.len(), error(&results["spoilt"]).reason.as_str()), (41, "INVALID_REQUEST"));
    let handed: Vec<String> =
        world.vendor.desk().batches.values().flat_map(|batch| batch.items.iter().map(said_by)).collect();
    assert_eq!(handed.len(), 40, "each was taken once");
    working.end().await;
}

#[tokio::test]
async fn a_window_that_a_vendor_refuses_for_what_is_no_items_fault_stays_whole() {
    let world = World::new().await;
    world.vendor.desk().states.insert("a".into(), vendor_batch::State::Refused);
    world.vendor.desk().refusal = Some(ErrorReason::VendorQuotaExhausted);
    let working = world.work();
    world.submit("j", vec![item("x", "one"), item("y", "one")]).await;
    let results = world.results("j").await;
    assert_eq!(error(&results["x"]).reason, "VENDOR_QUOTA_EXHAUSTED");
    assert_eq!(world.vendor.desk().batches.len(), 1);
    working.end().await;
}

#[tokio::test]
async fn the_files_of_a_batch_are_deleted_once_its_results_are_stored_or_it_is_refused() {
    let world = World::new().await;
    world.vendor.desk().states.insert("a".into(), vendor_batch::State::Refused);
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    world.results("j").await;
    super::hand_over::until(|| {
        let desk = world.vendor.desk();
        desk.batches.len() == 2 && desk.batches.values().all(|batch| batch.files_deleted)
    })
    .await;
    working.end().await;
}

#[tokio::test]
async fn a_vendor_that_keeps_its_files_holds_nothing_up() {
    let world = World::new().await;
    world.vendor.desk().keeps_files = true;
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    world.results("j").await;
    world.settled().await;
    super::hand_over::until(|| !world.vendor.desk().keeps_files).await;
    working.end().await;
    assert_eq!(world.job("j").await.windows[0].state(), batch_window::State::Ended);
}
