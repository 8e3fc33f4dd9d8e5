//! The same words in other places: "Word to PDF" is not "PDF to Word".

use super::{Pair, target};
use crate::{
    lexicon::Kind,
    reading::{Reading, Term},
    tokens::Shape,
};

/// Texts that differ in no more words than this say the same words: when those are in another order, that is the
/// difference.
const ALMOST_EQUAL: usize = 2;

pub(super) fn difference(pair: &Pair<'_>) -> Option<String> {
    relations(pair).or_else(|| moved(pair))
}

/// "from", "to", "than" must point at the same things in both texts, where both have them.
fn relations(pair: &Pair<'_>) -> Option<String> {
    let (a, b) = (related(pair.a), related(pair.b));
    a.iter().find_map(|(relation, thing)| {
        let mut others = b.iter().filter(|(other, _)| other == relation).peekable();
        others.peek()?;
        let same = |(_, other): &(&str, &Term)| {
            other.key == thing.key
                || !(other.listed || thing.listed) && pair.lexicon.words.same(&other.key, &thing.key)
        };
        (!others.any(same)).then(|| format!("another follows `{relation}` than `{}`", thing.key))
    })
}

fn related(reading: &Reading) -> Vec<(&str, &Term)> {
    let relations = reading.terms.iter().enumerate().filter(|(_, term)| term.kind == Kind::Relation);
    relations.filter_map(|(at, term)| Some((term.key.as_str(), target(&reading.terms, at)?))).collect()
}

/// Almost the same words, but what they say comes in another order, and not only because a clause was moved to the front.
fn moved(pair: &Pair<'_>) -> Option<String> {
    let (a, b) = (words(pair.a), words(pair.b));
    if a == b || distance(&a, &b) > ALMOST_EQUAL {
        return None;
    }
    let keys = |reading| said(reading).map(|term| term.key.as_str()).collect::<Vec<_>>();
    let (said_a, said_b) = (keys(pair.a), keys(pair.b));
    let same = said_a.len() == said_b.len()
        && said_a.iter().zip(&said_b).all(|(a, b)| pair.lexicon.words.same(a, b));
    if same || clause_moved(pair.a, &a, &b) || clause_moved(pair.b, &b, &a) {
        return None;
    }
    Some("the same words in another order".to_owned())
}

fn said(reading: &Reading) -> impl Iterator<Item = &Term> {
    reading.terms.iter().filter(|term| !matches!(term.kind, Kind::Relation | Kind::Question))
}

/// The words of a text but for politeness.
fn words(reading: &Reading) -> Vec<&str> {
    indexed(reading).map(|(_, word)| word).collect()
}

fn indexed(reading: &Reading) -> impl Iterator<Item = (usize, &str)> {
    let tokens = reading.tokens.iter().zip(&reading.polite).enumerate();
    tokens
        .filter(|(_, (token, polite))| token.shape != Shape::Mark && !**polite)
        .map(|(at, (token, _))| (at, token.text.as_str()))
}

/// How many words one text has and the other has not.
pub(super) fn distance(a: &[&str], b: &[&str]) -> usize {
    let mut left = b.to_vec();
    let lone = a.iter().filter(|word| {
        let found = left.iter().position(|other| other == *word);
        found.map(|at| left.swap_remove(at)).is_none()
    });
    lone.count() + left.len()
}

/// Whether `b` is `a` with what stands behind a mark put in front: "On trains, is there a discount?".
fn clause_moved(reading: &Reading, a: &[&str], b: &[&str]) -> bool {
    let behind_mark = |at: usize| {
        at.checked_sub(1)
            .and_then(|before| reading.tokens.get(before))
            .is_some_and(|token| token.shape == Shape::Mark)
    };
    a.len() == b.len()
        && indexed(reading).enumerate().any(|(position, (at, _))| {
            position > 0 && behind_mark(at) && {
                let (front, back) = a.split_at(position);
                back.iter().chain(front).eq(b.iter())
            }
        })
}
