//! A text without the differences of spelling that word lists pass over.
//!
//! Each character is folded by itself, so that the beginning of a text folds to the beginning of what the whole folds
//! to: a text can be searched while it grows.

use std::ops::Range;
use unicode_normalization::char::decompose_compatible;

/// Stands on both sides of each character of a script that is written without spaces: a word may begin and end there.
pub(super) const BOUNDARY: char = '\u{1}';

/// A folded text, and where in the text its parts come from.
#[derive(Debug)]
pub(super) struct Folded<'a> {
    original: &'a str,
    pub(super) text: String,
    /// For each byte of `text`, where the character begins that it is from. Left out where both are the same.
    origins: Option<Vec<usize>>,
}

impl<'a> Folded<'a> {
    pub(super) fn of(original: &'a str) -> Self {
        let mut text = String::with_capacity(original.len());
        if original.is_ascii() {
            original.chars().for_each(|c| fold(c, &mut text));
            return Self { original, text, origins: None };
        }
        let mut origins = Vec::with_capacity(original.len());
        for (at, c) in original.char_indices() {
            fold(c, &mut text);
            origins.resize(text.len(), at);
        }
        Self { original, text, origins: Some(origins) }
    }

    /// Where what comes from a place of the text, or from beyond it, begins.
    pub(super) fn position(&self, original: usize) -> usize {
        match &self.origins {
            Some(origins) => origins.partition_point(|origin| *origin < original),
            None => original,
        }
    }

    /// The characters that a stretch comes from.
    pub(super) fn origin(&self, folded: &Range<usize>) -> Range<usize> {
        self.character(folded.start)..self.end(folded.end)
    }

    /// The end of all that comes from the character before a place.
    pub(super) fn after_character(&self, folded: usize) -> usize {
        self.position(self.end(folded))
    }

    /// The end of the last character of which all comes before a place. Characters that are passed over come after it.
    pub(super) fn settled(&self, folded: usize) -> usize {
        let whole = match self.text.len() {
            length if folded < length => self.position(self.character(folded)),
            length => length,
        };
        self.end(whole)
    }

    fn character(&self, folded: usize) -> usize {
        match &self.origins {
            Some(origins) => origins.get(folded).copied().unwrap_or(self.original.len()),
            None => folded,
        }
    }

    /// The end of the character that what is before a place comes from.
    fn end(&self, folded: usize) -> usize {
        let Some(last) = folded.checked_sub(1) else { return 0 };
        self.original.ceil_char_boundary(self.character(last) + 1)
    }
}

/// Adds what a character folds to: its parts by compatibility (NFKD), in lower case after full upper case; nothing for
/// characters without width.
fn fold(c: char, to: &mut String) {
    match c {
        BOUNDARY => to.push(' '),
        c if c.is_ascii() => to.push(c.to_ascii_lowercase()),
        c if is_passed_over(c) => {}
        c => decompose_compatible(c, |part| match is_without_spaces(part) {
            true => to.extend([BOUNDARY, part, BOUNDARY]),
            false => to.extend(part.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)),
        }),
    }
}

/// Characters that show nothing: soft hyphen, joiners, spaces without width, marks of direction, variation selectors.
fn is_passed_over(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Thai and Lao, Myanmar, Khmer, Hangul (whose particles follow without a space), kana, Bopomofo and Han.
fn is_without_spaces(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{19e0}'..='\u{19ff}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303c}' | '\u{3041}'..='\u{312f}' | '\u{3131}'..='\u{318e}' | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether a character of such a script is the rest of the one before it: a voicing mark, a syllable's vowel or end.
pub(super) fn continues(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}' | '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}')
}
