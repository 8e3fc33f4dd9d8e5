//! Records as Markdown tables.

use crate::{
    Kind, Outcome, Policy, Record, Scenario,
    record::{added_latency, cost_per_thousand, latency, success},
    recovery::{self, Recovery},
};
use std::{fmt::Write as _, sync::Arc, time::Duration};

/// What the policies made of the whole run. The oracle's record is what costs are compared with.
pub fn policies(scenario: &Arc<Scenario>, records: &[Record]) -> String {
    let oracle = records.iter().find(|record| record.policy == Policy::Oracle);
    let best = oracle.map_or(f64::NAN, |record| cost_per_thousand(&record.outcomes));
    let mut table =
        "| policy | served | failed | p50 / p99 s | added p50 / p99 s | EUR for 1,000 | of the oracle's | \
                     calls a request |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for record in records {
        let all = record.outcomes.as_slice();
        let time = |share| latency(all, share).as_secs_f64();
        let added = |share| added_latency(all, scenario, share).as_secs_f64();
        let failed = all.iter().filter(|outcome| outcome.result.is_err()).count();
        let cost = cost_per_thousand(all);
        // Writing to a String cannot fail.
        let _ = writeln!(
            table,
            "| {} | {:.3} % | {failed} | {:.2} / {:.2} | {:.2} / {:.2} | {cost:.3} | {:.2} | {:.3} |",
            record.policy.name(),
            100.0 * success(all),
            time(0.5),
            time(0.99),
            added(0.5),
            added(0.99),
            cost / best,
            record.calls_per_request(),
        );
    }
    table
}

/// How each incident went for the users of each policy: what was served while it lasted and in the half minute after.
pub fn incidents(scenario: &Arc<Scenario>, records: &[Record]) -> String {
    let mut table = "| served / p99 s |".to_owned();
    let vendor = |index: usize| scenario.vendors.get(index).map_or("", |vendor| vendor.name);
    let seen = || scenario.incidents.iter().filter(|incident| !matches!(incident.kind, Kind::Price(_)));
    for incident in seen() {
        let _ = write!(table, " {} of {} |", incident.kind.name(), vendor(incident.vendor));
    }
    table.push_str("\n| --- |");
    table.push_str(&" --- |".repeat(seen().count()));
    for record in records {
        let _ = write!(table, "\n| {} |", record.policy.name());
        for incident in seen() {
            let outcomes: &[Outcome] = record.within(incident.from..incident.until + Duration::from_secs(30));
            let p99 = latency(outcomes, 0.99).as_secs_f64();
            let _ = write!(table, " {:.3} % / {p99:.2} |", 100.0 * success(outcomes));
        }
    }
    table.push('\n');
    table
}

/// The share of calls of each vendor, over the whole run.
pub fn shares(scenario: &Arc<Scenario>, records: &[Record]) -> String {
    let mut table = "| policy |".to_owned();
    scenario.vendors.iter().for_each(|vendor| {
        let _ = write!(table, " {} |", vendor.name);
    });
    table.push_str("\n| --- |");
    table.push_str(&" --- |".repeat(scenario.vendors.len()));
    for record in records {
        let _ = write!(table, "\n| {} |", record.policy.name());
        for vendor in 0..scenario.vendors.len() {
            let share = record.share(vendor, 0..scenario.length.as_secs());
            let target = record.target(vendor, 0..record.targets.len());
            let _ = match target > 0.0 {
                true => write!(table, " {:.0} % ({:.0} %) |", 100.0 * share, 100.0 * target),
                false => write!(table, " {:.0} % |", 100.0 * share),
            };
        }
    }
    table.push('\n');
    table
}

/// How the traffic left each vendor in trouble and came back to it.
pub fn recoveries(scenario: &Arc<Scenario>, record: &Record) -> String {
    let mut table =
        "| incident | share before | under half of it after | share at the end of the incident | half of it \
                     back after | failed calls in recovery | most calls in a second of it |\n\
                     | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    let after =
        |seconds: Option<u64>| seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds} s"));
    for incident in &scenario.incidents {
        let Recovery { before, left_after, during, back_after, failed, peak } =
            recovery::of(scenario, record, incident);
        let vendor = scenario.vendors.get(incident.vendor).map_or("", |vendor| vendor.name);
        let _ = writeln!(
            table,
            "| {} of {vendor} | {:.1} % | {} | {:.1} % | {} | {failed} | {peak} |",
            incident.kind.name(),
            100.0 * before,
            after(left_after),
            100.0 * during,
            after(back_after),
        );
    }
    table
}
