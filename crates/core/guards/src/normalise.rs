//! A text without what only typesetting adds to it. Everything else stays: symbols, digits, case, lines, politeness.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// The text with one form for each of these, and with nothing else changed:
///
/// - letters and their accents, composed (NFC);
/// - ’ ‘ and “ ” „ beside a letter or a digit, as ' and "; a hyphen that does not break, and a dash between two digits,
///   as -;
/// - spaces that do not break, as spaces; those in a row as one, but for indentation and in texts that quote or
///   introduce something; none at the ends.
///
/// What may be code stays as it is.
pub fn normalise(text: &str) -> Cow<'_, str> {
    if may_be_code(text) {
        return Cow::Borrowed(text);
    }
    let plain = plain(&text.nfc().collect::<Vec<_>>());
    let is_one_line = !plain.contains('\n');
    let ended = plain.trim_end_matches(' ');
    let framed = if is_one_line { ended.trim_start_matches(' ') } else { ended };
    // Whoever quotes or introduces something may mean its spaces.
    let may_mean_spaces =
        framed.contains(['"', '«', '»', '「', '『', ':', '：']) || has_single_quotes(framed);
    if may_mean_spaces { framed.to_owned().into() } else { single_spaced(framed).into() }
}

/// Whether spaces, quotes or dashes may be part of what is meant: signs that prose has no use for, indentation, or an
/// option as in `-c`.
fn may_be_code(text: &str) -> bool {
    let is_sign = |letter: char| {
        letter.is_control() && letter != '\n'
            || letter.is_ascii_punctuation() && !".,;:!?'\"()-".contains(letter)
    };
    let is_indented = text.lines().skip(1).any(|line| line.starts_with(char::is_whitespace));
    let is_option = |word: &str| word.starts_with('-');
    text.contains(is_sign) || is_indented || text.split_whitespace().any(is_option)
}

/// Typographic marks and spaces as plain ones.
fn plain(letters: &[char]) -> String {
    let beside = |at: Option<usize>, is: fn(char) -> bool| {
        at.and_then(|at| letters.get(at)).is_some_and(|letter| is(*letter))
    };
    letters
        .iter()
        .enumerate()
        .map(|(at, letter)| {
            let (before, after) = (at.checked_sub(1), Some(at + 1));
            let touches = beside(before, char::is_alphanumeric) || beside(after, char::is_alphanumeric);
            let between = |is| beside(before, is) && beside(after, is);
            match letter {
                '\u{a0}' | '\u{202f}' => ' ',
                '‘' | '’' if touches => '\'',
                '“' | '”' | '„' if touches => '"',
                '\u{2010}' | '\u{2011}' if between(char::is_alphanumeric) => '-',
                '–' if between(|letter| letter.is_ascii_digit()) => '-',
                letter => *letter,
            }
        })
        .collect()
}

/// Whether an apostrophe opens a word, as a quote does.
fn has_single_quotes(text: &str) -> bool {
    text.split([' ', '\n', '(']).any(|word| word.starts_with(['\'', '‘']))
}

fn single_spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter != ' ' || !spaced.ends_with(' ') {
            spaced.push(letter);
        }
    }
    spaced
}
