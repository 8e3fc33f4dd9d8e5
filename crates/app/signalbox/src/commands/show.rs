//! Figures as people read them.

use signalbox_api::{convert, v1};
use signalbox_types::Money;
use std::time::Duration;

/// A time with three significant digits or so, as in `87 ms` or `1.23 s`.
pub(super) fn time(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{} µs", duration.as_micros()),
        seconds if seconds < 1.0 => format!("{} ms", duration.as_millis()),
        seconds if seconds < 60.0 => format!("{seconds:.2} s"),
        seconds => format!("{seconds:.0} s"),
    }
}

/// As [`time`], from the wire; `None` where it was not measured.
pub(super) fn wire_time(duration: Option<prost_types::Duration>) -> Option<String> {
    duration.and_then(convert::duration_from_proto).map(time)
}

/// An amount in EUR, or that it is not known.
pub(super) fn cost(cost: &v1::Cost) -> String {
    if cost.unknown { "unknown".to_owned() } else { Money::from_nano_eur(cost.nano_eur).to_string() }
}

/// Disjoint token counts; those that are zero are left out, except prompt and answer.
pub(super) fn tokens(usage: &v1::TokenUsage) -> String {
    let source = match usage.source() {
        v1::token_usage::Source::Unspecified => return "unknown".to_owned(),
        v1::token_usage::Source::Vendor => "counted by the vendor",
        v1::token_usage::Source::Estimated => "estimated",
    };
    let counts = [
        (usage.input_tokens, "input", true),
        (usage.cache_read_tokens, "read from the vendor's cache", false),
        (usage.cache_write_tokens, "written to the vendor's cache", false),
        (usage.cache_write_1h_tokens, "written to the vendor's cache for an hour", false),
        (usage.output_tokens, "output", true),
        (usage.reasoning_tokens, "reasoning", false),
    ];
    let told = counts.iter().filter(|(count, _, always)| *always || *count > 0);
    let told: Vec<String> = told.map(|(count, name, _)| format!("{count} {name}")).collect();
    format!("{} ({source})", told.join(" + "))
}

/// A word of the contract without its prefix, as in `tool calls` for `FINISH_REASON_TOOL_CALLS`.
pub(super) fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_lowercase().replace('_', " ")
}

/// A line for each vendor call: who, why, and what came of it.
pub(super) fn attempts(attempts: &[v1::Attempt]) -> Vec<String> {
    attempts.iter().enumerate().map(|(index, attempt)| format!("{}. {}", index + 1, told(attempt))).collect()
}

fn told(attempt: &v1::Attempt) -> String {
    let cause = word(attempt.cause().as_str_name(), "CAUSE_");
    let after = wire_time(attempt.latency).map(|time| format!(" after {time}")).unwrap_or_default();
    let outcome = match (attempt.error_reason.as_str(), attempt.error_message.as_str()) {
        ("", _) => format!("answered{after}"),
        ("CANCELLED", "") => format!("cancelled{after}"),
        ("CANCELLED", why) => format!("cancelled{after}: {why}"),
        // Accounts hold no messages.
        (reason, "") => format!("failed{after}: {reason}"),
        (reason, why) => format!("failed{after}: {reason}: {why}"),
    };
    let status = match attempt.vendor_status {
        0 => String::new(),
        status => format!(" (status {status})"),
    };
    format!("{}/{} ({cause}) {outcome}{status}", attempt.vendor, attempt.model)
}

/// A cell's text, or a dash where it says nothing.
pub(super) fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

/// Lines of cells, each column as wide as its widest cell. Columns whose number is in `right` are aligned right.
pub(super) fn table(rows: &[Vec<String>], right: &[usize]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let cell = |(column, (cell, width)): (usize, (&String, &usize))| match right.contains(&column) {
        true => format!("{cell:>width$}"),
        false => format!("{cell:<width$}"),
    };
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row.iter().zip(&widths).enumerate().map(cell).collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_a_fitting_unit() {
        let shown = [250, 87_400, 1_234_000, 75_400_000].map(|micros| time(Duration::from_micros(micros)));
        assert_eq!(shown, ["250 µs", "87 ms", "1.23 s", "75 s"]);
    }

    #[test]
    fn tokens_are_told_apart_with_their_source() {
        let mut usage = v1::TokenUsage { input_tokens: 12, reasoning_tokens: 3, ..Default::default() };
        assert_eq!(tokens(&usage), "unknown");
        usage.set_source(v1::token_usage::Source::Estimated);
        assert_eq!(tokens(&usage), "12 input + 0 output + 3 reasoning (estimated)");
    }

    #[test]
    fn a_call_says_what_came_of_it_and_no_more() {
        let attempt = |reason: &str, message: &str| v1::Attempt {
            vendor: "openai".into(),
            model: "m".into(),
            cause: v1::attempt::Cause::FirstChoice as i32,
            error_reason: reason.into(),
            error_message: message.into(),
            ..v1::Attempt::default()
        };
        let calls =
            [attempt("CANCELLED", ""), attempt("VENDOR_BAD_RESPONSE", ""), attempt("VENDOR_ERROR", "503")];
        let told = [
            "1. openai/m (first choice) cancelled",
            "2. openai/m (first choice) failed: VENDOR_BAD_RESPONSE",
            "3. openai/m (first choice) failed: VENDOR_ERROR: 503",
        ];
        assert_eq!(attempts(&calls), told);
    }

    #[test]
    fn an_unknown_cost_is_not_free() {
        assert_eq!(cost(&v1::Cost { unknown: true, ..Default::default() }), "unknown");
        assert_eq!(cost(&v1::Cost { nano_eur: 172_000, ..Default::default() }), "€0.000172");
    }

    #[test]
    fn columns_line_up() {
        let rows = [["name", "€"], ["x", "12.50"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows, &[1]), ["name      €", "x     12.50"]);
    }
}
