//! Signs, operators, brackets, emoji: all that is neither letter nor digit, space or plain punctuation.

use super::{Spelling, is_letter};
use crate::{
    lexicon::{Kind, Lexicon},
    tokens::{is_han, is_quote},
};

/// A symbol, and what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) sign: char,
    /// Which words it touches; where it stands alone, the one before.
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
}

/// The symbols of a text in their order.
pub(super) fn symbols(letters: &[char], words: &[Spelling], lexicon: &Lexicon) -> Vec<Symbol> {
    let is_inch = letters.iter().filter(|letter| **letter == '"').count() % 2 == 1;
    let (mut symbols, mut passed) = (Vec::new(), 0);
    for (at, sign) in letters.iter().copied().enumerate() {
        if is_letter(sign) || sign.is_whitespace() {
            continue;
        }
        while words.get(passed).is_some_and(|word| word.until <= at) {
            passed += 1;
        }
        let place = Place { letters, words, at, passed };
        if place.is_symbol(sign, is_inch) && !place.is_unit(sign, lexicon) {
            symbols.push(place.symbol(sign));
        }
    }
    symbols
}

/// Where a sign stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    letters: &'a [char],
    words: &'a [Spelling],
    at: usize,
    /// How many words are before it.
    passed: usize,
}

impl<'a> Place<'a> {
    fn is_symbol(self, sign: char, is_inch: bool) -> bool {
        let (before, after) = (self.before(), self.after());
        match sign {
            '。' | '、' | '…' | '`' => false,
            ',' | ';' | ':' | '?' => self.is_joint(),
            '-' | '–' => self.is_sign(sign),
            '—' => is_digit(after) && (is_digit(before) || !is_word(before)),
            '.' => !is_word(before) && is_word(after),
            '!' => {
                is_digit(before)
                    || before == Some(')')
                    || is_word(after)
                    || after == Some('=')
                    || self.follows_letter()
            }
            '\'' => !is_word(after) && (is_digit(before) || self.follows_letter()),
            '"' => is_inch,
            sign => !is_quote(sign),
        }
    }

    /// Whether a dash is a minus, a charge or an option; not in "non-members" and "Rome - a guide". A hyphen between
    /// digits makes them a date or a code, which is compared as such.
    fn is_sign(self, sign: char) -> bool {
        let is_space = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
        match (self.before(), self.after()) {
            (before, after) if is_word(before) && is_word(after) => {
                sign == '–' && is_digit(before) && is_digit(after)
            }
            (before, after) if is_space(before) && is_space(after) => {
                let is_prose = |word: Option<&Spelling>| {
                    word.is_some_and(|word| {
                        word.until > word.from + 1
                            && !word.bare.starts_with(|first: char| first.is_ascii_digit())
                    })
                };
                !(is_prose(self.word_before()) && is_prose(self.words.get(self.passed)))
            }
            _ => true,
        }
    }

    /// Whether a mark is part of what it stands at, as in `a:b` and `:x`; digits with one are a number or a time.
    fn is_joint(self) -> bool {
        let (before, after) = (self.before(), self.after());
        let is_number = is_digit(before) && is_digit(after);
        let begins = before.is_none_or(char::is_whitespace);
        is_word(after) && !is_number && (is_word(before) || begins)
    }

    /// "n!" is not "n".
    fn follows_letter(self) -> bool {
        is_word(self.before()) && self.word_before().is_some_and(|word| word.until - word.from == 1)
    }

    /// A unit at a number's side, as in 5 %, is compared with its number.
    fn is_unit(self, sign: char, lexicon: &Lexicon) -> bool {
        let beyond_spaces = |letter: Option<&char>| letter.is_some_and(char::is_ascii_digit);
        let (before, after) = self.letters.split_at(self.at);
        let counts = beyond_spaces(before.iter().rev().find(|letter| !letter.is_whitespace()))
            || beyond_spaces(after.iter().skip(1).find(|letter| !letter.is_whitespace()));
        let mut text = [0; 4];
        counts
            && lexicon
                .find(&[sign.encode_utf8(&mut text)], false)
                .is_some_and(|(_, meaning)| meaning.kind == Kind::Unit)
    }

    fn symbol(self, sign: char) -> Symbol {
        let last = self.passed.checked_sub(1);
        let next = Some(self.passed).filter(|next| *next < self.words.len());
        let (before, after) = match sign {
            '(' | '[' | '{' => (None, next),
            ')' | ']' | '}' => (last, None),
            _ => {
                let touches = |letter: Option<char>| letter.is_some_and(is_letter);
                let after = next.filter(|_| touches(self.after()));
                (last.filter(|_| touches(self.before()) || after.is_none()), after)
            }
        };
        Symbol { sign, before, after }
    }

    fn before(self) -> Option<char> {
        self.at.checked_sub(1).and_then(|at| self.letters.get(at)).copied()
    }

    fn after(self) -> Option<char> {
        self.letters.get(self.at + 1).copied()
    }

    fn word_before(self) -> Option<&'a Spelling> {
        self.passed.checked_sub(1).and_then(|at| self.words.get(at))
    }
}

/// Han is written without spaces, so it touches what it does not belong to.
fn is_word(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| is_letter(letter) && !is_han(letter))
}

fn is_digit(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| letter.is_ascii_digit())
}
