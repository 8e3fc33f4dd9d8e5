//! Alerts in one sentence.

use crate::{
    alert::{Alert, Turn},
    measure::Measure,
};

/// What is told of an alert when it takes a turn.
pub(crate) fn sentence(alert: &Alert, turn: Turn) -> String {
    let what = what(alert.measure);
    let whom = match alert.subject.model.as_str() {
        "" => alert.subject.vendor.clone(),
        model => format!("{}/{model}", alert.subject.vendor),
    };
    let observed = value(alert.measure, alert.observed);
    let expected = value(alert.measure, alert.expected);
    let now = format!("{what} of {whom} is {observed} where {expected} is usual");
    match turn {
        Turn::Opened => format!("{now}."),
        Turn::Worse => format!("{now}, which is worse than at first."),
        Turn::Lasting => format!("{now}, and does not come back."),
        Turn::Calm => format!("{what} of {whom} is as usual again: {observed}."),
        Turn::Silent => format!("{what} of {whom} was {observed}, and nobody has called it for two hours."),
        Turn::Settled => {
            format!("{what} of {whom} has been {observed} for a day and counts as usual from now on.")
        }
    }
}

fn what(measure: Measure) -> &'static str {
    match measure {
        Measure::FallbackRate => "The fallback rate",
        Measure::FailureRate => "The failure rate",
        Measure::CostPerCall => "The cost of a call",
        Measure::OutputTokens => "The length of an answer",
        Measure::JsonFailureRate => "The rate of invalid structured answers",
    }
}

fn value(measure: Measure, value: f64) -> String {
    match measure {
        Measure::FallbackRate | Measure::FailureRate | Measure::JsonFailureRate => {
            format!("{:.1} %", value * 100.0)
        }
        Measure::CostPerCall => format!("{:.6} EUR", value / 1e9),
        Measure::OutputTokens => format!("{value:.0} tokens"),
    }
}
