//! The verdicts as a table.

use crate::load::Seen;
use signalbox_api::{
    convert::duration_from_proto,
    v1::{drill::Verdict, fault::Fault},
};
use std::{collections::BTreeMap, time::Duration};

/// What came of one fault.
pub(crate) struct Row {
    pub(crate) fault: Fault,
    pub(crate) verdict: Verdict,
    /// How long after the end of the last request hit the vendor served again as before.
    pub(crate) recovered: Option<Duration>,
}

/// A Markdown table, so that it can be kept as it is.
pub(crate) fn table(rows: &[Row]) -> String {
    let head = [
        "fault",
        "calls hit",
        "requests hit",
        "client errors",
        "added p99",
        "allowed",
        "served by",
        "serves again after",
        "passed",
    ];
    let mut lines = vec![line(&head.map(str::to_owned)), line(&head.map(|_| "---".to_owned()))];
    lines.extend(rows.iter().map(|row| line(&cells(row))));
    lines.join("\n")
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn cells(Row { fault, verdict, recovered }: &Row) -> [String; 9] {
    let wire = |time: Option<prost_types::Duration>| seconds(time.and_then(duration_from_proto));
    let served: BTreeMap<_, _> = verdict.served_by.iter().collect();
    let served: Vec<String> = served.into_iter().map(|(model, count)| format!("{model} {count}")).collect();
    [
        name(fault),
        verdict.calls_hit.to_string(),
        verdict.requests_hit.to_string(),
        verdict.client_errors.to_string(),
        wire(verdict.added_p99),
        wire(verdict.allowed_p99),
        served.join(", "),
        seconds(*recovered),
        if verdict.passed { "yes" } else { "NO" }.to_owned(),
    ]
}

fn name(fault: &Fault) -> String {
    match fault {
        Fault::Status(status) => format!("status {status}"),
        Fault::Delay(delay) => format!("delay {} s", delay.seconds),
        other => format!("{other:?}"),
    }
}

fn seconds(time: Option<Duration>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| format!("{:.2} s", time.as_secs_f64()))
}

/// What clients saw in the whole run.
pub(crate) fn total(seen: &Seen) -> String {
    let mut times: Vec<Duration> = seen.served.iter().map(|(_, took, _)| *took).collect();
    times.sort_unstable();
    let at =
        |share: f64| times.get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)));
    let (p50, p99) = (seconds(at(0.5).copied()), seconds(at(0.99).copied()));
    let (answered, failed) = (times.len(), seen.failed.len());
    let first = seen.failed.first().map(|failed| format!(", the first with {failed}")).unwrap_or_default();
    format!("whole run: {answered} requests answered (p50 {p50}, p99 {p99}), {failed} failed{first}")
}
