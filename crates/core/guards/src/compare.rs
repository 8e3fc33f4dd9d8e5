//! Two readings side by side.

mod case;
mod forms;
mod order;
mod pauses;
mod quotes;
mod symbols;
mod turns;
mod wording;
mod words;

use crate::{
    lexicon::{Kind, Lexicon},
    reading::{Reading, Term},
    refusal::{Guard, Refusal},
    written::Written,
};
use std::cell::OnceCell;
use words::Matching;

/// Two texts in one language.
pub(crate) struct Pair<'a> {
    a: &'a Reading,
    b: &'a Reading,
    lexicon: &'a Lexicon,
    texts: [&'a str; 2],
    /// The texts letter by letter, which few pairs come to.
    written: OnceCell<[Written; 2]>,
}

impl<'a> Pair<'a> {
    pub(crate) const fn new(
        (text_a, a): (&'a str, &'a Reading),
        (text_b, b): (&'a str, &'a Reading),
        lexicon: &'a Lexicon,
    ) -> Self {
        Self { a, b, lexicon, texts: [text_a, text_b], written: OnceCell::new() }
    }

    /// What the guards refuse, in their order, looked for only as far as it is asked for.
    pub(crate) fn refusals(self) -> impl Iterator<Item = Refusal> {
        Guard::ALL
            .into_iter()
            .filter_map(move |guard| self.difference(guard).map(|detail| Refusal { guard, detail }))
    }

    fn difference(&self, guard: Guard) -> Option<String> {
        match guard {
            Guard::Language => {
                let foreign = !self.a.in_script || !self.b.in_script;
                foreign.then(|| "the text is not in the script of its language".to_owned())
            }
            Guard::Number => self.sequence(Kind::Number),
            Guard::Comparator => self.sequence(Kind::Comparator),
            Guard::Date => self.sequence(Kind::Date),
            Guard::LanguageName => self.sequence(Kind::Language),
            Guard::Code => self.sequence(Kind::Code),
            Guard::Tone => self.set(Kind::Tone),
            Guard::Question => self.set(Kind::Question),
            Guard::Scope => self.set(Kind::Scope),
            Guard::Negation => self.negation(),
            Guard::Quote => quotes::difference(self.a, self.b),
            Guard::NamedEntity => self.words().names(),
            Guard::Content => self.words().others(),
            Guard::Turn => turns::difference(self.a, self.b, self.lexicon),
            Guard::Form => forms::difference(self),
            Guard::Symbol => symbols::difference(self.written()),
            Guard::Case => case::difference(self.written(), self.lexicon),
            Guard::Pause => pauses::difference(self.a, self.b),
            Guard::Order => order::difference(self),
        }
    }

    fn written(&self) -> &[Written; 2] {
        self.written.get_or_init(|| self.texts.map(|text| Written::of(text, self.lexicon)))
    }

    const fn words(&self) -> Matching<'_> {
        Matching { a: self.a, b: self.b, lexicon: self.lexicon }
    }

    /// All of one kind, in order, as often.
    fn sequence(&self, kind: Kind) -> Option<String> {
        let (a, b) = (self.a.keys(kind), self.b.keys(kind));
        (!a.eq(b)).then(|| shown(self.a.keys(kind).collect(), self.b.keys(kind).collect()))
    }

    /// All of one kind, in whatever order and as often as it pleases.
    fn set(&self, kind: Kind) -> Option<String> {
        let keys = |reading: &'a Reading| {
            let mut keys: Vec<&str> = reading.keys(kind).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        let (a, b) = (keys(self.a), keys(self.b));
        (a != b).then(|| shown(a, b))
    }

    /// As many negations, of the same things.
    fn negation(&self) -> Option<String> {
        let negated = |reading: &'a Reading| -> Vec<&'a str> {
            let at = reading.terms.iter().enumerate().filter(|(_, term)| term.kind == Kind::Negation);
            at.map(|(at, _)| target(&reading.terms, at).map_or("", |term| term.key.as_str())).collect()
        };
        let (a, b) = (negated(self.a), negated(self.b));
        if a.len() == b.len() {
            let mut left = b.clone();
            let all = a.iter().all(|a| {
                let found = left.iter().position(|b| self.lexicon.words.same(a, b));
                found.map(|at| left.swap_remove(at)).is_some()
            });
            if all {
                return self.prefixed_negation();
            }
        }
        Some(format!("negated: {}", shown(a, b)))
    }

    /// A word against itself with a prefix that turns it round, as in "safe" and "unsafe".
    fn prefixed_negation(&self) -> Option<String> {
        let only = |from: &'a Reading, other: &'a Reading| {
            from.content().filter(move |term| !other.content().any(|other| other.key == term.key))
        };
        only(self.a, self.b).find_map(|a| {
            only(self.b, self.a)
                .find(|b| turns_round(&a.key, &b.key) || turns_round(&b.key, &a.key))
                .map(|b| format!("`{}` against `{}`", a.key, b.key))
        })
    }
}

/// Prefixes that turn a word's meaning round, in all languages: none makes a word of another language mean the same.
const REVERSALS: [&str; 24] = [
    "un",
    "in",
    "im",
    "il",
    "ir",
    "dis",
    "de",
    "non",
    "mis",
    "anti",
    "counter",
    "s",
    "dis",
    "contro",
    "nie",
    "bez",
    "od",
    "anty",
    "не",
    "без",
    "від",
    "роз",
    "анти",
    "контр",
];

fn turns_round(word: &str, longer: &str) -> bool {
    longer.len() > word.len() && longer.strip_suffix(word).is_some_and(|prefix| REVERSALS.contains(&prefix))
}

/// What a term in front is about: the next one that carries meaning, or the last before it.
fn target(terms: &[Term], at: usize) -> Option<&Term> {
    let means = |term: &&Term| !matches!(term.kind, Kind::Relation | Kind::Negation | Kind::Question);
    let (before, after) = terms.split_at_checked(at)?;
    after.iter().skip(1).find(means).or_else(|| before.iter().rev().find(means))
}

fn shown(a: Vec<&str>, b: Vec<&str>) -> String {
    let side = |keys: Vec<&str>| {
        if keys.is_empty() { "nothing".to_owned() } else { format!("`{}`", keys.join("`, `")) }
    };
    format!("{} against {}", side(a), side(b))
}
