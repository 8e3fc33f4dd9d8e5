//! The words of a text one by one, grammar included.

use crate::{lexicon::Kind, reading::Reading, tokens::Shape};

/// The words of a text but for politeness. Those of a date are sorted: it is the same in any order.
pub(super) fn words(reading: &Reading) -> Vec<&str> {
    indexed(reading).into_iter().map(|(_, word)| word).collect()
}

/// The same, each with the token that stands there.
pub(super) fn indexed(reading: &Reading) -> Vec<(usize, &str)> {
    let tokens = reading.tokens.iter().zip(&reading.polite).enumerate();
    let mut words: Vec<(usize, &str)> = tokens
        .filter(|(_, (token, polite))| token.shape != Shape::Mark && !**polite)
        .map(|(at, (token, _))| (at, token.text.as_str()))
        .collect();
    for date in reading.terms.iter().filter(|term| term.kind == Kind::Date) {
        let (from, until) = (
            words.partition_point(|(at, _)| *at < date.from),
            words.partition_point(|(at, _)| *at < date.until),
        );
        if let Some(words) = words.get_mut(from..until) {
            words.sort_unstable_by_key(|(_, word)| *word);
        }
    }
    words
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
