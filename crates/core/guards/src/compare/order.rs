//! The same words in other places: "Word to PDF" is not "PDF to Word".

use super::{
    Pair, target,
    wording::{distance, indexed, words},
};
use crate::{
    lexicon::Kind,
    reading::{Reading, Term},
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

/// Almost the same words in another order, which may be said of other things: "only I like", "I only like".
fn moved(pair: &Pair<'_>) -> Option<String> {
    let (a, b) = (words(pair.a), words(pair.b));
    let lone = distance(&a, &b);
    if lone > ALMOST_EQUAL || is_left_out(&a, &b, lone) {
        return None;
    }
    let moved = match lone {
        0 => !is_clause_in_front(pair.a, &b) && !is_clause_in_front(pair.b, &a),
        _ => has_reach(pair.a) || has_reach(pair.b) || !says_in_order(pair),
    };
    moved.then(|| "the same words in another order".to_owned())
}

/// Whether a word says something of what happens to stand beside it, as "not" and "only" do.
fn has_reach(reading: &Reading) -> bool {
    reading.terms.iter().any(|term| matches!(term.kind, Kind::Negation | Kind::Scope))
}

/// Whether what carries meaning comes in the same order.
fn says_in_order(pair: &Pair<'_>) -> bool {
    let (a, b) = (said(pair.a), said(pair.b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| pair.lexicon.words.same(a, b))
}

fn said(reading: &Reading) -> Vec<&str> {
    let terms = reading.terms.iter().filter(|term| !matches!(term.kind, Kind::Relation | Kind::Question));
    terms.map(|term| term.key.as_str()).collect()
}

/// Whether a text is the other one with its last words in front, before a comma: "On trains, is there a discount?". They
/// must begin with grammar and say nothing of what stands beside them.
fn is_clause_in_front(reading: &Reading, other: &[&str]) -> bool {
    let indexed = indexed(reading);
    let words: Vec<&str> = indexed.iter().map(|(_, word)| *word).collect();
    let is_comma = |at: usize| reading.tokens.get(at).is_some_and(|token| token.text == ",");
    let term_at = |at: usize| reading.terms.iter().find(|term| (term.from..term.until).contains(&at));
    let is_grammar = |at: usize| term_at(at).is_none_or(|term| term.kind == Kind::Relation);
    let ends =
        indexed.iter().enumerate().skip(2).filter(|(_, (at, _))| at.checked_sub(1).is_some_and(is_comma));
    indexed.first().is_some_and(|(first, _)| is_grammar(*first))
        && ends.into_iter().any(|(position, (until, _))| {
            let (front, back) = words.split_at(position);
            let reaches = reading.terms.iter().any(|term| {
                term.from < *until && matches!(term.kind, Kind::Negation | Kind::Scope | Kind::Comparator)
            });
            !reaches && back.iter().chain(front).eq(other)
        })
}

/// Whether the texts differ in words left out, so many at most, and in nothing else.
fn is_left_out(a: &[&str], b: &[&str], most: usize) -> bool {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(same..).unwrap_or_default(), b.get(same..).unwrap_or_default());
    let Some(most) = most.checked_sub(1) else { return a.is_empty() && b.is_empty() };
    let without_first = |one: &[&str], other| one.get(1..).is_some_and(|rest| is_left_out(rest, other, most));
    a.is_empty() && b.is_empty() || without_first(a, b) || without_first(b, a)
}
