//! One pattern of a rule, and the search for it in a text that may still be growing.

use super::{Action, Pii, Rule, What, fold::Folded, growing::growing, words};
use regex_automata::{Input, meta::Regex};
use regex_syntax::{Parser, hir::Hir};
use std::{ops::Range, sync::Arc};

/// Longest pattern, in bytes.
const LONGEST_PATTERN: usize = 2_000;
/// Largest automaton of a pattern, in bytes. Word lists have some thousands of words in it.
const LARGEST: usize = 8 << 20;

/// How much of a candidate is really meant, by its end; `None` where nothing is. Sees the text around it.
pub(super) type Accept = fn(&str, Range<usize>) -> Option<usize>;

#[derive(Debug)]
pub(super) struct Detector {
    /// Index of its rule.
    pub(super) rule: usize,
    pub(super) action: Action,
    pub(super) placeholder: Arc<str>,
    whole: Regex,
    /// Finds where a match begins that may go on beyond the text's end.
    growing: Regex,
    accept: Accept,
    /// Whether it looks at the folded text.
    folds: bool,
}

impl Detector {
    /// The detectors of a rule; the error says what is wrong with it.
    pub(super) fn all_of(index: usize, rule: &Rule) -> Result<Vec<Self>, String> {
        let made = |pattern: &str, accept: Accept, placeholder: &str| {
            let placeholder = rule.placeholder.as_deref().unwrap_or(placeholder);
            Self::new(index, rule.action, &parse(pattern)?, accept, placeholder)
        };
        let all = |_: &str, candidate: Range<usize>| Some(candidate.end);
        match &rule.what {
            What::Regex(pattern) => Ok(vec![made(checked(pattern)?, all, "[REDACTED]")?]),
            What::Words(words) => {
                let words = made(&words::pattern(words)?, words::accept, "[REDACTED]")?;
                Ok(vec![Self { folds: true, ..words }])
            }
            What::Pii(kinds) => {
                let of_kind = |kind: &Pii| made(kind.pattern(), kind.accept(), kind.placeholder());
                kinds.iter().map(of_kind).collect()
            }
        }
    }

    fn new(
        rule: usize,
        action: Action,
        hir: &Hir,
        accept: Accept,
        placeholder: &str,
    ) -> Result<Self, String> {
        if hir.properties().minimum_len().is_none_or(|least| least == 0) {
            return Err("matches the empty text, which is everywhere".to_owned());
        }
        Ok(Self {
            rule,
            action,
            placeholder: placeholder.into(),
            whole: compile(hir)?,
            growing: compile(&growing(hir))?,
            accept,
            folds: false,
        })
    }

    /// Tells every match of `text` from `at` on that more text cannot change, and moves `at` to where the search is to
    /// go on: matches begin there at the earliest. `ended`: no more text comes.
    pub(super) fn advance(
        &self,
        text: &str,
        at: &mut usize,
        ended: bool,
        mut found: impl FnMut(Range<usize>),
    ) {
        if !self.folds {
            return self.search(text, at, ended, |range| {
                let end = range.end;
                found(range);
                end
            });
        }
        // One character before is looked at: it tells whether a word begins.
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let from = *at - before.map_or(0, char::len_utf8);
        let folded = Folded::of(text.get(from..).unwrap_or_default());
        let mut within = folded.position(*at - from);
        self.search(&folded.text, &mut within, ended, |range| {
            let origin = folded.origin(&range);
            found(from + origin.start..from + origin.end);
            folded.after_character(range.end)
        });
        *at = if ended { text.len() } else { (from + folded.settled(within)).max(*at) };
    }

    /// The same for the text that the patterns look at; `found` gives where the search goes on.
    fn search(&self, text: &str, at: &mut usize, ended: bool, mut found: impl FnMut(Range<usize>) -> usize) {
        let undecided_from = |at| if ended { text.len() } else { first(&self.growing, text, at).start };
        let mut undecided = undecided_from(*at);
        while let Some(candidate) = self.whole.search(&Input::new(text).span(*at..text.len())) {
            if candidate.start() >= undecided && !ended {
                break;
            }
            *at = match (self.accept)(text, candidate.range()) {
                Some(end) => found(candidate.start()..end),
                None => text.ceil_char_boundary(candidate.start() + 1),
            };
            if *at > undecided {
                undecided = undecided_from(*at);
            }
        }
        *at = undecided.max(*at);
    }
}

/// The first match, which at the text's end is the empty one at the latest.
fn first(growing: &Regex, text: &str, at: usize) -> Range<usize> {
    let found = growing.search(&Input::new(text).span(at..text.len()));
    found.map_or(text.len()..text.len(), |found| found.range())
}

fn checked(pattern: &str) -> Result<&str, String> {
    match pattern.len() {
        length if length > LONGEST_PATTERN => {
            Err(format!("is {length} bytes long; a pattern has at most {LONGEST_PATTERN}"))
        }
        _ => Ok(pattern),
    }
}

/// Reads a pattern. The error says where in it something is wrong.
pub(super) fn parse(pattern: &str) -> Result<Hir, String> {
    Parser::new().parse(pattern).map_err(|error| match &error {
        regex_syntax::Error::Parse(error) => told(error.kind(), error.span()),
        regex_syntax::Error::Translate(error) => told(error.kind(), error.span()),
        error => error.to_string(),
    })
}

fn told(what: impl std::fmt::Display, at: &regex_syntax::ast::Span) -> String {
    let (line, column) = (at.start.line, at.start.column);
    let line = if line > 1 { format!("line {line}, ") } else { String::new() };
    format!("is not a regular expression: {what}, at {line}character {column}")
}

fn compile(hir: &Hir) -> Result<Regex, String> {
    let limits = Regex::config().nfa_size_limit(Some(LARGEST)).onepass_size_limit(Some(LARGEST));
    let built = Regex::builder().configure(limits).build_from_hir(hir);
    built.map_err(|error| match error.size_limit() {
        Some(_) => "is too large; repeat less, or make several rules of it".to_owned(),
        None => format!("cannot be used: {error}"),
    })
}
