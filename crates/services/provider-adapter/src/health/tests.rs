use super::*;
use futures_util::{FutureExt as _, StreamExt as _};
use signalbox_api::{
    convert::{duration_from_proto, duration_to_proto},
    v1::WatchHealthResponse,
};
use signalbox_ports::CallOutcome;
use signalbox_resilience::Sketch;
use signalbox_types::ErrorReason;
use std::time::Duration;
use tokio::time::advance;

const SECOND: Duration = Duration::from_secs(1);

fn model() -> ModelRef {
    ModelRef::new("openai", "gpt")
}

fn answered() -> CallEnd {
    CallEnd {
        outcome: CallOutcome::Answered,
        whole: SECOND * 2,
        first_token: Some(SECOND / 2),
        answer_tokens: 100,
        slow: false,
        hold: None,
        quota_left: None,
    }
}

fn failed(reason: ErrorReason) -> CallEnd {
    CallEnd { outcome: CallOutcome::Failed(reason), first_token: None, answer_tokens: 0, ..answered() }
}

fn call(health: &CallHealth, end: CallEnd) {
    health.begin(&model()).end(&end);
}

/// What a new watcher is told first, of the only model.
fn report(health: &CallHealth) -> WatchHealthResponse {
    let mut reports = Box::pin(health.watch());
    reports.next().now_or_never().flatten().expect("the current state comes at once")
}

#[tokio::test(start_paused = true)]
async fn a_report_tells_counts_latencies_and_load() {
    let health = CallHealth::new("a1");
    call(&health, answered());
    call(&health, CallEnd { slow: true, ..answered() });
    call(&health, failed(ErrorReason::VendorTimeout));
    call(&health, failed(ErrorReason::VendorError));
    let _under_way = health.begin(&model());
    let report = report(&health);
    assert_eq!((report.calls, report.failures, report.timeouts), (4, 3, 1), "a trickle is a failure");
    assert_eq!((report.adapter_id.as_str(), report.in_flight), ("a1", 1));
    assert_eq!(report.window, Some(duration_to_proto(Duration::from_secs(300))));
    let per_token = Sketch::decode(&report.latency_sketch).unwrap();
    assert_eq!(per_token.count(), 1, "only good answers have a pace");
    let median = per_token.quantile(0.5).unwrap();
    assert!((Duration::from_millis(19)..Duration::from_millis(21)).contains(&median), "{median:?}");
    assert_eq!(Sketch::decode(&report.time_to_first_token_sketch).unwrap().count(), 2);
}

#[tokio::test(start_paused = true)]
async fn rate_limits_and_callers_who_leave_are_neither_good_nor_bad() {
    let health = CallHealth::new("a1");
    call(&health, CallEnd { hold: Some(SECOND * 20), ..failed(ErrorReason::VendorRateLimited) });
    call(&health, CallEnd { hold: Some(SECOND * 5), ..failed(ErrorReason::VendorRateLimited) });
    call(&health, CallEnd { outcome: CallOutcome::Cancelled, first_token: None, ..answered() });
    drop(health.begin(&model()));
    advance(SECOND).await;
    let report = report(&health);
    assert_eq!((report.calls, report.in_flight), (0, 0));
    assert_eq!(report.retry_after.and_then(duration_from_proto), Some(SECOND * 19), "the longer wish counts");
    assert_eq!(report.unserved_for.and_then(duration_from_proto), Some(SECOND), "and nothing was served");
    assert_eq!(report.served_ago, None);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_in_the_midst_of_an_answer_was_served() {
    let health = CallHealth::new("a1");
    call(&health, CallEnd { outcome: CallOutcome::Cancelled, ..answered() });
    advance(SECOND * 3).await;
    let report = report(&health);
    assert_eq!(report.calls, 0);
    assert_eq!(report.served_ago.and_then(duration_from_proto), Some(SECOND * 3));
    assert_eq!(report.unserved_for, None);
}

#[tokio::test(start_paused = true)]
async fn quota_counts_for_a_minute() {
    let health = CallHealth::new("a1");
    call(&health, CallEnd { quota_left: Some(0.25), ..answered() });
    call(&health, answered());
    assert_eq!(report(&health).quota_left, Some(0.25));
    advance(SECOND * 60).await;
    assert_eq!(report(&health).quota_left, None);
}

#[tokio::test(start_paused = true)]
async fn a_model_is_reported_once_a_second_at_most_and_every_ten_seconds_at_least() {
    let health = CallHealth::new("a1");
    call(&health, answered());
    let mut reports = Box::pin(health.watch());
    let started = now();
    assert_eq!(reports.next().await.unwrap().calls, 1);
    let busy = async {
        for _ in 0..50 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            call(&health, answered());
        }
    };
    let (mut told, mut last) = (0, 0);
    let mut busy = Box::pin(busy);
    loop {
        tokio::select! {
            report = reports.next() => (told, last) = (told + 1, report.unwrap().calls),
            () = &mut busy => break,
        }
    }
    assert!((4..=5).contains(&told), "{told} reports in five seconds");
    while last < 51 {
        last = reports.next().await.unwrap().calls;
    }
    let quiet = now();
    assert!(quiet - started < SECOND * 7, "the last change is told, too");
    assert_eq!(reports.next().await.unwrap().calls, 51);
    let pause = now() - quiet;
    assert!((SECOND * 10..SECOND * 11).contains(&pause), "{pause:?}");
}

#[tokio::test(start_paused = true)]
async fn watching_ends_when_the_process_stops() {
    let health = CallHealth::new("a1");
    health.know(&model());
    let mut reports = Box::pin(health.watch());
    assert_eq!(reports.next().await.unwrap().calls, 0, "known models are told before their first call");
    health.close();
    assert_eq!(reports.next().await, None);
    assert_eq!(health.watch().boxed().next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_is_heard_through_any_of_its_models() {
    let health = CallHealth::new("a1");
    assert_eq!(health.last_heard("openai"), None);
    health.begin(&ModelRef::new("openai", "other")).end(&failed(ErrorReason::VendorRateLimited));
    advance(SECOND).await;
    call(&health, CallEnd { outcome: CallOutcome::Cancelled, first_token: None, ..answered() });
    assert_eq!(health.last_heard("openai"), Some(now() - SECOND), "a call that was given up tells nothing");
    assert_eq!(health.last_heard("anthropic"), None);
}
