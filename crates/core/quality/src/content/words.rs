//! A list of words as one pattern for folded texts.

use super::fold::{BOUNDARY, Folded, continues};
use std::ops::Range;

/// Most bytes of a word or phrase.
const LONGEST: usize = 200;

/// Matches any of the words in a [`Folded`] text, between word boundaries. Where several begin at one place the longest
/// counts; space within a phrase stands for any space.
pub(super) fn pattern(words: &[String]) -> Result<String, String> {
    let mut folded = Vec::with_capacity(words.len());
    for word in words {
        if word.trim().len() > LONGEST {
            return Err(format!("has a word of {} bytes; a word has at most {LONGEST}", word.trim().len()));
        }
        // A boundary before it is there in any case.
        let text = Folded::of(word).text;
        folded.push(text.trim().trim_start_matches(BOUNDARY).to_owned());
    }
    if folded.iter().any(String::is_empty) {
        return Err("has an empty word".to_owned());
    }
    folded.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let alternatives = folded.iter().map(|word| alternative(word)).collect::<Vec<_>>().join("|");
    Ok(format!(r"\b{{start-half}}(?:{alternatives})"))
}

/// A word that ends in a script without spaces ends with a boundary of its own.
fn alternative(word: &str) -> String {
    let phrase = word.split_whitespace().map(regex_syntax::escape).collect::<Vec<_>>().join(r"\s{1,8}");
    if word.ends_with(BOUNDARY) { phrase } else { format!(r"{phrase}\b{{end-half}}") }
}

/// Leaves out what ends within a character.
pub(super) fn accept(folded: &str, candidate: Range<usize>) -> Option<usize> {
    let after = folded.get(candidate.end..)?.trim_start_matches(BOUNDARY).chars().next();
    let ends = !folded.get(candidate.clone())?.ends_with(BOUNDARY) || !after.is_some_and(continues);
    ends.then_some(candidate.end)
}
