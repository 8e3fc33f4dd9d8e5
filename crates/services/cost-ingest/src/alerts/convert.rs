//! Between the store's minutes, the core's alerts and the contract's.

use signalbox_anomaly::{Alert, Calls, Measure, Minute, State, Tally};
use signalbox_api::v1::{self, alert};
use signalbox_ports::{AlertNews, usage_store};

/// What the store counted of one model in a minute, and which minute it is.
pub(super) fn calls(counted: usage_store::Minute) -> (Minute, Calls) {
    let tally = Tally {
        calls: counted.calls,
        failed: counted.failed,
        first_choices: counted.first_choices,
        fell_back: counted.fell_back,
        structured: counted.structured,
        invalid: counted.invalid,
        cost_nano_eur: counted.cost_nano_eur,
        priced: counted.priced,
        output_tokens: counted.output_tokens,
        answered: counted.answered,
    };
    (Minute::of(counted.start), Calls { vendor: counted.vendor, model: counted.model, tally })
}

/// What is told of an alert's last turn.
pub(super) fn news(alert: &Alert) -> AlertNews {
    AlertNews { id: format!("{}-{}", alert.id, state_name(alert.state)), alert: told(alert) }
}

/// The alert as it is told.
pub(super) fn told(alert: &Alert) -> v1::Alert {
    let time = |minute: Minute| minute.start().into();
    v1::Alert {
        alert_id: alert.id.clone(),
        rule: alert.rule.to_owned(),
        measure: measure(alert.measure).into(),
        vendor: alert.subject.vendor.clone(),
        model: alert.subject.model.clone(),
        state: state(alert.state).into(),
        observed: alert.observed,
        expected: alert.expected,
        threshold: alert.threshold,
        description: alert.description.clone(),
        open_time: Some(time(alert.opened)),
        escalate_time: alert.escalated.map(time),
        close_time: alert.closed.map(time),
    }
}

/// As ids and metrics name it.
pub(super) fn state_name(state: State) -> &'static str {
    match state {
        State::Open => "open",
        State::Escalated => "escalated",
        State::Closed => "closed",
    }
}

fn state(state: State) -> alert::State {
    match state {
        State::Open => alert::State::Open,
        State::Escalated => alert::State::Escalated,
        State::Closed => alert::State::Closed,
    }
}

fn measure(measure: Measure) -> alert::Measure {
    match measure {
        Measure::FallbackRate => alert::Measure::FallbackRate,
        Measure::FailureRate => alert::Measure::FailureRate,
        Measure::CostPerCall => alert::Measure::CostPerCall,
        Measure::OutputTokens => alert::Measure::OutputTokens,
        Measure::JsonFailureRate => alert::Measure::JsonFailureRate,
    }
}
