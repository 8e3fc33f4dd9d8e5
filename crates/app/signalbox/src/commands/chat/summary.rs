//! What is said below an answer.

use crate::commands::show;
use signalbox_api::v1;

/// Who answered, why the answer ended, tokens, cost and times; attempts and changes where there were some.
pub(super) fn summary(done: &v1::StreamDone) -> String {
    let nobody = v1::Route::default();
    let route = done.route.as_ref().unwrap_or(&nobody);
    let mut rows = Vec::new();
    if route.simulated {
        rows.push(row("SIMULATED", "no model saw this; give the server a vendor's key for a real answer"));
    }
    rows.push(row("answered by", who(route)));
    rows.push(row("finish", finish(done)));
    rows.push(row("tokens", show::tokens(&done.usage.unwrap_or_default())));
    rows.push(row("cost", cost(done, route)));
    rows.extend(route.cache.as_ref().and_then(from_cache).map(|told| row("cache", told)));
    rows.push(row("latency", show::wire_time(route.latency).unwrap_or_else(unknown)));
    rows.push(row("first token", show::wire_time(route.time_to_first_token).unwrap_or_else(unknown)));
    if route.attempts.len() > 1 {
        rows.extend(listed("attempts", show::attempts(&route.attempts)));
    }
    let changes = route.adjustments.iter();
    let changes = changes.map(|change| format!("{}: {}", change.field, change.description));
    rows.extend(listed("adjusted", changes.collect()));
    show::table(&rows, &[]).join("\n")
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn row(name: &str, value: impl Into<String>) -> Vec<String> {
    vec![name.to_owned(), value.into()]
}

/// A row for each value, the name on the first.
fn listed(name: &str, values: Vec<String>) -> Vec<Vec<String>> {
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names.zip(values).map(|(name, value)| row(name, value)).collect()
}

fn who(route: &v1::Route) -> String {
    let asked = format!("{}/{}", route.vendor, route.model);
    match route.served_model.as_str() {
        "" => asked,
        served if served == route.model => asked,
        served => format!("{asked} (as {served})"),
    }
}

fn finish(done: &v1::StreamDone) -> String {
    let reason = match done.finish_reason() {
        v1::FinishReason::Unspecified => "unknown".to_owned(),
        reason => show::word(reason.as_str_name(), "FINISH_REASON_"),
    };
    match done.vendor_finish_reason.as_str() {
        "" => reason,
        vendor if vendor.eq_ignore_ascii_case(&reason) => reason,
        vendor => format!("{reason} (the vendor says {vendor})"),
    }
}

/// That the answer was given before, and what that saved.
fn from_cache(effect: &v1::CacheEffect) -> Option<String> {
    use v1::cache_effect::Outcome;
    let how = match effect.outcome() {
        Outcome::Unspecified | Outcome::Miss | Outcome::Bypass => return None,
        Outcome::ExactHit => "the same was asked before",
        Outcome::NormalizedHit => "the same but for typesetting was asked before",
        Outcome::SemanticHit => "the same was asked before in other words",
        Outcome::Coalesced => "an identical request was under way",
    };
    let age = show::wire_time(effect.age).map(|age| format!(", {age} ago")).unwrap_or_default();
    let saved = effect.saved.as_ref().map(|saved| format!("; saved {}", show::cost(saved)));
    Some(format!("{how}{age}{}", saved.unwrap_or_default()))
}

fn cost(done: &v1::StreamDone, route: &v1::Route) -> String {
    let Some(cost) = &done.cost else { return unknown() };
    let total = route.total_cost.as_ref().filter(|total| {
        route.attempts.len() > 1 && (total.nano_eur, total.unknown) != (cost.nano_eur, cost.unknown)
    });
    match total {
        Some(total) => format!("{}, all attempts {}", show::cost(cost), show::cost(total)),
        None => show::cost(cost),
    }
}
