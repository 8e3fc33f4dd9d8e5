//! Does a text ask for something that is true only for now, or that chance decides?

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};
use unicode_normalization::UnicodeNormalization;

/// One word or phrase a line; see the file.
const WORDS: &str = include_str!("../../data/time_words.txt");

/// Stands for one to three words in a phrase.
const GAP: &str = "…";
const MOST_BETWEEN: usize = 3;
/// Stands for the end of the line, after which no word comes.
const END: &str = ".";

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(WORDS));

/// Whether a line of a text has a word like "today" or "random", and no date that says which day that is. Only a date in
/// digits does, as in `2026-11-30`, `30.11.2026` or `2026年11月30日`: whoever gives one means no other.
pub fn speaks_of_now(text: &str) -> bool {
    folded(text).lines().any(|line| LEXICON.is_in(line) && !has_date(line))
}

/// Lower case, and compatible forms made one. Prompts may be long: what costs time is done where there is a need.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let is_composed = !text.chars().any(|c| matches!(c, '\u{300}'..='\u{36f}' | '\u{fb00}'..));
    let text = if is_composed { Cow::Borrowed(text) } else { Cow::Owned(text.nfkc().collect()) };
    text.to_lowercase()
}

#[derive(Debug, Default)]
struct Lexicon {
    /// Phrases by the first two characters of their first word.
    phrases: HashMap<[char; 2], Vec<Phrase>>,
    /// Words of scripts that are written without spaces, by their first character.
    unspaced: HashMap<char, Vec<&'static str>>,
}

#[derive(Debug)]
struct Phrase {
    words: Vec<&'static str>,
    /// Whether the last word is only the beginning of one.
    is_beginning: bool,
}

impl Lexicon {
    fn read(file: &'static str) -> Self {
        let mut lexicon = Self::default();
        let lines = file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.for_each(|line| lexicon.add(line));
        lexicon
    }

    fn add(&mut self, line: &'static str) {
        if let Some(first) = line.chars().next().filter(|first| is_unspaced(*first)) {
            self.unspaced.entry(first).or_default().push(line);
            return;
        }
        let beginning = line.strip_suffix('*');
        let words: Vec<_> = beginning.unwrap_or(line).split(' ').collect();
        let key = key(words[0]);
        self.phrases.entry(key).or_default().push(Phrase { words, is_beginning: beginning.is_some() });
    }

    fn is_in(&self, folded: &str) -> bool {
        let mut rest = folded;
        while let Some((word, after)) = next_word(rest) {
            // "d'aujourd'hui" and "dell'ultima ora" have one word glued to the next.
            let is_begun = |word: &str| self.begins(word, after);
            if is_begun(word) || word.split_once(['\'', '’']).is_some_and(|(_, rest)| is_begun(rest)) {
                return true;
            }
            rest = after;
        }
        self.is_in_unspaced(folded)
    }

    /// Whether a phrase begins with this word and goes on with what follows.
    fn begins(&self, word: &str, after: &str) -> bool {
        let phrases = self.phrases.get(&key(word));
        phrases.is_some_and(|phrases| phrases.iter().any(|phrase| phrase.fits(word, after)))
    }

    fn is_in_unspaced(&self, folded: &str) -> bool {
        let mut starts = folded.char_indices().filter(|(_, c)| is_unspaced(*c));
        starts.any(|(at, first)| {
            let words = self.unspaced.get(&first);
            words.is_some_and(|words| words.iter().any(|word| folded[at..].starts_with(word)))
        })
    }
}

/// By what a phrase is found: the first two characters of its first word, if it has two.
fn key(word: &str) -> [char; 2] {
    let mut characters = word.chars();
    [(); 2].map(|()| characters.next().unwrap_or_default())
}

impl Phrase {
    /// Whether the phrase is this word and what follows.
    fn fits(&self, word: &str, after: &str) -> bool {
        self.goes_on(&self.words, word, after)
    }

    fn goes_on(&self, phrase: &[&str], word: &str, after: &str) -> bool {
        match phrase {
            [] | [GAP] => false,
            [last, END] => word == *last && next_word(after).is_none(),
            [last] => word == *last || (self.is_beginning && word.starts_with(last)),
            [GAP, phrase @ ..] => self.goes_on_within(phrase, after),
            [expected, phrase @ ..] if word == *expected => {
                next_word(after).is_some_and(|(next, after)| self.goes_on(phrase, next, after))
            }
            _ => false,
        }
    }

    /// Whether it goes on with one of the next words.
    fn goes_on_within(&self, phrase: &[&str], mut after: &str) -> bool {
        for _ in 0..MOST_BETWEEN {
            let Some((word, rest)) = next_word(after) else { return false };
            if self.goes_on(phrase, word, rest) {
                return true;
            }
            after = rest;
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
