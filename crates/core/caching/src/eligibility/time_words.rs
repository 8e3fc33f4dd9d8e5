//! Does a text ask for something that is true only for now?

use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// One word or phrase a line; see the file.
const WORDS: &str = include_str!("../../data/time_words.txt");

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(WORDS));

/// Whether a text has a word like "today" and no date that says which day that is. Only a date in digits does, as in
/// `2026-11-30`, `30.11.2026` or `2026年11月30日`: whoever gives one means no other.
pub fn speaks_of_now(text: &str) -> bool {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).collect();
    LEXICON.is_in(&folded) && !has_date(&folded)
}

#[derive(Debug, Default)]
struct Lexicon {
    /// Words of a phrase, in order; sorted. The last may be a beginning.
    phrases: Vec<Phrase>,
    /// Of scripts that are written without spaces.
    substrings: Vec<&'static str>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Phrase {
    words: Vec<&'static str>,
    is_beginning: bool,
}

impl Lexicon {
    fn read(file: &'static str) -> Self {
        let mut lexicon = Self::default();
        let lines = file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let beginning = line.strip_suffix('*');
            let words: Vec<_> = beginning.unwrap_or(line).split(' ').collect();
            if line.chars().any(is_unspaced) {
                lexicon.substrings.push(line);
            } else {
                lexicon.phrases.push(Phrase { words, is_beginning: beginning.is_some() });
            }
        }
        lexicon.phrases.sort_unstable();
        lexicon
    }

    fn is_in(&self, folded: &str) -> bool {
        if self.substrings.iter().any(|word| folded.contains(word)) {
            return true;
        }
        let mut rest = folded;
        while let Some((word, after)) = next_word(rest) {
            if self.begins(word, after) {
                return true;
            }
            rest = after;
        }
        false
    }

    /// Whether a phrase begins with this word and goes on with what follows.
    fn begins(&self, word: &str, after: &str) -> bool {
        let upto = self.phrases.partition_point(|phrase| phrase.words[0] <= word);
        // A phrase's first word is the word, or the word's beginning: both have its first character.
        let first = word.chars().next();
        let candidates = self.phrases[..upto].iter().rev();
        candidates
            .take_while(|phrase| phrase.words[0].chars().next() == first)
            .any(|phrase| phrase.fits(word, after))
    }
}

impl Phrase {
    fn fits(&self, word: &str, mut after: &str) -> bool {
        let mut word = word;
        for (index, expected) in self.words.iter().enumerate() {
            let is_last = index + 1 == self.words.len();
            let fits = word == *expected || (is_last && self.is_beginning && word.starts_with(expected));
            if !fits || is_last {
                return fits;
            }
            let Some((next, rest)) = next_word(after) else { return false };
            (word, after) = (next, rest);
        }
        false
    }
}

/// The next run of letters, digits and apostrophes, and what comes after it.
fn next_word(text: &str) -> Option<(&str, &str)> {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let start = text.find(char::is_alphanumeric)?;
    let text = &text[start..];
    let end = text.find(|c| !is_inner(c)).unwrap_or(text.len());
    Some(text.split_at(end))
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Whether three numbers stand together as year, month and day do.
fn has_date(text: &str) -> bool {
    let mut numbers = text.split(|c: char| !is_of_date(c)).filter(|run| run.len() >= 6);
    numbers.any(|run| {
        let fields: Vec<&str> = run.split(|c: char| !c.is_ascii_digit()).filter(|f| !f.is_empty()).collect();
        fields.windows(3).any(|three| is_date(three[0], three[1], three[2]))
    })
}

fn is_of_date(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '.' | '/' | '年' | '月')
}

fn is_date(first: &str, middle: &str, last: &str) -> bool {
    let is_year = |field: &str| field.len() == 4;
    let is_small = |field: &str| field.len() <= 2 && field.parse().is_ok_and(|n: u8| (1..=31).contains(&n));
    is_small(middle) && ((is_year(first) && is_small(last)) || (is_small(first) && is_year(last)))
}
