//! Looking at the texts of one place.

use super::{
    Action, Compiled, Place, json,
    stream::{Span, pass_on},
    tally::Tally,
};
use std::sync::Arc;

/// What a rule found in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule.
    pub rule: Arc<str>,
    /// What was done.
    pub action: Action,
    /// Where it was.
    pub place: Place,
    /// How often.
    pub count: u32,
}

/// What the rules of a policy have found in the texts of one place so far.
#[derive(Debug, Clone)]
pub struct Inspection {
    pub(super) policy: Arc<Compiled>,
    place: Place,
    /// Matches by rule.
    counts: Vec<u32>,
    /// The rule that kept a text back for too long.
    undecided: Option<usize>,
}

impl Inspection {
    pub(super) fn new(policy: Arc<Compiled>, place: Place) -> Self {
        let counts = vec![0; policy.rules.len()];
        Self { policy, place, counts, undecided: None }
    }

    /// Looks at a text. Gives it anew where something in it had to be redacted.
    pub fn text(&mut self, text: &str) -> Option<String> {
        let mut spans = self.look(text);
        if spans.is_empty() {
            return None;
        }
        spans.sort();
        let mut redacted = String::with_capacity(text.len());
        pass_on(text, 0, text.len(), &spans, &self.policy, &mut redacted);
        Some(redacted)
    }

    /// Counts what is found in a text, and gives what is to be redacted.
    fn look(&mut self, text: &str) -> Vec<Span> {
        let (policy, mut spans, mut tally) = (self.policy.clone(), Vec::new(), Tally::default());
        for (index, detector) in policy.detectors.iter().enumerate() {
            if !self.looks_with(detector.rule) {
                continue;
            }
            detector.advance(text, &mut 0, true, |found| {
                if detector.action == Action::Redact {
                    spans.push(Span { start: found.start, end: found.end, detector: index });
                }
                tally.add(detector.rule, found);
            });
        }
        tally.settle(|_| usize::MAX, |rule| self.count(rule));
        spans
    }

    /// Looks at a text that may be a JSON object or array, and keeps it valid: only its strings, numbers and names of
    /// members are redacted, each for itself, and names stay different.
    pub fn json(&mut self, text: &str) -> Option<String> {
        if !json::is_container(text) {
            return self.text(text);
        }
        let mut names = json::Names::of(text);
        json::rewrite(text, |scalar, is_name| {
            let redacted = self.text(scalar)?;
            Some(if is_name { names.unique(scalar, redacted) } else { redacted })
        })
    }

    /// The rule that refuses what was seen; the first as they are listed.
    pub fn blocked_by(&self) -> Option<&Arc<str>> {
        let rules = self.policy.rules.iter().zip(&self.counts);
        let blocked = rules.filter(|(rule, count)| rule.action == Action::Block && **count > 0);
        blocked.map(|(rule, _)| &rule.name).next()
    }

    /// The rule that could not be decided within [`MOST_HELD`](super::MOST_HELD) bytes of a stream.
    pub fn undecided_by(&self) -> Option<&Arc<str>> {
        self.policy.rules.get(self.undecided?).map(|rule| &rule.name)
    }

    /// The first rule as they are listed that redacted something.
    pub fn redacted_by(&self) -> Option<&Arc<str>> {
        let rules = self.policy.rules.iter().zip(&self.counts);
        let redacted = rules.filter(|(rule, count)| rule.action == Action::Redact && **count > 0);
        redacted.map(|(rule, _)| &rule.name).next()
    }

    /// How often something was redacted.
    pub fn redactions(&self) -> u32 {
        let rules = self.policy.rules.iter().zip(&self.counts);
        rules.filter(|(rule, _)| rule.action == Action::Redact).map(|(_, count)| count).sum()
    }

    /// Whether nothing more may be passed on.
    pub fn is_over(&self) -> bool {
        self.undecided.is_some() || self.blocked_by().is_some()
    }

    /// What was found, by rule.
    pub fn findings(&self) -> impl Iterator<Item = Finding> + '_ {
        let rules = self.policy.rules.iter().zip(&self.counts).filter(|(_, count)| **count > 0);
        rules.map(|(rule, count)| Finding {
            rule: rule.name.clone(),
            action: rule.action,
            place: self.place,
            count: *count,
        })
    }

    pub(super) fn looks_with(&self, rule: usize) -> bool {
        self.policy.rules.get(rule).is_some_and(|rule| rule.places.contains(&self.place))
    }

    pub(super) fn holds(&self) -> bool {
        self.policy.holds(self.place)
    }

    pub(super) fn count(&mut self, rule: usize) {
        if let Some(count) = self.counts.get_mut(rule) {
            *count = count.saturating_add(1);
        }
    }

    pub(super) fn give_up(&mut self, rule: usize) {
        self.undecided.get_or_insert(rule);
    }
}
