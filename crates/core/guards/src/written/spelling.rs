//! Words letter by letter.

use super::is_letter;
use crate::tokens::is_han;
use unicode_normalization::{IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfkd_quick};

/// A word, or a number's digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spelling {
    /// In small letters without accents, raised letters and ligatures as others.
    pub(crate) bare: String,
    /// As it is written; in small letters where only the place asks for the capital it has.
    pub(crate) written: String,
    /// It begins a sentence.
    pub(crate) opens: bool,
    /// It does so with a capital, which therefore says little.
    pub(crate) initial: bool,
    /// Where it stands in the text, in letters.
    pub(crate) from: usize,
    pub(super) until: usize,
}

/// Letters and digits apart, so that the unit of "5mW" is that of "5 mW"; of Han, each by itself.
pub(super) fn words(letters: &[char]) -> Vec<Spelling> {
    let (mut words, mut from, mut opens) = (Vec::with_capacity(letters.len() / 4), 0, true);
    while let Some(letter) = letters.get(from).copied() {
        if !is_letter(letter) {
            opens |= matches!(letter, '.' | '!' | '?' | '\n' | '…' | '。');
            from += 1;
            continue;
        }
        let rest = letters.get(from + 1..).unwrap_or_default();
        let more = rest.iter().take_while(|next| !is_han(letter) && is_same_run(letter, **next)).count();
        let until = from + 1 + more;
        words.push(spelling(letters.get(from..until).unwrap_or_default(), from, opens));
        (from, opens) = (until, false);
    }
    words
}

fn is_same_run(first: char, next: char) -> bool {
    is_letter(next) && !is_han(next) && first.is_ascii_digit() == next.is_ascii_digit()
}

fn spelling(letters: &[char], from: usize, opens: bool) -> Spelling {
    let written: String = letters.iter().collect();
    let small = written.to_lowercase();
    let bare = match is_nfkd_quick(small.chars()) {
        IsNormalized::Yes => small.clone(),
        _ => small.nfkd().filter(|letter| !is_combining_mark(*letter)).collect(),
    };
    let (first, rest) = letters.split_first().map_or((' ', letters), |(first, rest)| (*first, rest));
    let initial = opens && first.is_uppercase() && !rest.iter().any(|letter| letter.is_uppercase());
    // The pronoun is a capital wherever it stands, and many do not care.
    let written = if initial || written == "I" { small } else { written };
    Spelling { bare, written, opens, initial, from, until: from + letters.len() }
}
