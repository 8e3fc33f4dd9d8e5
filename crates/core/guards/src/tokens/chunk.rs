//! What stands between spaces: a word, a number, a code, or several of them.

use super::{Shape, Splitter, literal};
use crate::lexicon::{Apostrophe, Kind};

/// Endings that English writes with an apostrophe, and what they stand for; "'s" is a case of most words.
const CONTRACTIONS: [(&str, &str); 7] = [
    ("n't", "not"),
    ("'re", "are"),
    ("'ve", "have"),
    ("'ll", "will"),
    ("'d", "would"),
    ("'m", "am"),
    ("'s", ""),
];

impl Splitter<'_> {
    pub(super) fn chunk(&mut self, chunk: &str) {
        let body = chunk.trim_start_matches(|letter: char| {
            matches!(letter, ',' | ';' | ':' | '!' | '?' | '\'' | '.' | '/')
        });
        for mark in chunk[..chunk.len() - body.len()].chars() {
            self.mark(mark);
        }
        let body_end = body.trim_end_matches(|letter: char| {
            matches!(letter, ',' | ';' | ':' | '!' | '?' | '\'' | '.' | '/')
        });
        if !body_end.is_empty() {
            self.body(body_end);
        }
        for mark in body[body_end.len()..].chars() {
            self.mark(mark);
        }
    }

    fn body(&mut self, body: &str) {
        if is_address(body) {
            return self.push(Shape::Code, body.to_lowercase(), false);
        }
        if let Some((shape, text)) = literal::read(body, self.lexicon.decimal_comma) {
            return self.push(shape, text, false);
        }
        if let Some(letters) = abbreviation(body) {
            return self.word(&letters);
        }
        // A symbol in front or behind, as in £50 and 7.2%.
        if let Some(symbol) = body.chars().next().filter(|letter| is_symbol(*letter)) {
            self.word(&body[..symbol.len_utf8()]);
            return self.chunk(&body[symbol.len_utf8()..]);
        }
        if let Some(symbol) = body.chars().next_back().filter(|letter| is_symbol(*letter)) {
            self.chunk(&body[..body.len() - symbol.len_utf8()]);
            return self.word(&body[body.len() - symbol.len_utf8()..]);
        }
        if body.contains(|letter: char| letter.is_ascii_digit()) {
            return self.mixed(body);
        }
        self.parts(body);
    }

    /// Digits with letters: a number with its unit, or a code.
    fn mixed(&mut self, body: &str) {
        let digits =
            body.find(|letter: char| !matches!(letter, '0'..='9' | '.' | ',' | ':')).unwrap_or(body.len());
        let (number, tail) = body.split_at(digits);
        let tail = tail.strip_prefix('-').unwrap_or(tail);
        let plain = !tail.contains(|letter: char| letter.is_ascii_digit());
        // "1990s" is no 1990 and a word that may be left out.
        let is_unit = |tail: &str| {
            self.lexicon.find(&[tail], false).is_some_and(|(_, meaning)| meaning.kind != Kind::Drop)
        };
        if plain && let Some((shape, text)) = literal::read(number, self.lexicon.decimal_comma) {
            let unit = tail.split('-').next().unwrap_or_default().to_lowercase();
            if body.contains('-') || is_unit(&unit) {
                self.push(shape, text, false);
                return self.parts(tail);
            }
        }
        self.push(Shape::Code, body.to_lowercase(), false);
    }

    /// Words joined by hyphens, slashes or dots.
    fn parts(&mut self, body: &str) {
        for part in body.split(|letter: char| !letter.is_alphanumeric() && letter != '\'') {
            if !part.is_empty() {
                self.apostrophes(part);
            }
        }
    }

    fn apostrophes(&mut self, part: &str) {
        match (self.lexicon.apostrophe, part.find('\'')) {
            (Apostrophe::Contraction, _) => self.contraction(part),
            (Apostrophe::Elision, Some(at)) => {
                self.word(&part[..at]);
                self.chunk(&part[at + 1..]);
            }
            _ => self.word(part),
        }
    }

    fn contraction(&mut self, part: &str) {
        // Few letters have small ones of another length, and none that English contracts.
        let small = Some(part.to_lowercase()).filter(|small| small.len() == part.len()).unwrap_or_default();
        if small == "cannot" {
            self.word(&part[..3]);
            return self.word("not");
        }
        let Some((ending, stands_for)) = CONTRACTIONS.iter().find(|(ending, _)| small.ends_with(ending))
        else {
            return self.word(part.trim_end_matches('\''));
        };
        let stem = small.len() - ending.len();
        self.word(base(&part[..stem]));
        match *stands_for {
            "" if is_before_verb(&small[..stem]) => self.word("is"),
            "" => {}
            verb => self.word(verb),
        }
    }
}

/// Whether "'s" is a verb behind this word: "it's", but not "Anna's".
fn is_before_verb(word: &str) -> bool {
    matches!(word, "it" | "that" | "this" | "there" | "here" | "he" | "she")
        || matches!(word, "who" | "what" | "where" | "when" | "why" | "how" | "which")
}

/// "can't" and "won't" lose more than an ending.
fn base(word: &str) -> &str {
    match word {
        "ca" => "can",
        "Ca" => "Can",
        "wo" => "will",
        "Wo" => "Will",
        word => word,
    }
}

fn is_symbol(letter: char) -> bool {
    matches!(letter, '%' | '‰' | '°' | '+' | '=' | '&' | '#' | '$' | '£' | '€' | '¥' | '₴' | '₽' | '¢')
}

fn is_address(body: &str) -> bool {
    let dotted = || {
        body.split_once('.').is_some_and(|(host, rest)| {
            host.len() > 1
                && rest.len() > 1
                && body.chars().all(|letter| letter.is_alphanumeric() || ".-_/".contains(letter))
        }) && body.contains(char::is_alphabetic)
            && !body.contains(|letter: char| !letter.is_ascii())
    };
    body.contains(['@', '_', '\\'])
        || body.contains("://")
        || (body.starts_with('#') && body.len() > 1)
        || dotted()
}

/// Single letters with dots between them, as in "p.m".
fn abbreviation(body: &str) -> Option<String> {
    let single = body.contains('.')
        && body.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic));
    single.then(|| body.split('.').collect())
}
