//! Drills as people read them.

use crate::commands::show;
use signalbox_api::v1;
use std::collections::BTreeMap;
use v1::{
    drill::{State, Verdict},
    fault::Fault,
};

/// All of them, a line each.
pub(super) fn all(drills: &[v1::Drill]) -> String {
    if drills.is_empty() {
        return "no drill runs or ran".to_owned();
    }
    let head =
        ["DRILL", "STATE", "TARGET", "TENANT", "FAULT", "SHARE", "HIT", "ERRORS", "ADDED P99", "PASSED"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(drills.iter().map(row));
    show::table(&rows, &[5, 6, 7, 8]).join("\n")
}

fn row(drill: &v1::Drill) -> Vec<String> {
    let verdict = drill.verdict.clone().unwrap_or_default();
    vec![
        drill.name.clone(),
        state(drill),
        target(drill),
        tenant(drill).to_owned(),
        fault(drill),
        drill.share.to_string(),
        verdict.calls_hit.to_string(),
        verdict.client_errors.to_string(),
        added(&verdict),
        passed(drill, &verdict).to_owned(),
    ]
}

/// One of them, a line for each fact, and the verdict's sentence.
pub(super) fn one(drill: &v1::Drill) -> String {
    let verdict = drill.verdict.clone().unwrap_or_default();
    let lasts = show::wire_time(drill.duration).unwrap_or_default();
    let allowed = show::wire_time(verdict.allowed_p99).unwrap_or_default();
    let scope = format!("{} of {}, {} of the calls", target(drill), tenant(drill), percent(drill.share));
    let facts = [
        ("drill", format!("{}, {}", drill.name, state(drill))),
        ("target", scope),
        ("fault", format!("{}, for {lasts}", fault(drill))),
        ("calls hit", verdict.calls_hit.to_string()),
        ("requests hit", format!("{} ({} still under way)", verdict.requests_hit, verdict.requests_open)),
        ("client errors", verdict.client_errors.to_string()),
        ("clients gone", verdict.clients_gone.to_string()),
        ("added p99", format!("{} ({allowed} allowed)", added(&verdict))),
        ("served by", served_by(&verdict)),
        ("passed", passed(drill, &verdict).to_owned()),
    ];
    let rows: Vec<Vec<String>> = facts.map(|(name, fact)| vec![name.to_owned(), fact]).to_vec();
    format!("{}\n\n{}", show::table(&rows, &[]).join("\n"), verdict.summary)
}

/// How far it is, in a few words.
pub(super) fn progress(drill: &v1::Drill) -> String {
    let verdict = drill.verdict.clone().unwrap_or_default();
    let Verdict { calls_hit, requests_open, client_errors, .. } = verdict;
    let state = state(drill);
    format!(
        "{}: {state}, {calls_hit} calls hit, {client_errors} client errors, {requests_open} under way",
        drill.name
    )
}

fn state(drill: &v1::Drill) -> String {
    match drill.state() {
        State::Unspecified => "unknown".to_owned(),
        state => show::word(state.as_str_name(), "STATE_"),
    }
}

fn target(drill: &v1::Drill) -> String {
    let v1::Target { vendor, model } = drill.target.clone().unwrap_or_default();
    format!("{vendor}/{}", if model.is_empty() { "*" } else { &model })
}

fn tenant(drill: &v1::Drill) -> &str {
    if drill.tenant_id.is_empty() { "all tenants" } else { &drill.tenant_id }
}

fn fault(drill: &v1::Drill) -> String {
    let time = |wire| show::wire_time(Some(wire)).unwrap_or_default();
    match drill.fault.and_then(|fault| fault.fault) {
        None => "none".to_owned(),
        Some(Fault::Status(status)) => format!("status {status}"),
        Some(Fault::Delay(delay)) => format!("delay {}", time(delay)),
        Some(Fault::CutAfterTokens(events)) => format!("cut after {events} events"),
        Some(Fault::Trickle(pause)) => format!("trickle {}", time(pause)),
    }
}

fn added(verdict: &Verdict) -> String {
    show::wire_time(verdict.added_p99).unwrap_or_else(|| "-".to_owned())
}

/// The verdict counts once nothing can change it.
fn passed(drill: &v1::Drill, verdict: &Verdict) -> &'static str {
    match (is_final(drill), verdict.passed) {
        (false, _) => "not yet known",
        (true, true) => "yes",
        (true, false) => "NO",
    }
}

/// Whether the drill has ended and every request that it hit has, too.
pub(super) fn is_final(drill: &v1::Drill) -> bool {
    drill.state() == State::Ended && drill.verdict.as_ref().is_none_or(|verdict| verdict.requests_open == 0)
}

fn served_by(verdict: &Verdict) -> String {
    let sorted: BTreeMap<_, _> = verdict.served_by.iter().collect();
    let served: Vec<String> = sorted.into_iter().map(|(model, count)| format!("{model} {count}")).collect();
    if served.is_empty() { "-".to_owned() } else { served.join(", ") }
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_api::convert::duration_to_proto;
    use std::time::Duration;

    fn drill() -> v1::Drill {
        let verdict = Verdict {
            calls_hit: 12,
            requests_hit: 11,
            added_p99: Some(duration_to_proto(Duration::from_millis(5020))),
            allowed_p99: Some(duration_to_proto(Duration::from_millis(5600))),
            served_by: [("b/m".to_owned(), 4), ("a/m".to_owned(), 7)].into(),
            passed: true,
            summary: "no client saw an error".to_owned(),
            ..Default::default()
        };
        v1::Drill {
            name: "drill-1".to_owned(),
            target: Some(v1::Target { vendor: "openai".to_owned(), model: String::new() }),
            fault: Some(v1::Fault { fault: Some(Fault::Status(429)) }),
            share: 0.125,
            duration: Some(duration_to_proto(Duration::from_secs(90))),
            state: State::Ended as i32,
            verdict: Some(verdict),
            ..Default::default()
        }
    }

    #[test]
    fn a_drill_shows_what_it_hit_and_what_came_of_it() {
        let shown = one(&drill());
        for part in [
            "openai/* of all tenants, 12.5 % of the calls",
            "status 429, for 90 s",
            "5.02 s (5.60 s allowed)",
            "a/m 7, b/m 4",
            "passed         yes",
        ] {
            assert!(shown.contains(part), "{part} is missing in\n{shown}");
        }
        assert!(shown.ends_with("no client saw an error"), "{shown}");
        let line = all(&[drill()]);
        assert!(line.lines().last().unwrap().ends_with("12       0     5.02 s  yes"), "{line}");
    }

    #[test]
    fn a_verdict_counts_only_once_nothing_is_under_way() {
        let mut open = drill();
        open.verdict.as_mut().unwrap().requests_open = 1;
        assert!(one(&open).contains("not yet known") && !is_final(&open));
        assert_eq!(progress(&open), "drill-1: ended, 12 calls hit, 0 client errors, 1 under way");
        open.state = State::Running as i32;
        assert!(!is_final(&open));
        assert_eq!(all(&[]), "no drill runs or ran");
    }
}
