use super::*;
use signalbox_api::{
    convert::{self, duration_to_proto},
    v1::{drill::State, fault::Fault},
};
use signalbox_kit::{SystemClock, config::Environment};
use signalbox_types::ErrorReason;
use std::{path::Path, time::Duration};
use tokio::time::advance;

const SECOND: Duration = Duration::from_secs(1);
const ON: &str = "drills: {enabled: true}\nvendors: {openai: {timeouts: {first_byte: 5s}}}\nfailover: {quick_retry_delay: 100ms}";

fn config(folder: &Path, text: &str) -> Arc<ConfigHandle> {
    let path = folder.join("signalbox.yaml");
    std::fs::write(&path, text).unwrap();
    Arc::new(ConfigHandle::start(Some(path), Environment::default(), Arc::new(SystemClock)).unwrap())
}

fn drills(text: &str) -> SharedDrills {
    let folder = tempfile::tempdir().unwrap();
    SharedDrills::new(config(folder.path(), text), Arc::new(SystemClock))
}

fn luna() -> ModelRef {
    ModelRef::new("openai", "gpt-6-luna")
}

fn haiku() -> ModelRef {
    ModelRef::new("anthropic", "claude-haiku-5-5")
}

/// Status 500 for every call to OpenAI, for a minute.
fn outage() -> v1::Drill {
    v1::Drill {
        target: Some(v1::Target { vendor: "openai".to_owned(), model: String::new() }),
        fault: Some(v1::Fault { fault: Some(Fault::Status(500)) }),
        share: 1.0,
        duration: Some(duration_to_proto(60 * SECOND)),
        ..Default::default()
    }
}

fn request(tenant: &str, id: impl ToString) -> v1::GenerateRequest {
    v1::GenerateRequest { tenant_id: tenant.to_owned(), request_id: id.to_string(), ..Default::default() }
}

/// Whether a request's first call is hit.
fn hits(drills: &SharedDrills, tenant: &str, id: u32, model: &ModelRef) -> bool {
    let mut exposure = Exposure::new(drills);
    exposure.fault(&request(tenant, id), model).is_some()
}

/// A route as it is after an answer.
fn route(own: Duration, whole: Duration) -> v1::Route {
    let served = v1::Attempt { latency: Some(duration_to_proto(own)), ..Default::default() };
    v1::Route { latency: Some(duration_to_proto(whole)), attempts: vec![served], ..Default::default() }
}

/// A request whose call to OpenAI is hit and that Anthropic answers.
fn moved(drills: &SharedDrills, id: u32, own: Duration, whole: Duration) {
    let mut exposure = Exposure::new(drills);
    exposure.fault(&request("t", id), &luna()).unwrap();
    assert_eq!(exposure.fault(&request("t", id), &haiku()), None);
    exposure.answered("t", &haiku(), &route(own, whole));
}

fn verdict(drills: &SharedDrills) -> v1::drill::Verdict {
    drills.list()[0].verdict.clone().unwrap()
}

fn field(refused: Result<v1::Drill, Failure>) -> String {
    refused.unwrap_err().violations[0].field.clone()
}

#[tokio::test]
async fn drills_are_off_unless_the_configuration_has_them_on() {
    let refused = drills("{}").start(outage()).unwrap_err();
    assert!(refused.message.contains("drills.enabled: true"), "{refused}");
    assert!(!hits(&drills(ON), "t", 1, &luna()), "and without a drill nothing is hit");
}

#[tokio::test]
async fn only_calls_of_the_target_and_the_tenant_are_hit() {
    let drills = drills(ON);
    let target = Some(v1::Target { vendor: "openai".to_owned(), model: "gpt-6-luna".to_owned() });
    drills.start(v1::Drill { target, tenant_id: "sports".to_owned(), ..outage() }).unwrap();
    assert!(hits(&drills, "sports", 1, &luna()));
    assert!(!hits(&drills, "politics", 1, &luna()));
    assert!(!hits(&drills, "sports", 1, &haiku()));
    assert!(!hits(&drills, "sports", 1, &ModelRef::new("openai", "gpt-6-sol")));
    assert_eq!(verdict(&drills).calls_hit, 1);
}

#[tokio::test]
async fn a_share_of_the_calls_is_hit_each_call_by_its_own_lot() {
    let drills = drills(ON);
    drills.start(v1::Drill { share: 0.3, ..outage() }).unwrap();
    let hit: Vec<bool> = (0..1000).map(|id| hits(&drills, "t", id, &luna())).collect();
    let count = hit.iter().filter(|hit| **hit).count();
    assert!((250..350).contains(&count), "{count} of 1000");
    assert_eq!(hit, (0..1000).map(|id| hits(&drills, "t", id, &luna())).collect::<Vec<_>>());
    let mut exposure = Exposure::new(&drills);
    let again = (0..100).filter(|_| exposure.fault(&request("t", 1), &luna()).is_some()).count();
    assert!((10..60).contains(&again), "attempts of one request have lots of their own: {again} of 100");
}

#[tokio::test(start_paused = true)]
async fn it_ends_by_itself_when_its_time_is_over() {
    let drills = drills(ON);
    let started = drills.start(outage()).unwrap();
    assert_eq!((started.state(), started.name.len()), (State::Running, 14));
    advance(59 * SECOND).await;
    assert!(hits(&drills, "t", 1, &luna()));
    advance(SECOND).await;
    assert!(!hits(&drills, "t", 2, &luna()));
    assert_eq!(drills.list()[0].state(), State::Ended);
}

#[tokio::test]
async fn it_ends_after_so_many_calls_or_when_it_is_stopped_or_switched_off() {
    let drills = drills(ON);
    drills.start(v1::Drill { max_calls: 2, ..outage() }).unwrap();
    let hit = (0..5).filter(|id| hits(&drills, "t", *id, &luna())).count();
    assert_eq!((hit, drills.list()[0].state()), (2, State::Ended));

    let name = drills.start(outage()).unwrap().name;
    assert_eq!(drills.stop(&name).unwrap().state(), State::Ended);
    assert!(!hits(&drills, "t", 1, &luna()));
    assert_eq!(drills.stop(&name).unwrap().state(), State::Ended, "stopping twice does no harm");
    assert_eq!(field(drills.stop("drill-none")), "name");

    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), ON);
    let drills = SharedDrills::new(config.clone(), Arc::new(SystemClock));
    drills.start(outage()).unwrap();
    std::fs::write(folder.path().join("signalbox.yaml"), "{}").unwrap();
    config.reload().await.unwrap();
    assert!(!hits(&drills, "t", 1, &luna()));
    assert!(verdict(&drills).summary.contains("switched off"), "{}", verdict(&drills).summary);
}

#[tokio::test]
async fn an_adapter_that_takes_no_faults_ends_the_drill_and_the_client_loses_nothing() {
    let drills = drills(ON);
    drills.start(outage()).unwrap();
    let mut exposure = Exposure::new(&drills);
    assert!(exposure.fault(&request("t", 1), &luna()).is_some());
    assert!(!exposure.refused(&Failure::new(ErrorReason::VendorError, "status 500")));
    assert!(!exposure.refused(&Failure::invalid("temperature", "is too high")));
    assert!(exposure.refused(&Failure::invalid("fault", "drills are off")));
    assert_eq!(exposure.fault(&request("t", 1), &luna()), None);
    exposure.answered("t", &luna(), &route(SECOND, SECOND));
    let verdict = verdict(&drills);
    assert!(!verdict.passed && verdict.summary.contains("an adapter refused"), "{verdict:?}");
}

#[tokio::test]
async fn a_failover_within_the_first_byte_timeout_passes() {
    let drills = drills(ON);
    drills.start(outage()).unwrap();
    for id in 0..100 {
        moved(&drills, id, SECOND, 6 * SECOND);
    }
    let verdict = verdict(&drills);
    assert!(verdict.passed, "{}", verdict.summary);
    assert_eq!((verdict.calls_hit, verdict.requests_hit, verdict.requests_open), (100, 100, 0));
    assert_eq!(verdict.served_by["anthropic/claude-haiku-5-5"], 100);
    let added = convert::duration_from_proto(verdict.added_p99.unwrap()).unwrap();
    assert!(added.abs_diff(5 * SECOND) < SECOND / 5, "{added:?}");
    let allowed = convert::duration_from_proto(verdict.allowed_p99.unwrap()).unwrap();
    assert_eq!(allowed, Duration::from_millis(5100).mul_f64(1.05) + Duration::from_millis(250));
}

#[tokio::test]
async fn answers_that_come_later_than_a_failover_may_take_do_not_pass() {
    let drills = drills(ON);
    drills.start(outage()).unwrap();
    for id in 0..100 {
        let whole = if id < 5 { 9 * SECOND } else { 2 * SECOND };
        moved(&drills, id, SECOND, whole);
    }
    let verdict = verdict(&drills);
    assert!(!verdict.passed && verdict.summary.contains("later"), "{verdict:?}");
}

#[tokio::test]
async fn requests_that_were_not_hit_are_what_the_others_are_compared_with() {
    let drills = drills(ON);
    drills.start(v1::Drill { share: 1.0, ..outage() }).unwrap();
    let usual = Exposure::new(&drills);
    usual.answered("t", &haiku(), &route(3 * SECOND, 3 * SECOND));
    let mut delayed = Exposure::new(&drills);
    delayed.fault(&request("t", 1), &luna()).unwrap();
    delayed.answered("t", &luna(), &route(7 * SECOND, 7 * SECOND));
    let added = convert::duration_from_proto(verdict(&drills).added_p99.unwrap()).unwrap();
    assert!(added.abs_diff(4 * SECOND) < SECOND / 2, "the call that was hit itself is no measure: {added:?}");
}

#[tokio::test]
async fn an_error_that_a_client_saw_fails_the_drill_and_says_where_it_could_not_be_helped() {
    let drills = drills(ON);
    let cut = Some(v1::Fault { fault: Some(Fault::CutAfterTokens(3)) });
    drills.start(v1::Drill { fault: cut, ..outage() }).unwrap();
    moved(&drills, 1, SECOND, SECOND);
    let mut exposure = Exposure::new(&drills);
    exposure.fault(&request("t", 2), &luna()).unwrap();
    exposure.failed(ErrorReason::StreamTruncated);
    let mut forbidden = Exposure::new(&drills);
    forbidden.fault(&request("t", 3), &luna()).unwrap();
    forbidden.failed(ErrorReason::ContentPolicy);
    let verdict = verdict(&drills);
    assert!(!verdict.passed);
    assert_eq!((verdict.client_errors, verdict.requests_hit), (1, 2));
    assert!(verdict.summary.contains("1 of 2 clients saw an error: a stream that breaks off"), "{verdict:?}");
}

#[tokio::test]
async fn clients_that_leave_and_requests_under_way_are_told() {
    let drills = drills(ON);
    drills.start(outage()).unwrap();
    let mut open = Exposure::new(&drills);
    open.fault(&request("t", 1), &luna()).unwrap();
    assert!(hits(&drills, "t", 2, &luna()), "dropped without an end");
    let so_far = verdict(&drills);
    assert_eq!((so_far.requests_open, so_far.clients_gone, so_far.passed), (1, 1, false));
    open.answered("t", &haiku(), &route(SECOND, SECOND));
    let end = verdict(&drills);
    assert_eq!((end.requests_open, end.clients_gone, end.passed), (0, 1, true));
}

#[tokio::test]
async fn a_drill_that_hit_nothing_has_not_passed() {
    let drills = drills(ON);
    drills.start(outage()).unwrap();
    let verdict = verdict(&drills);
    assert!(!verdict.passed && verdict.summary.contains("nothing was learned"), "{verdict:?}");
}

#[tokio::test]
async fn bad_input_is_refused_with_its_field() {
    let drills = drills(ON);
    let target =
        |vendor: &str, model: &str| v1::Target { vendor: vendor.to_owned(), model: model.to_owned() };
    let lasting = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let status = |status| Some(v1::Fault { fault: Some(Fault::Status(status)) });
    let cases = [
        (v1::Drill { target: None, ..outage() }, "drill.target.vendor"),
        (v1::Drill { target: Some(target("opnai", "")), ..outage() }, "drill.target.vendor"),
        (v1::Drill { target: Some(target("openai", "gpt-7")), ..outage() }, "drill.target.model"),
        (v1::Drill { fault: None, ..outage() }, "drill.fault"),
        (v1::Drill { fault: status(200), ..outage() }, "drill.fault.status"),
        (v1::Drill { share: 0.0, ..outage() }, "drill.share"),
        (v1::Drill { share: 1.1, ..outage() }, "drill.share"),
        (v1::Drill { share: f64::NAN, ..outage() }, "drill.share"),
        (v1::Drill { duration: None, ..outage() }, "drill.duration"),
        (v1::Drill { duration: lasting(0), ..outage() }, "drill.duration"),
        (v1::Drill { duration: lasting(3601), ..outage() }, "drill.duration"),
    ];
    for (drill, expected) in cases {
        assert_eq!(field(drills.start(drill)), expected);
    }
    assert!(drills.list().is_empty());
}

#[tokio::test]
async fn two_drills_never_hit_the_same_calls() {
    let drills = drills(ON);
    let of = |vendor: &str, model: &str, tenant: &str| v1::Drill {
        target: Some(v1::Target { vendor: vendor.to_owned(), model: model.to_owned() }),
        tenant_id: tenant.to_owned(),
        ..outage()
    };
    let first = drills.start(of("openai", "gpt-6-luna", "a")).unwrap();
    for clash in [of("openai", "", ""), of("openai", "gpt-6-luna", "a"), of("openai", "", "a")] {
        assert_eq!(field(drills.start(clash)), "drill.target");
    }
    for beside in [of("openai", "gpt-6-luna", "b"), of("openai", "gpt-6-sol", "a"), of("anthropic", "", "")] {
        drills.start(beside).unwrap();
    }
    drills.stop(&first.name).unwrap();
    drills.start(first).unwrap();
}

#[tokio::test]
async fn few_run_at_once_and_the_last_hundred_are_remembered() {
    let drills = drills(ON);
    let of = |tenant: u32| v1::Drill { tenant_id: tenant.to_string(), ..outage() };
    let running: Vec<_> = (0..16).map(|tenant| drills.start(of(tenant)).unwrap().name).collect();
    assert!(drills.start(of(99)).unwrap_err().message.contains("16 drills run already"));
    for _ in 0..100 {
        drills.stop(&drills.list()[0].name).unwrap();
        drills.start(of(15)).unwrap();
    }
    let kept = drills.list();
    assert_eq!(kept.len(), 100);
    assert!(kept.iter().any(|drill| drill.name == running[0]), "one that runs is not forgotten");
}
