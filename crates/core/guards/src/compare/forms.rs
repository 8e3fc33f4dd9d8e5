//! Words that differ in nothing but their form, where hardly anything else differs: "the author" is not "the authors",
//! and in languages with cases the endings say who bites whom.

use super::{Pair, wording::distance};
use crate::{
    reading::{Reading, Term},
    tokens::Shape,
};

/// Texts that differ in more other words than this are said anew, and forms change with what stands around them.
const ALMOST_EQUAL: usize = 2;

pub(super) fn difference(pair: &Pair<'_>) -> Option<String> {
    let keys = |reading| forms(reading).map(|term| term.key.as_str()).collect::<Vec<_>>();
    let (a, b) = (keys(pair.a), keys(pair.b));
    let only = |keys: &[&str], other: &[&str]| keys.iter().any(|key| !other.contains(key));
    let differ = a.len() == b.len() && (only(&a, &b) || only(&b, &a));
    let almost_equal = || distance(&others(pair.a), &others(pair.b)) <= ALMOST_EQUAL;
    (differ && almost_equal()).then(|| format!("other forms: {}", super::shown(a, b)))
}

/// Words that are compared by their stems.
fn forms(reading: &Reading) -> impl Iterator<Item = &Term> {
    reading.content().filter(|term| !term.listed)
}

/// All other words, but for politeness.
fn others(reading: &Reading) -> Vec<&str> {
    let is_form = |at: usize| forms(reading).any(|term| term.from == at);
    let tokens = reading.tokens.iter().zip(&reading.polite).enumerate();
    tokens
        .filter(|(at, (token, polite))| token.shape != Shape::Mark && !**polite && !is_form(*at))
        .map(|(_, (token, _))| token.text.as_str())
        .collect()
}
