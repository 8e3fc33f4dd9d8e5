//! What routing promises, seen in simulation. Bounds are from the design; each says what it is a share of.

use signalbox_simulation::{
    Kind, Policy, Record, Scenario,
    record::{cost_per_thousand, latency, success},
    recovery, run,
    scenarios::{self, vendor},
};
use std::{sync::Arc, time::Duration};

const MINUTE: Duration = Duration::from_secs(60);

fn signalbox(scenario: Scenario) -> (Arc<Scenario>, Record) {
    let scenario = Arc::new(scenario);
    let record = run(&scenario, Policy::Signalbox).unwrap();
    (scenario, record)
}

/// Seconds of the only incident.
fn incident(scenario: &Scenario) -> std::ops::Range<u64> {
    scenario.incidents[0].from.as_secs()..scenario.incidents[0].until.as_secs()
}

#[test]
fn the_same_seed_gives_the_same_run_to_the_last_request() {
    let scenario = scenarios::one(Kind::RateLimit(2.0), vendor::CEDAR, MINUTE / 4, 50.0);
    let (scenario, first) = signalbox(scenario);
    assert!(first == run(&scenario, Policy::Signalbox).unwrap());
    let other = Arc::new(Scenario { seed: 5, ..(*scenario).clone() });
    assert!(first != run(&other, Policy::Signalbox).unwrap());
}

#[test]
fn no_vendor_is_run_to_by_all_at_once_when_reports_are_five_seconds_old() {
    let scenario = scenarios::calm(600.0, MINUTE);
    let scenario = Scenario { report_every: Duration::from_secs(5), ..scenario };
    let (scenario, record) = signalbox(scenario);
    for vendor in 0..scenario.vendors.len() {
        let usual = record.share(vendor, 10..60);
        let peak = (10..60).map(|at| record.share(vendor, at..at + 1)).fold(0.0, f64::max);
        assert!(peak <= 1.5 * usual, "{}: {peak} of {usual}", scenario.vendors[vendor].name);
    }
}

#[test]
fn a_vendor_six_times_slower_loses_half_its_share_within_three_seconds_and_has_it_back_within_a_minute() {
    let (scenario, record) = signalbox(scenarios::one(Kind::BrownOut(6.0), vendor::ELM, MINUTE, 200.0));
    let recovery = recovery::of(&scenario, &record, &scenario.incidents[0]);
    assert!(recovery.left_after.unwrap() <= 3, "{recovery:?}");
    assert!(recovery.during <= recovery.before / 2.0, "{recovery:?}");
    assert!(recovery.back_after.unwrap() <= 60, "{recovery:?}");
    assert!(success(&record.outcomes) >= 0.999);
}

#[test]
fn an_outage_is_hardly_noticed_and_its_end_brings_no_flood() {
    for kind in [Kind::Outage, Kind::Silence] {
        let (scenario, record) = signalbox(scenarios::one(kind, vendor::BIRCH, MINUTE, 200.0));
        let recovery = recovery::of(&scenario, &record, &scenario.incidents[0]);
        assert!(success(&record.outcomes) >= 0.999, "{kind:?}: {}", success(&record.outcomes));
        assert!(recovery.back_after.is_some_and(|seconds| seconds <= 60), "{kind:?}: {recovery:?}");
        let offered = 200.0 * 60.0;
        assert!(recovery.failed as f64 <= 0.01 * offered, "{kind:?}: {recovery:?}");
        let usual = recovery.before * 200.0;
        assert!(recovery.peak as f64 <= 1.6 * usual, "{kind:?}: {recovery:?}, {usual} a second before");
    }
}

#[test]
fn traffic_returns_along_the_ramp() {
    let rate = 400.0;
    let (scenario, record) = signalbox(scenarios::one(Kind::Outage, vendor::BIRCH, MINUTE / 2, rate));
    let end = incident(&scenario).end;
    let first = (end..end + 60).find(|at| record.calls(vendor::BIRCH, *at..at + 1) > 0).unwrap();
    for second in 0..7 {
        // The share doubles each second from 1 % on. Each router begins on its own, with a probe.
        let allowed = 0.01 * 2f64.powi(second) * rate * 1.5 + 2.0 * scenario.routers as f64;
        let at = first + second as u64;
        let calls = record.calls(vendor::BIRCH, at..at + 1) as f64;
        assert!(calls <= allowed, "{calls} calls {second} s after the first, {allowed} allowed");
    }
}

#[test]
fn a_vendor_that_names_a_time_is_not_called_before() {
    let (scenario, record) = signalbox(scenarios::one(Kind::RateLimit(4.0), vendor::CEDAR, MINUTE, 200.0));
    let all = 0..scenario.length.as_secs();
    assert!(record.sum(vendor::CEDAR, all.clone(), |second| second.limited) > 20, "there was a storm");
    assert_eq!(record.sum(vendor::CEDAR, all, |second| second.too_early), 0);
    assert!(success(&record.outcomes) >= 0.999);
}

#[test]
fn the_failure_of_a_vendor_brings_the_others_no_storm_of_retries() {
    let (scenario, record) = signalbox(scenarios::one(Kind::Outage, vendor::ELM, MINUTE, 200.0));
    let span = scenario.incidents[0].from..scenario.incidents[0].until;
    let seconds = incident(&scenario);
    let calls: u64 =
        (0..scenario.vendors.len()).map(|vendor| record.calls(vendor, seconds.clone())).sum();
    let requests = record.within(span).len();
    assert!(calls as f64 <= 1.13 * requests as f64, "{calls} calls for {requests} requests");
}

#[test]
fn a_price_that_rises_moves_traffic_and_one_that_falls_again_brings_it_back() {
    let (scenario, record) = signalbox(scenarios::one(Kind::Price(20.0), vendor::ASPEN, MINUTE, 200.0));
    let recovery = recovery::of(&scenario, &record, &scenario.incidents[0]);
    assert!(recovery.during < 0.75 * recovery.before, "{recovery:?}");
    assert!(recovery.back_after.unwrap() <= 10, "{recovery:?}");
}

#[test]
fn signalbox_serves_more_and_sooner_than_round_robin_the_cheapest_and_the_fastest() {
    let scenario = Arc::new(scenarios::troubled(60.0));
    let record = |policy| run(&scenario, policy).unwrap();
    let own = record(Policy::Signalbox);
    let p99 = |record: &Record| latency(&record.outcomes, 0.99).as_secs_f64();
    assert!(success(&own.outcomes) >= 0.999);
    for policy in [Policy::RoundRobin, Policy::CheapestFirst, Policy::FastestFirst] {
        let other = record(policy);
        assert!(success(&own.outcomes) >= success(&other.outcomes), "{policy:?}");
        assert!(p99(&own) <= 0.9 * p99(&other), "{policy:?}: {} and {}", p99(&own), p99(&other));
    }
    let dearer = cost_per_thousand(&own.outcomes) / cost_per_thousand(&record(Policy::Oracle).outcomes);
    assert!(dearer <= 2.0, "{dearer} times what the oracle spends");
}
