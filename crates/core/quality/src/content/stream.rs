//! A text as it arrives: passed on as soon as nothing more can change what the rules say of it.

use super::{Action, Compiled, Inspection, tally::Tally};
use std::sync::Arc;

/// Most bytes of a text that are held back while one match may be growing. Personal data are never that long, nor are
/// words without thousands of characters that do not show, and a match of a regular expression seldom. A flagged one
/// that is longer counts as found; one that would have to be redacted or refused ends the text: see
/// [`Inspection::undecided_by`].
pub const MOST_HELD: usize = 8 * 1024;

/// Up to here every piece is looked at as it comes; more than that is looked at again once it has grown by an eighth,
/// which keeps the work linear.
const HELD_AT_EASE: usize = 256;

/// One text of a streamed answer. What it gives out, put together, is what [`Inspection::text`] makes of the whole,
/// wherever the text was cut; only matches longer than [`MOST_HELD`] are treated differently.
#[derive(Debug)]
pub struct TextStream {
    /// What is still needed of the text, with one character before that for the patterns to look back at.
    buffer: String,
    /// How much of it is passed on or redacted already.
    passed: usize,
    /// Where each detector goes on; see [`Detector::advance`](super::detector::Detector::advance).
    at: Vec<usize>,
    /// What is to be redacted beyond that, in order.
    spans: Vec<Span>,
    tally: Tally,
    /// Whether some rule may change or refuse the text; if none does it is passed on as it comes.
    holds: bool,
    /// Bytes still needed at the last look, and come since.
    held: usize,
    unseen: usize,
}

/// A stretch to redact. Sorted by its start, then by the order of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) detector: usize,
    pub(super) end: usize,
}

impl TextStream {
    /// A text of the place that `inspection` looks at.
    pub fn new(inspection: &Inspection) -> Self {
        Self {
            buffer: String::new(),
            passed: 0,
            at: vec![0; inspection.policy.detectors.len()],
            spans: Vec::new(),
            tally: Tally::default(),
            holds: inspection.holds(),
            held: 0,
            unseen: 0,
        }
    }

    /// Takes more of the text, and gives what may be passed on of it. Nothing may once `inspection` is over.
    pub fn push(&mut self, more: &str, inspection: &mut Inspection) -> String {
        if inspection.is_over() {
            return String::new();
        }
        self.buffer.push_str(more);
        self.unseen += more.len();
        if self.held <= HELD_AT_EASE || self.unseen >= self.held / 8 {
            return self.look(false, inspection);
        }
        if self.holds {
            return String::new();
        }
        self.passed = self.buffer.len();
        more.to_owned()
    }

    /// The text has ended: gives the rest, and is ready for another.
    pub fn finish(&mut self, inspection: &mut Inspection) -> String {
        let rest = self.look(true, inspection);
        *self = Self::new(inspection);
        rest
    }

    fn look(&mut self, ended: bool, inspection: &mut Inspection) -> String {
        let policy = inspection.policy.clone();
        let mut decided = self.buffer.len();
        for (index, (detector, at)) in policy.detectors.iter().zip(&mut self.at).enumerate() {
            if !inspection.looks_with(detector.rule) {
                *at = self.buffer.len();
                continue;
            }
            detector.advance(&self.buffer, at, ended, |found| {
                if detector.action == Action::Redact {
                    self.spans.push(Span { start: found.start, end: found.end, detector: index });
                }
                self.tally.add(detector.rule, found);
            });
            let too_long = self.buffer.len().saturating_sub(*at) > MOST_HELD;
            match detector.action {
                Action::Flag if too_long => {
                    inspection.count(detector.rule);
                    *at = self.buffer.len();
                }
                Action::Flag => {}
                Action::Redact | Action::Block if too_long => inspection.give_up(detector.rule),
                Action::Redact | Action::Block => decided = decided.min(*at),
            }
        }
        self.count(&policy, ended, inspection);
        if inspection.is_over() {
            return String::new();
        }
        self.pass_on(decided, &policy)
    }

    /// Counts what nothing that is still to be found can overlap; what is to be refused at once.
    fn count(&mut self, policy: &Compiled, ended: bool, inspection: &mut Inspection) {
        let at = &self.at;
        let decided = |rule: usize| {
            let of_rule = policy.detectors.iter().zip(at).filter(|(detector, _)| detector.rule == rule);
            let waits = of_rule.filter(|(detector, _)| !ended && detector.action != Action::Block);
            waits.map(|(_, at)| *at).min().unwrap_or(usize::MAX)
        };
        self.tally.settle(decided, |rule| inspection.count(rule));
    }

    fn pass_on(&mut self, decided: usize, policy: &Arc<Compiled>) -> String {
        self.spans.sort();
        let ready = self.spans.partition_point(|span| span.start < decided);
        let mut passed_on = String::new();
        let spans = self.spans.get(..ready).unwrap_or_default();
        self.passed = pass_on(&self.buffer, self.passed, decided, spans, policy, &mut passed_on);
        self.spans.drain(..ready);
        self.forget();
        passed_on
    }

    /// Lets go of what no detector looks at any more.
    fn forget(&mut self) {
        let needed = self.at.iter().copied().chain(self.spans.iter().map(|span| span.start));
        let needed = needed.min().unwrap_or(self.buffer.len()).min(self.passed);
        self.held = self.buffer.len() - needed;
        self.unseen = 0;
        let before = self.buffer.get(..needed).and_then(|before| before.chars().next_back());
        let gone = needed - before.map_or(0, char::len_utf8);
        if gone == 0 {
            return;
        }
        self.buffer.drain(..gone);
        self.passed -= gone;
        self.at.iter_mut().for_each(|at| *at -= gone);
        self.tally.forget(gone);
        for span in &mut self.spans {
            span.start -= gone;
            span.end -= gone;
        }
    }
}

/// Adds `text` from `from` to `to` to `out` with placeholders in the place of `spans`, and gives how far that got.
/// Spans that overlap are one, with the placeholder of the first.
pub(super) fn pass_on(
    text: &str,
    from: usize,
    to: usize,
    spans: &[Span],
    policy: &Compiled,
    out: &mut String,
) -> usize {
    let mut passed = from;
    for span in spans {
        if span.start >= passed {
            out.push_str(text.get(passed..span.start).unwrap_or_default());
            let placeholder = policy.detectors.get(span.detector).map(|detector| &*detector.placeholder);
            out.push_str(placeholder.unwrap_or_default());
        }
        passed = passed.max(span.end);
    }
    out.push_str(text.get(passed..to).unwrap_or_default());
    passed.max(to)
}
