use super::world::{World, answer, asking, error, item, text};
use signalbox_api::v1::{
    self, BatchItem, Lane, attempt::Cause, batch_item::Request as Asked, batch_item_error::Kind,
    batch_job::State, vendor_batch,
};
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;

fn in_json(item_id: &str, model: &str) -> BatchItem {
    let format = v1::response_format::Format::JsonObject(v1::JsonObjectFormat::default());
    let response_format = Some(v1::ResponseFormat { format: Some(format) });
    let request = v1::GenerateRequest { response_format, ..asking(model, item_id) };
    BatchItem { item_id: item_id.into(), request: Some(Asked::Generate(request)) }
}

pub(super) async fn until(mut holds: impl FnMut() -> bool) {
    let holds = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), holds).await.expect("it comes to that");
}

#[tokio::test]
async fn an_item_is_answered_as_a_caller_who_waits_would_be_at_the_batch_price() {
    let world = World::new().await;
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    let results = world.results("j").await;
    let answer = answer(&results["x"]);
    let route = answer.route.as_ref().unwrap();
    assert_eq!((&*route.vendor, &*route.model, &*route.served_model), ("a", "m", "m-2026"));
    assert_eq!((route.lane(), answer.cost.as_ref().unwrap().nano_eur), (Lane::Batch, 20));
    assert_eq!(route.total_cost, answer.cost);
    assert_eq!(route.decision.as_ref().unwrap().requested, "alias:two");
    assert_eq!(route.budget.as_ref().unwrap().outcome(), v1::budget_effect::Outcome::Admitted);
    assert_eq!(route.attempts.len(), 1);
    assert_eq!(route.attempts[0].cause(), Cause::FirstChoice);
    assert!(!answer.request_id.is_empty());
    assert_eq!((text(answer), answer.content.len()), ("{}".to_owned(), 1), "nobody asked for reasoning");
    let ended = world.job("j").await;
    assert_eq!((ended.state(), ended.counts.unwrap().succeeded), (State::Ended, 1));
    assert_eq!(ended.windows[0].state(), v1::batch_window::State::Ended);
    working.end().await;
}

#[tokio::test]
async fn an_item_that_fails_at_one_vendor_goes_on_to_the_next() {
    let world = World::new().await;
    let working = world.work();
    let ids = ["broken-a", "expired-a", "missing-a"];
    world.submit("j", ids.map(|id| item(id, "two")).into()).await;
    let results = world.results("j").await;
    for (id, reason) in ids.iter().zip(["VENDOR_ERROR", "DEADLINE_EXCEEDED", "VENDOR_BAD_RESPONSE"]) {
        let route = answer(&results[*id]).route.as_ref().unwrap();
        assert_eq!((&*route.vendor, &*route.attempts[0].error_reason), ("b", reason), "{id}");
        assert_eq!(route.attempts[1].cause(), Cause::Fallback);
        assert_eq!(route.total_cost.as_ref().unwrap().nano_eur, 20, "failures of a batch cost nothing");
    }
    working.end().await;
}

#[tokio::test]
async fn a_fault_of_the_request_is_not_moved_and_a_vendor_that_stays_broken_ends_it() {
    let mut world = World::new().await;
    world.dependencies.options.lease = Duration::from_hours(1000);
    let working = world.work();
    world.submit("j", vec![item("bad", "two"), item("broken-a", "one")]).await;
    let results = world.results_in_time("j").await;
    let bad = error(&results["bad"]);
    assert_eq!((bad.kind(), &*bad.reason), (Kind::Failed, "INVALID_REQUEST"));
    assert_eq!(bad.failure.as_ref().unwrap().attempts.len(), 1);
    let broken = error(&results["broken-a"]);
    assert_eq!(broken.reason, "VENDOR_ERROR");
    let tries = broken.failure.as_ref().unwrap().attempts.len();
    assert!((10..=17).contains(&tries), "over most of the day that it has, and not within seconds: {tries}");
    working.end().await;
}

#[tokio::test]
async fn an_answer_that_is_not_what_was_asked_for_gets_one_try_elsewhere() {
    let world = World::new().await;
    let working = world.work();
    world.submit("j", vec![in_json("prose-a", "two"), in_json("fine", "two")]).await;
    world.submit("k", vec![in_json("prose-a", "one")]).await;
    let results = world.results("j").await;
    let second = answer(&results["prose-a"]);
    let route = second.route.as_ref().unwrap();
    assert_eq!((&*text(second), &*route.vendor, route.attempts[1].cause()), ("{}", "b", Cause::Quality));
    assert_eq!(route.total_cost.as_ref().unwrap().nano_eur, 40, "both answers are paid");
    assert_eq!(answer(&results["fine"]).route.as_ref().unwrap().vendor, "a");
    let alone = world.results("k").await;
    assert_eq!(error(&alone["prose-a"]).reason, "OUTPUT_INVALID");
    working.end().await;
}

#[tokio::test]
async fn a_window_that_is_refused_whole_is_routed_again() {
    let world = World::new().await;
    world.vendor.desk().states.insert("a".into(), vendor_batch::State::Refused);
    let working = world.work();
    world.submit("j", vec![item("x", "two"), item("y", "two"), item("z", "one")]).await;
    let results = world.results("j").await;
    for id in ["x", "y"] {
        assert_eq!(answer(&results[id]).route.as_ref().unwrap().vendor, "b");
    }
    assert_eq!(error(&results["z"]).reason, "VENDOR_QUOTA_EXHAUSTED");
    let windows = world.job("j").await.windows;
    let refused = windows.iter().find(|window| window.vendor == "a").unwrap();
    assert_eq!(refused.state(), v1::batch_window::State::Refused);
    assert_eq!(refused.error_reason, "VENDOR_QUOTA_EXHAUSTED");
    working.end().await;
}

#[tokio::test]
async fn a_vendor_that_is_in_a_hurry_is_passed_by_where_there_is_another_and_waited_for_where_not() {
    let world = World::new().await;
    let busy = || Failure::new(ErrorReason::VendorRateLimited, "later");
    world.vendor.desk().failures = vec![busy()];
    let working = world.work();
    world.submit("j", vec![item("x", "two"), item("y", "one")]).await;
    let results = world.results("j").await;
    assert_eq!(answer(&results["x"]).route.as_ref().unwrap().vendor, "b");
    assert_eq!(answer(&results["y"]).route.as_ref().unwrap().vendor, "a");
    working.end().await;
}

#[tokio::test]
async fn what_a_vendor_took_without_a_word_is_found_and_not_handed_over_twice() {
    let world = World::new().await;
    world.vendor.desk().deaf = true;
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    until(|| !world.vendor.desk().batches.is_empty()).await;
    working.die().await;
    world.vendor.desk().deaf = false;
    // The lease of the process that died is over.
    world.clock.forward(Duration::from_secs(61));
    let working = world.work_as("two");
    let results = world.results("j").await;
    assert_eq!(answer(&results["x"]).route.as_ref().unwrap().vendor, "a");
    assert_eq!(world.vendor.desk().batches.len(), 1);
    working.end().await;
}

#[tokio::test]
async fn a_cancelled_job_ends_what_waits_at_once_and_keeps_what_the_vendor_finishes_all_the_same() {
    let mut world = World::new().await;
    world.dependencies.options.rules.window_wait = Duration::from_secs(3600);
    world.submit("waits", vec![item("x", "two")]).await;
    let cancel = |job_id: &str| v1::CancelBatchJobRequest { job_id: job_id.into(), tenant_id: "acme".into() };
    let cancelled = world.client().cancel_batch_job(cancel("waits")).await.unwrap().into_inner();
    assert_eq!(cancelled.job.unwrap().state(), State::Ended);
    let results = world.results("waits").await;
    assert_eq!(error(&results["x"]).kind(), Kind::Cancelled);

    world.dependencies.options.rules.window_wait = Duration::ZERO;
    world.vendor.desk().states.insert("a".into(), vendor_batch::State::Running);
    let working = world.work();
    world.submit("runs", vec![item("y", "two")]).await;
    until(|| !world.vendor.desk().batches.is_empty()).await;
    let cancelled = world.client().cancel_batch_job(cancel("runs")).await.unwrap().into_inner();
    assert_eq!(cancelled.job.unwrap().state(), State::Cancelling);
    until(|| world.vendor.desk().cancelled > 0).await;
    world.vendor.desk().states.clear();
    let results = world.results("runs").await;
    assert_eq!(answer(&results["y"]).cost.as_ref().unwrap().nano_eur, 20);
    world.settled().await;
    assert_eq!(world.vendor.desk().cancelled, 1);
    working.end().await;
}

#[tokio::test]
async fn what_is_not_answered_within_the_completion_window_expires() {
    let mut world = World::new().await;
    world.dependencies.options.rules.window_wait = Duration::from_secs(3600);
    world.submit("j", vec![item("x", "two")]).await;
    world.clock.forward(Duration::from_secs(86_401));
    let working = world.work();
    let results = world.results("j").await;
    let expired = error(&results["x"]);
    assert_eq!((expired.kind(), &*expired.reason), (Kind::Expired, "DEADLINE_EXCEEDED"));
    world.settled().await;
    working.end().await;
}
