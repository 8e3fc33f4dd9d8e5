use super::*;
use signalbox_api::convert::duration_to_proto;
use signalbox_resilience::Sketch;
use signalbox_routing::{Offer, Tally};

const SECOND: Duration = Duration::from_secs(1);

fn model() -> ModelRef {
    ModelRef::new("openai", "gpt")
}

fn report(adapter: &str, calls: u64, failures: u64) -> v1::WatchHealthResponse {
    report_on(&model(), adapter, calls, failures)
}

fn report_on(model: &ModelRef, adapter: &str, calls: u64, failures: u64) -> v1::WatchHealthResponse {
    let target = v1::Target { vendor: model.vendor.to_string(), model: model.model.to_string() };
    v1::WatchHealthResponse {
        target: Some(target),
        adapter_id: adapter.to_owned(),
        calls,
        failures,
        ..Default::default()
    }
}

fn sketch(latency: Duration, count: usize) -> bytes::Bytes {
    let mut sketch = Sketch::new();
    (0..count).for_each(|_| sketch.record(latency));
    sketch.encode().into()
}

/// Reports at their moments, in seconds, and the candidate as it is seen at the end of them.
struct Scene {
    fleet: Fleet,
    start: Instant,
}

impl Scene {
    fn new() -> Self {
        Self { fleet: Fleet::default(), start: Instant::now() }
    }

    fn at(&self, second: u64) -> Instant {
        self.start + SECOND * u32::try_from(second).unwrap()
    }

    fn told(&self, second: u64, report: &v1::WatchHealthResponse) {
        self.fleet.absorb(report, self.at(second)).unwrap();
    }

    fn refused(&self, report: &v1::WatchHealthResponse) -> ReportError {
        self.fleet.absorb(report, self.start).expect_err("should be refused")
    }

    fn seen<T>(&self, second: u64, look: impl FnOnce(&Candidate<'_>) -> T) -> T {
        let model = model();
        let mut candidate = Candidate::new(offer(&model));
        self.fleet.describe(&model, &mut candidate, self.at(second));
        look(&candidate)
    }

    fn health(&self, second: u64) -> Tally {
        self.seen(second, |candidate| candidate.health)
    }
}

fn offer(model: &ModelRef) -> Offer<'_> {
    Offer {
        model,
        facts: None,
        configured: true,
        served: true,
        held_for: None,
        standing: signalbox_routing::Standing::Preferred,
    }
}

fn tally(good: f64, all: f64) -> Tally {
    Tally { good, all }
}

#[test]
fn the_last_report_of_each_adapter_counts_and_all_are_added() {
    let scene = Scene::new();
    assert_eq!(scene.health(0), Tally::default(), "nothing is known before the first report");
    scene.told(0, &report("a", 10, 0));
    scene.told(1, &report("b", 8, 8));
    scene.told(2, &report("a", 12, 1));
    assert_eq!(scene.health(2), tally(11.0, 20.0));
    scene.told(3, &report_on(&ModelRef::new("openai", "other"), "a", 500, 500));
    assert_eq!(scene.health(3), tally(11.0, 20.0), "other models are others");
}

#[test]
fn an_adapter_without_news_is_forgotten_after_thirty_seconds() {
    let scene = Scene::new();
    scene.told(0, &report("a", 10, 10));
    for second in [5, 15, 25] {
        scene.told(second, &report("b", 5, 0));
    }
    assert_eq!(scene.health(25), tally(5.0, 15.0));
    scene.told(31, &report("b", 5, 0));
    assert_eq!(scene.health(31), tally(5.0, 5.0));
    assert_eq!(scene.health(60), tally(5.0, 5.0));
    assert_eq!(scene.health(61), Tally::default());
    scene.told(200, &report_on(&ModelRef::new("x", "y"), "c", 1, 0));
    assert_eq!(scene.fleet.adapters().reports.len(), 1, "and takes no memory");
    assert_eq!(scene.fleet.merged().models.len(), 1);
}

#[test]
fn latencies_are_those_of_all_calls_of_the_fleet() {
    let scene = Scene::new();
    let with = |adapter: &str, latency_sketch, time_to_first_token_sketch| v1::WatchHealthResponse {
        latency_sketch,
        time_to_first_token_sketch,
        ..report(adapter, 0, 0)
    };
    let millis = Duration::from_millis;
    scene.told(0, &with("a", sketch(millis(10), 90), sketch(millis(400), 9)));
    scene.told(0, &with("b", sketch(millis(100), 10), bytes::Bytes::new()));
    let observed = scene.seen(0, |candidate| candidate.latency.observed);
    let close = |seen: Duration, to| seen.abs_diff(millis(to)) <= millis(to) / 40;
    assert!(close(observed.p50, 10) && close(observed.p95, 100) && close(observed.p99, 100), "{observed:?}");
    assert!(close(observed.pace.first_token, 400) && close(observed.first_token_p99, 400), "{observed:?}");
    assert_eq!((observed.samples, observed.streams), (100.0, 9.0));
}

#[test]
fn the_longest_hold_and_the_least_quota_count() {
    let scene = Scene::new();
    let with = |adapter: &str, hold, quota_left| v1::WatchHealthResponse {
        retry_after: Some(duration_to_proto(SECOND * hold)),
        quota_left,
        ..report(adapter, 1, 0)
    };
    scene.told(0, &with("a", 20, Some(0.5)));
    scene.told(0, &with("b", 9, Some(0.1)));
    scene.told(0, &with("c", 1, None));
    assert_eq!(scene.seen(5, |seen| (seen.offer.held_for, seen.quota_left)), (Some(SECOND * 15), Some(0.1)));
    assert_eq!(scene.seen(20, |seen| seen.offer.held_for), None);
    // Whatever the router knows itself counts, too.
    let model = model();
    let mut known = Candidate { quota_left: Some(0.05), ..Candidate::new(offer(&model)) };
    known.offer.held_for = Some(SECOND * 60);
    scene.fleet.describe(&model, &mut known, scene.at(5));
    assert_eq!((known.offer.held_for, known.quota_left), (Some(SECOND * 60), Some(0.05)));
}

/// A report of one that is asked without serving, and served last as long ago as is said.
fn idle(adapter: &str, unserved_for: Option<u32>, served_ago: Option<u32>) -> v1::WatchHealthResponse {
    let seconds = |seconds| duration_to_proto(SECOND * seconds);
    v1::WatchHealthResponse {
        unserved_for: unserved_for.map(seconds),
        served_ago: served_ago.map(seconds),
        ..report(adapter, 0, 0)
    }
}

#[test]
fn a_model_that_serves_nobody_for_five_minutes_while_others_serve_weighs_less() {
    let other = |second| v1::WatchHealthResponse {
        served_ago: Some(duration_to_proto(SECOND)),
        ..report_on(&ModelRef::new("anthropic", "claude"), "a", 1, second)
    };
    let weight = |scene: &Scene, second| scene.seen(second, |candidate| candidate.weight);
    let scene = Scene::new();
    scene.told(0, &idle("a", Some(290), None));
    assert_eq!(weight(&scene, 20), 1.0, "nobody serves: the fault is likely ours");
    scene.told(0, &other(0));
    assert_eq!(weight(&scene, 9), 1.0);
    assert_eq!(weight(&scene, 10), 0.25);
    scene.told(11, &idle("b", None, Some(30)));
    assert_eq!(weight(&scene, 11), 1.0, "it serves another adapter");
    scene.told(12, &idle("b", None, Some(400)));
    assert_eq!(weight(&scene, 12), 0.25, "or did so long ago");
    scene.told(13, &idle("a", None, Some(0)));
    assert_eq!(weight(&scene, 13), 1.0);
}

#[test]
fn absurd_reports_are_refused_and_change_nothing() {
    let scene = Scene::new();
    let good = report("a", 10, 2);
    scene.told(0, &good);
    let wrong = |change: &dyn Fn(&mut v1::WatchHealthResponse)| {
        let mut report = good.clone();
        change(&mut report);
        scene.refused(&report)
    };
    assert_eq!(wrong(&|report| report.target = None), ReportError::Name);
    assert_eq!(wrong(&|report| report.adapter_id.clear()), ReportError::Name);
    assert_eq!(wrong(&|report| report.adapter_id = "x".repeat(257)), ReportError::Name);
    assert_eq!(wrong(&|report| report.failures = 11), ReportError::Counts);
    assert_eq!(wrong(&|report| report.timeouts = 3), ReportError::Counts);
    assert_eq!(wrong(&|report| report.calls = u64::MAX), ReportError::Counts);
    for share in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
        assert_eq!(wrong(&|report| report.quota_left = Some(share)), ReportError::Number);
    }
    let backwards = prost_types::Duration { seconds: -1, nanos: 0 };
    assert_eq!(wrong(&|report| report.served_ago = Some(backwards)), ReportError::Number);
    assert!(matches!(wrong(&|report| report.latency_sketch = vec![9; 9].into()), ReportError::Sketch(_)));
    assert_eq!(wrong(&|report| report.latency_sketch = vec![1; 9000].into()), ReportError::SketchTooLarge);
    assert_eq!(scene.health(0), tally(8.0, 10.0));
    // The far past and a hold without end are only bounded.
    let ages = prost_types::Duration { seconds: i64::MAX, nanos: 0 };
    scene.told(
        0,
        &v1::WatchHealthResponse { served_ago: Some(ages), retry_after: Some(ages), ..good.clone() },
    );
    assert_eq!(scene.seen(0, |seen| seen.offer.held_for), Some(SECOND * 300));
}

#[test]
fn the_number_of_adapters_and_of_models_is_bounded() {
    let scene = Scene::new();
    (0..MOST_ADAPTERS).for_each(|n| scene.told(0, &report(&format!("a{n}"), 1, 0)));
    assert_eq!(scene.refused(&report("one more", 1, 0)), ReportError::TooMany);
    scene.told(31, &report("one more", 1, 0));
    for n in 1..MOST_MODELS {
        scene.told(31, &report_on(&ModelRef::new("v", n.to_string()), "one more", 1, 0));
    }
    let invented = report_on(&ModelRef::new("v", "invented"), "one more", 1, 0);
    assert_eq!(scene.fleet.absorb(&invented, scene.at(31)), Err(ReportError::TooMany));
}
