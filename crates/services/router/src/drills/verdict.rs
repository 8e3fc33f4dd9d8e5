//! Would users have noticed?

use super::{drill::Ending, tally::Tally, wanted::Wanted};
use signalbox_api::{convert, v1};
use signalbox_types::DrillFault;
use std::time::Duration;

/// What came of a drill so far. The rule is told in the contract, at `Drill.Verdict`.
pub(super) fn verdict(wanted: &Wanted, tally: &Tally, ended: Option<Ending>) -> v1::drill::Verdict {
    let added = added_p99(tally);
    let in_time = added.is_some_and(|added| added <= wanted.allowed);
    let refused = ended == Some(Ending::Refused);
    v1::drill::Verdict {
        calls_hit: tally.calls_hit,
        requests_hit: tally.requests_hit,
        client_errors: tally.client_errors,
        added_p99: added.map(convert::duration_to_proto),
        allowed_p99: Some(convert::duration_to_proto(wanted.allowed)),
        served_by: tally.served_by.clone().into_iter().collect(),
        passed: in_time && tally.client_errors == 0 && !refused,
        summary: summary(wanted, tally, added, ended),
        requests_open: tally.open(),
        clients_gone: tally.clients_gone,
    }
}

/// The 99th percentile of the requests hit, less that of the calls that were not; `None` where none was answered.
fn added_p99(tally: &Tally) -> Option<Duration> {
    let usual = tally.unhurt.quantile(0.99).unwrap_or_default();
    tally.hit.quantile(0.99).map(|hit| hit.saturating_sub(usual))
}

fn summary(wanted: &Wanted, tally: &Tally, added: Option<Duration>, ended: Option<Ending>) -> String {
    let mut sentence = outcome(wanted, tally, added);
    if tally.clients_gone > 0 {
        sentence.push_str(&format!("; {} clients went away before the end", tally.clients_gone));
    }
    if tally.open() > 0 {
        sentence.push_str(&format!("; {} requests are still under way", tally.open()));
    }
    if let Some(early @ (Ending::Stopped | Ending::SwitchedOff | Ending::Refused)) = ended {
        sentence.push_str(&format!("; ended early: {early}"));
    }
    sentence
}

fn outcome(wanted: &Wanted, tally: &Tally, added: Option<Duration>) -> String {
    if tally.calls_hit == 0 {
        return "no call was hit, so nothing was learned: no request went to the target, or it was left alone".to_owned();
    }
    if tally.client_errors > 0 {
        let (errors, hit) = (tally.client_errors, tally.requests_hit);
        return format!("{errors} of {hit} clients saw an error{}", excuse(wanted.fault));
    }
    let Some(added) = added else { return "no request that was hit has been answered yet".to_owned() };
    let (added, allowed) = (added.as_secs_f64(), wanted.allowed.as_secs_f64());
    let compared = match tally.unhurt.is_empty() {
        true => ", with no call to compare with",
        false => "",
    };
    format!(
        "no client saw an error, and answers came {added:.2} s later at the 99th percentile, where a failover may \
         add {allowed:.2} s{compared}"
    )
}

/// Where no router could have kept a fault from the client.
fn excuse(fault: DrillFault) -> &'static str {
    match fault {
        DrillFault::CutAfter(1..) => {
            ": a stream that breaks off after its first content cannot be moved, since its client has seen a part"
        }
        // As codecs read a status without a vendor's own error object.
        DrillFault::Status(400 | 405..=407 | 410..=428 | 430..=498) => {
            ": the status says that the request is at fault, which is moved nowhere"
        }
        _ => "",
    }
}
