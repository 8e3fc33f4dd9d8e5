//! A rule posted at one model: its detector, and its alert while there is one.

use crate::{
    alert::{Alert, Life, SETTLED, Subject, Timing, Turn},
    detector::Detector,
    minute::Minute,
    rule::{Rule, Test},
    scale::{Expectation, Reading},
    verdict::{Standing, Verdict},
};

/// A rule at work on one model.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) rule: Rule,
    detector: Detector,
    life: Option<Life>,
    /// The minute that closed the last alert.
    closed: Option<Minute>,
}

/// What a post was given of a minute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) minute: Minute,
    pub(crate) reading: Option<Reading>,
    pub(crate) expected: Option<Expectation>,
    /// The minute is over.
    pub(crate) whole: bool,
}

impl Post {
    pub(crate) fn new(rule: Rule) -> Self {
        Self { rule, detector: Detector::of(&rule), life: None, closed: None }
    }

    /// Its alert, while it is not closed.
    pub(crate) fn alert(&self) -> Option<&Alert> {
        self.life.as_ref().map(|life| &life.alert)
    }

    /// Looks at a minute. Gives the alert where its state changed.
    pub(crate) fn look(&mut self, subject: &Subject, seen: Seen, timing: Timing) -> Option<Alert> {
        let verdict = seen.reading.and_then(|reading| match seen.whole {
            true => self.detector.judge(&self.rule, seen.minute, reading, seen.expected),
            false => self.detector.glance(&self.rule, reading, seen.expected),
        });
        let Some(life) = &mut self.life else { return self.open(subject, seen.minute, verdict?) };
        let turn = match verdict {
            Some(verdict) => life.go_on(seen.minute, verdict, seen.whole, timing),
            None if seen.whole => life.wait(seen.minute),
            None => None,
        };
        match turn? {
            turn @ (Turn::Worse | Turn::Lasting) => Some(life.escalate(seen.minute, turn)),
            turn => self.close(seen.minute, turn),
        }
    }

    fn open(&mut self, subject: &Subject, minute: Minute, verdict: Verdict) -> Option<Alert> {
        // A minute that still ran may have closed an alert before an earlier one was whole.
        if verdict.standing != Standing::Breach || self.closed.is_some_and(|closed| minute <= closed) {
            return None;
        }
        let life = Life::open(self.rule.name, self.rule.measure, subject, minute, verdict);
        let alert = life.alert.clone();
        self.life = Some(life);
        Some(alert)
    }

    fn close(&mut self, minute: Minute, turn: Turn) -> Option<Alert> {
        self.detector.release();
        self.closed = Some(minute);
        self.life.take().map(|life| life.close(minute, turn))
    }

    /// Whether its alert has been open for so long that what it tells of is the new normal. What is bad whatever its
    /// history never is.
    pub(crate) fn has_settled(&self, minute: Minute) -> bool {
        let relative = !matches!(self.rule.test, Test::Above(_));
        relative && self.alert().is_some_and(|alert| minute.since(alert.opened) >= SETTLED)
    }

    /// Begins anew: what it told of is the new normal.
    pub(crate) fn settle(&mut self, minute: Minute) -> Option<Alert> {
        self.detector = Detector::of(&self.rule);
        self.close(minute, Turn::Settled)
    }
}
