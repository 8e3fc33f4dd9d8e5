//! What routing promises, seen in simulation. Bounds are from the design; each says what it is a share of.

use signalbox_simulation::{
    Kind, Policy, Record, Scenario,
    record::{cost_per_thousand, latency, success},
    recovery, run,
    scenarios::{self, vendor},
};
use std::{io, sync::Arc, time::Duration};

const MINUTE: Duration = Duration::from_secs(60);

fn signalbox(scenario: Scenario) -> io::Result<(Arc<Scenario>, Record)> {
    let scenario = Arc::new(scenario);
    let record = run(&scenario, Policy::Signalbox)?;
    Ok((scenario, record))
}

/// Seconds of the only incident.
fn incident(scenario: &Scenario) -> std::ops::Range<u64> {
    scenario.incidents[0].from.as_secs()..scenario.incidents[0].until.as_secs()
}

#[test]
fn the_same_seed_gives_the_same_run_to_the_last_request() -> io::Result<()> {
    let scenario = scenarios::one(Kind::RateLimit(2.0), vendor::CEDAR, MINUTE / 4, 50.0);
    let (scenario, first) = signalbox(scenario)?;
    assert!(first == run(&scenario, Policy::Signalbox)?);
    let other = Arc::new(Scenario { seed: 5, ..(*scenario).clone() });
    assert!(first != run(&other, Policy::Signalbox)?);
    Ok(())
}

#[test]
fn no_vendor_is_run_to_by_all_at_once_when_reports_are_five_seconds_old() -> io::Result<()> {
    let scenario = scenarios::calm(600.0, MINUTE * 2 / 3);
    let scenario = Scenario { report_every: Duration::from_secs(5), ..scenario };
    let (scenario, record) = signalbox(scenario)?;
    for (vendor, facts) in scenario.vendors.iter().enumerate() {
        let target = record.target(vendor, 10..40);
        let share = record.share(vendor, 10..40);
        let peak = (10..40).map(|at| record.share(vendor, at..at + 1)).fold(0.0, f64::max);
        assert!(peak <= 1.5 * target, "{}: {peak} where {target} are due", facts.name);
        assert!((share / target - 1.0).abs() < 0.15, "{}: {share} where {target} are due", facts.name);
    }
    Ok(())
}

#[test]
fn a_vendor_six_times_slower_loses_half_its_share_within_three_seconds_and_has_it_back_within_a_minute()
-> io::Result<()> {
    let (scenario, record) = signalbox(scenarios::one(Kind::BrownOut(6.0), vendor::ELM, MINUTE, 120.0))?;
    let recovery = recovery::of(&scenario, &record, &scenario.incidents[0]);
    assert!(recovery.left_after.unwrap() <= 3, "{recovery:?}");
    assert!(recovery.during <= recovery.before / 2.0, "{recovery:?}");
    assert!(recovery.back_after.unwrap() <= 60, "{recovery:?}");
    assert!(success(&record.outcomes) >= 0.999);
    Ok(())
}

#[test]
fn an_outage_is_hardly_noticed_and_its_end_brings_no_flood() -> io::Result<()> {
    come_back_from(Kind::Outage, 60)
}

#[test]
fn silence_is_hardly_noticed_and_its_end_brings_no_flood() -> io::Result<()> {
    // A probe is silent for 15 s before it counts as failed, and the second opening lasts up to a minute.
    come_back_from(Kind::Silence, 85)
}

fn come_back_from(kind: Kind, seconds: u64) -> io::Result<()> {
    let rate = 120.0;
    let (scenario, record) = signalbox(scenarios::one(kind, vendor::BIRCH, MINUTE, rate))?;
    let recovery = recovery::of(&scenario, &record, &scenario.incidents[0]);
    assert!(success(&record.outcomes) >= 0.999, "{}", success(&record.outcomes));
    assert!(recovery.back_after.is_some_and(|after| after <= seconds), "{recovery:?}");
    let offered = rate * 60.0;
    assert!(recovery.failed as f64 <= 0.01 * offered, "{recovery:?}");
    let usual = recovery.before * rate;
    assert!(recovery.peak as f64 <= 1.6 * usual, "{recovery:?}, {usual} a second before");
    Ok(())
}

#[test]
fn traffic_returns_along_the_ramp() -> io::Result<()> {
    let rate = 300.0;
    let scenario = scenarios::one(Kind::Outage, vendor::BIRCH, MINUTE / 3, rate);
    let (scenario, record) = signalbox(Scenario { length: MINUTE + MINUTE / 2, ..scenario })?;
    let end = incident(&scenario).end;
    let first = (end..end + 60).find(|at| record.calls(vendor::BIRCH, *at..at + 1) > 0).unwrap();
    for second in 0..7 {
        // The share doubles each second from 1 % on. Each router begins on its own, with a probe.
        let allowed = 0.01 * 2f64.powi(second) * rate * 1.5 + 2.0 * scenario.routers as f64;
        let at = first + second as u64;
        let calls = record.calls(vendor::BIRCH, at..at + 1) as f64;
        assert!(calls <= allowed, "{calls} calls {second} s after the first, {allowed} allowed");
    }
    Ok(())
}

#[test]
fn a_vendor_that_names_a_time_is_not_called_before() -> io::Result<()> {
    let (scenario, record) = signalbox(scenarios::one(Kind::RateLimit(4.0), vendor::CEDAR, MINUTE, 120.0))?;
    let all = 0..scenario.length.as_secs();
    assert!(record.sum(vendor::CEDAR, all.clone(), |second| second.limited) > 20, "there was a storm");
    assert_eq!(record.sum(vendor::CEDAR, all, |second| second.too_early), 0);
    assert!(success(&record.outcomes) >= 0.999);
    Ok(())
}

#[test]
fn the_failure_of_a_vendor_brings_the_others_no_storm_of_retries() -> io::Result<()> {
    let (scenario, record) = signalbox(scenarios::one(Kind::Outage, vendor::ELM, MINUTE, 120.0))?;
    let span = scenario.incidents[0].from..scenario.incidents[0].until;
    let seconds = incident(&scenario);
    let calls: u64 = (0..scenario.vendors.len()).map(|vendor| record.calls(vendor, seconds.clone())).sum();
    let requests = record.within(span).len();
    assert!(calls as f64 <= 1.13 * requests as f64, "{calls} calls for {requests} requests");
    Ok(())
}

#[test]
fn a_price_that_rises_moves_traffic_and_one_that_falls_again_brings_it_back() -> io::Result<()> {
    let (scenario, record) = signalbox(scenarios::one(Kind::Price(20.0), vendor::ASPEN, MINUTE / 2, 120.0))?;
    let recovery = recovery::of(&scenario, &record, &scenario.incidents[0]);
    assert!(recovery.during < 0.5 * recovery.before, "{recovery:?}");
    assert!(recovery.back_after.unwrap() <= 10, "{recovery:?}");
    Ok(())
}

#[test]
fn signalbox_serves_more_and_sooner_than_round_robin_the_cheapest_and_the_fastest() -> io::Result<()> {
    let scenario = Arc::new(scenarios::troubled(40.0));
    let record = |policy| run(&scenario, policy);
    let own = record(Policy::Signalbox)?;
    let p99 = |record: &Record| latency(&record.outcomes, 0.99).as_secs_f64();
    assert!(success(&own.outcomes) >= 0.999);
    for policy in [Policy::RoundRobin, Policy::CheapestFirst, Policy::FastestFirst] {
        let other = record(policy)?;
        assert!(success(&own.outcomes) >= success(&other.outcomes), "{policy:?}");
        assert!(p99(&own) <= 0.9 * p99(&other), "{policy:?}: {} and {}", p99(&own), p99(&other));
    }
    Ok(())
}

#[test]
fn money_follows_the_weights() -> io::Result<()> {
    let scenario = Arc::new(scenarios::troubled(40.0));
    let oracle = cost_per_thousand(&run(&scenario, Policy::Oracle)?.outcomes);
    let spent =
        |policy| -> io::Result<f64> { Ok(cost_per_thousand(&run(&scenario, policy)?.outcomes) / oracle) };
    let (balanced, cheap) = (spent(Policy::Signalbox)?, spent(Policy::Cheap)?);
    assert!(balanced <= 1.6, "{balanced} times what the oracle spends");
    assert!(cheap <= 1.4 && cheap <= 0.95 * balanced, "{cheap} times what the oracle spends");
    Ok(())
}
