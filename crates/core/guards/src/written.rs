//! A text as it is written: the letters and symbols that reading it by words passes over.

mod spelling;
mod symbols;

pub(crate) use spelling::Spelling;
pub(crate) use symbols::Symbol;

use crate::{lexicon::Lexicon, tokens::is_han};
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfc_quick};

/// Every word, digits by themselves, and every symbol, in their order.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) words: Vec<Spelling>,
    pub(crate) symbols: Vec<Symbol>,
}

impl Written {
    pub(crate) fn of(text: &str, lexicon: &Lexicon) -> Self {
        let letters: Vec<char> =
            composed(text).chars().filter(|letter| !is_unseen(*letter)).map(narrow).collect();
        let words = spelling::words(&letters);
        let symbols = symbols::symbols(&letters, &words, lexicon);
        Self { words, symbols }
    }
}

/// Letters and their accents as one, and nothing else: what only looks alike stays apart.
fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.into(),
        _ => text.nfc().collect::<String>().into(),
    }
}

/// Soft hyphens, marks of width nothing, and how an emoji is to be drawn.
const fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe0e}' | '\u{fe0f}'
    )
}

/// Full-width letters as others, and one minus for all.
fn narrow(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        '−' | '\u{2010}' | '\u{2011}' => '-',
        '’' | '‘' | 'ʼ' => '\'',
        letter => letter,
    }
}

/// What words are made of. Digits that are more than a digit, as in ² and ½, are symbols.
fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
        || !letter.is_ascii()
            && (letter.is_alphabetic() && !letter.is_numeric() || is_combining_mark(letter) || is_han(letter))
}
