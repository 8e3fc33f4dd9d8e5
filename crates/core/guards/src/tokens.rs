//! A text as words, numbers, codes and marks.

mod chunk;
mod literal;

use crate::lexicon::{Lexicon, Script};
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) shape: Shape,
    /// In small letters.
    pub(crate) text: String,
    pub(crate) capital: bool,
    /// All of it is capitals, two or more.
    pub(crate) capitals: bool,
    /// First of a sentence.
    pub(crate) initial: bool,
    /// Inside quotation marks.
    pub(crate) quoted: bool,
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Word,
    /// Digits; the text is the canonical number.
    Number,
    /// Must be equal letter by letter.
    Code,
    /// A time of day; the text is its minute.
    Time,
    /// A calendar date; the text is its atoms.
    Date,
    Mark,
}

/// Splits a text, most compatible characters first made one.
pub(crate) fn tokens(text: &str, lexicon: &Lexicon) -> Vec<Token> {
    let normal = compatible(text);
    let mut splitter =
        Splitter { lexicon, tokens: Vec::with_capacity(normal.len() / 4), initial: true, quoted: false };
    splitter.split(&normal);
    splitter.tokens
}

/// Compatible characters made one: full-width letters, ligatures, kinds of apostrophe and minus.
fn compatible(text: &str) -> Cow<'_, str> {
    let simple = is_nfkc_quick(text.chars()) == IsNormalized::Yes
        && !text.contains(['’', 'ʼ', '‘', '−', '\u{ad}', '\u{200b}']);
    if simple {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.nfkc()
            .filter_map(|letter| match letter {
                '’' | 'ʼ' | '‘' => Some('\''),
                '−' => Some('-'),
                // Seen by nobody.
                '\u{ad}' | '\u{200b}' => None,
                letter => Some(letter),
            })
            .collect(),
    )
}

pub(crate) fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3134f}' | '〇')
}

/// The script of a letter, where it is one we know.
pub(crate) fn script(letter: char) -> Option<Script> {
    match letter {
        _ if is_han(letter) => Some(Script::Han),
        '\u{400}'..='\u{52f}' => Some(Script::Cyrillic),
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Some(Script::Latin),
        _ => None,
    }
}

struct Splitter<'a> {
    lexicon: &'a Lexicon,
    tokens: Vec<Token>,
    initial: bool,
    quoted: bool,
}

impl Splitter<'_> {
    fn split(&mut self, text: &str) {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            rest = if letter == '`' {
                self.fence(rest)
            } else if is_han(letter) {
                self.word(&rest[..letter.len_utf8()]);
                &rest[letter.len_utf8()..]
            } else if letter.is_whitespace() || is_mark(letter) {
                self.mark(letter);
                &rest[letter.len_utf8()..]
            } else {
                let end = rest.find(ends_chunk).unwrap_or(rest.len());
                let (chunk, after) = rest.split_at(end);
                self.chunk(chunk);
                after
            };
        }
    }

    /// Code between backticks. What follows it.
    fn fence<'t>(&mut self, text: &'t str) -> &'t str {
        let code = text.trim_start_matches('`');
        let fence = &text[..text.len() - code.len()];
        let (code, after) = code.split_once(fence).unwrap_or((code, ""));
        self.push(Shape::Code, code.trim().to_owned(), false);
        after
    }

    fn mark(&mut self, letter: char) {
        match letter {
            '\n' | '.' | '!' | '?' | ':' | '。' | '…' => self.initial = true,
            _ => {}
        }
        if is_quote(letter) {
            self.quoted = !matches!(letter, '”' | '»' | '」' | '』') && !self.quoted;
            self.initial = true;
        }
        if !letter.is_whitespace() {
            self.push(Shape::Mark, letter.to_string(), false);
        }
    }

    fn word(&mut self, text: &str) {
        let capital = text.starts_with(char::is_uppercase);
        self.push(Shape::Word, text.to_lowercase(), capital);
        if let Some(token) = self.tokens.last_mut() {
            let mut letters = text.chars();
            token.capitals = capital && letters.clone().count() > 1 && letters.all(char::is_uppercase);
        }
    }

    fn push(&mut self, shape: Shape, text: String, capital: bool) {
        let initial = self.initial && shape != Shape::Mark;
        self.initial &= shape == Shape::Mark;
        self.tokens.push(Token { shape, text, capital, capitals: false, initial, quoted: self.quoted });
    }
}

fn ends_chunk(letter: char) -> bool {
    letter.is_whitespace() || letter == '`' || is_han(letter) || is_hard_mark(letter)
}

/// Marks that are part of no word, address or number.
fn is_hard_mark(letter: char) -> bool {
    is_quote(letter)
        || matches!(
            letter,
            '(' | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '<'
                | '>'
                | '。'
                | '，'
                | '、'
                | '；'
                | '：'
                | '？'
                | '！'
                | '…'
                | '—'
                | '–'
                | '|'
                | '*'
        )
}

fn is_mark(letter: char) -> bool {
    is_hard_mark(letter) || matches!(letter, '.' | ',' | ';' | ':' | '!' | '?' | '-' | '/' | '\'')
}

pub(crate) fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」' | '『' | '』')
}
