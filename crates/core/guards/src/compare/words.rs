//! Names and all other words that carry meaning.

use crate::{
    lexicon::Lexicon,
    reading::{Reading, Term},
};

/// Finds the words of one text in the other.
#[derive(Clone, Copy)]
pub(super) struct Matching<'a> {
    pub(super) a: &'a Reading,
    pub(super) b: &'a Reading,
    pub(super) lexicon: &'a Lexicon,
}

impl<'a> Matching<'a> {
    /// Names that one text has and the other has not, or has elsewhere.
    pub(super) fn names(self) -> Option<String> {
        let lone = self.lone().find(|term| term.name);
        if let Some(term) = lone {
            return Some(format!("only one says `{}`", term.key));
        }
        let (a, b) = (named(self.a, self.b), named(self.b, self.a));
        let same = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.same(a, b));
        (!same).then(|| {
            let keys = |terms: Vec<&'a Term>| terms.iter().map(|term| term.key.as_str()).collect::<Vec<_>>();
            super::shown(keys(a), keys(b))
        })
    }

    /// Other words that only one text has.
    pub(super) fn others(self) -> Option<String> {
        let lone: Vec<&str> = self.lone().filter(|term| !term.name).map(|term| term.key.as_str()).collect();
        if !lone.is_empty() {
            return Some(format!("only one says `{}`", lone.join("`, `")));
        }
        self.characters()
    }

    /// What one text has and the other has not, or not as often.
    fn lone(self) -> impl Iterator<Item = &'a Term> {
        let missing = move |from: &'a Reading, other: &'a Reading| {
            let mut left: Vec<&Term> = other.content().collect();
            from.content().filter(move |term| {
                let found = left.iter().position(|other| self.same(term, other));
                found.map(|at| left.swap_remove(at)).is_none()
            })
        };
        missing(self.a, self.b).chain(missing(self.b, self.a))
    }

    fn same(self, a: &Term, b: &Term) -> bool {
        if a.listed || b.listed {
            return a.listed == b.listed && a.key == b.key;
        }
        if a.name && b.name {
            return self.lexicon.names.same(&a.key, &b.key);
        }
        self.lexicon.words.same(&a.key, &b.key)
    }

    /// Without spaces there are no words: the same characters must be there as often.
    fn characters(self) -> Option<String> {
        let unlisted = |reading: &'a Reading| {
            let mut keys: Vec<&str> = reading
                .content()
                .filter(|term| !term.listed && is_character(&term.key))
                .map(|term| term.key.as_str())
                .collect();
            keys.sort_unstable();
            keys
        };
        let (a, b) = (unlisted(self.a), unlisted(self.b));
        (a != b).then(|| super::shown(a, b))
    }
}

fn is_character(word: &str) -> bool {
    word.chars().all(crate::tokens::is_han)
}

/// Terms that are a name in this text or in the other one, in order.
fn named<'a>(reading: &'a Reading, other: &'a Reading) -> Vec<&'a Term> {
    let is_name = |term: &&Term| {
        !term.listed && (term.name || other.content().any(|other| other.name && other.key == term.key))
    };
    reading.content().filter(is_name).collect()
}
