//! Alerts and their life.

use crate::{
    describe,
    measure::Measure,
    minute::Minute,
    verdict::{Standing, Verdict},
};
use std::fmt::Write as _;

/// Whose behaviour it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// Vendor entry.
    pub vendor: String,
    /// Model; empty for all of the vendor.
    pub model: String,
}

/// How far an alert is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Raised.
    Open,
    /// Raised and worse, or too long.
    Escalated,
    /// Over.
    Closed,
}

/// How long things take until they matter, in minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// As ever for so long, an alert closes.
    pub close_after: u64,
    /// Open for so long, it escalates.
    pub escalate_after: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self { close_after: 10, escalate_after: 30 }
    }
}

/// Without a call for so long, nothing more can be said and an alert closes.
const SILENCE: u64 = 120;
/// What lasts for so long is the new normal.
pub(crate) const SETTLED: u64 = 24 * 60;

/// A model, or a vendor, that behaves unlike its own history.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// Made of rule, subject and opening minute: whoever sees the same minutes gives the same id.
    pub id: String,
    /// Name of the rule that raised it.
    pub rule: &'static str,
    /// What was measured.
    pub measure: Measure,
    /// Of whom.
    pub subject: Subject,
    /// How far it is.
    pub state: State,
    /// What was seen last: a share, nano-EUR or tokens.
    pub observed: f64,
    /// What its history leads one to expect.
    pub expected: f64,
    /// Value beyond which it counts as unlike its history.
    pub threshold: f64,
    /// In one sentence.
    pub description: String,
    /// When it was opened.
    pub opened: Minute,
    /// When it got worse or went on too long.
    pub escalated: Option<Minute>,
    /// When it closed.
    pub closed: Option<Minute>,
}

/// A turn in an alert's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It opened.
    Opened,
    /// It escalated: it is worse than at first.
    Worse,
    /// It escalated: it does not end.
    Lasting,
    /// It closed: all is as ever.
    Calm,
    /// It closed: nobody calls any more.
    Silent,
    /// It closed: it has been so for a day.
    Settled,
}

/// An alert that is not closed.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) alert: Alert,
    /// The last that it took.
    turn: Turn,
    /// How far it was from what is expected when it opened.
    excess: f64,
    /// Minutes in a row that were as ever.
    calm: u64,
    /// The last minute that said something.
    heard: Minute,
}

impl Life {
    /// Opens an alert.
    pub(crate) fn open(
        rule: &'static str,
        measure: Measure,
        subject: &Subject,
        minute: Minute,
        verdict: Verdict,
    ) -> Self {
        let mut alert = Alert {
            id: id(rule, subject, minute),
            rule,
            measure,
            subject: subject.clone(),
            state: State::Open,
            observed: verdict.observed,
            expected: verdict.expected,
            threshold: verdict.threshold,
            description: String::new(),
            opened: minute,
            escalated: None,
            closed: None,
        };
        alert.description = describe::sentence(&alert, Turn::Opened);
        Self { alert, turn: Turn::Opened, excess: excess(verdict), calm: 0, heard: minute }
    }

    /// Goes on with a verdict. Gives the turn that the alert takes.
    pub(crate) fn go_on(
        &mut self,
        minute: Minute,
        verdict: Verdict,
        whole: bool,
        timing: Timing,
    ) -> Option<Turn> {
        self.heard = minute;
        self.alert.observed = verdict.observed;
        self.alert.expected = verdict.expected;
        self.alert.threshold = verdict.threshold;
        // The sentence and the figures beside it are of one minute.
        self.alert.description = describe::sentence(&self.alert, self.turn);
        if verdict.standing == Standing::Calm {
            self.calm += u64::from(whole);
            return (self.calm >= timing.close_after).then_some(Turn::Calm);
        }
        self.calm = 0;
        let worse = verdict.standing == Standing::Breach && excess(verdict) >= 2.0 * self.excess;
        let lasting = minute.since(self.alert.opened) >= timing.escalate_after;
        match self.alert.state {
            State::Open if worse => Some(Turn::Worse),
            State::Open if lasting => Some(Turn::Lasting),
            _ => None,
        }
    }

    /// It got worse, or does not end.
    pub(crate) fn escalate(&mut self, minute: Minute, turn: Turn) -> Alert {
        self.turn = turn;
        self.alert.state = State::Escalated;
        self.alert.escalated = Some(minute);
        self.alert.description = describe::sentence(&self.alert, turn);
        self.alert.clone()
    }

    /// A minute without calls.
    pub(crate) fn wait(&self, minute: Minute) -> Option<Turn> {
        (minute.since(self.heard) >= SILENCE).then_some(Turn::Silent)
    }

    /// It is over.
    pub(crate) fn close(mut self, minute: Minute, turn: Turn) -> Alert {
        self.alert.state = State::Closed;
        self.alert.closed = Some(minute);
        self.alert.description = describe::sentence(&self.alert, turn);
        self.alert
    }
}

fn excess(verdict: Verdict) -> f64 {
    (verdict.observed - verdict.expected).abs()
}

/// Plain characters only, since it goes into headers and addresses.
fn id(rule: &str, subject: &Subject, minute: Minute) -> String {
    let mut id = format!("{rule}/");
    for part in [&subject.vendor, "/", &subject.model, "/"] {
        for byte in part.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~:@/".contains(&byte) {
                id.push(char::from(byte));
            } else {
                // Writing to a text cannot fail.
                let _written = write!(id, "%{byte:02X}");
            }
        }
    }
    id + &minute.0.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_of_an_alert_that_is_open_says_what_its_figures_say() {
        let verdict =
            |observed| Verdict { standing: Standing::Breach, observed, expected: 0.016, threshold: 0.3 };
        let subject = Subject { vendor: "openai".into(), model: "m".into() };
        let mut life = Life::open("r", Measure::FailureRate, &subject, Minute(1), verdict(0.9));
        assert_eq!(life.alert.description, "The failure rate of openai/m is 90.0 % where 1.6 % is usual.");
        assert_eq!(life.go_on(Minute(2), verdict(0.4875), true, Timing::default()), None);
        assert_eq!(life.alert.description, "The failure rate of openai/m is 48.8 % where 1.6 % is usual.");
    }

    #[test]
    fn an_id_says_what_where_and_when_in_plain_characters() {
        let subject = |vendor: &str, model: &str| Subject { vendor: vendor.into(), model: model.into() };
        let minute = Minute(29_000_000);
        assert_eq!(
            id("failing-now", &subject("local", "qwen3:8b"), minute),
            "failing-now/local/qwen3:8b/29000000"
        );
        assert_eq!(id("failure-rate-up", &subject("xai", ""), minute), "failure-rate-up/xai//29000000");
        assert_eq!(id("r", &subject("a", "b\r\nè"), minute), "r/a/b%0D%0A%C3%A8/29000000");
    }
}
