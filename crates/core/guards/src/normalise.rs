//! A text without what never matters.

use crate::{
    lexicon::{Kind, Lexicon},
    reading::Reading,
    tokens::{Shape, Token, is_han, is_quote},
};

/// Small letters but for abbreviations, single spaces, no politeness, no marks at the end, number words as digits.
pub(crate) fn normalise(text: &str, lexicon: &Lexicon) -> String {
    let reading = Reading::of(text, lexicon);
    let shouted = reading
        .tokens
        .iter()
        .filter(|token| token.shape == Shape::Word && !is_character(token))
        .all(|token| token.capital);
    let mut pieces: Vec<String> = Vec::with_capacity(reading.tokens.len());
    let mut at = 0;
    while let Some(token) = reading.tokens.get(at) {
        let number =
            reading.terms.iter().find(|term| term.from == at && term.kind == Kind::Number && term.listed);
        if let Some(number) = number.filter(|_| !token.quoted) {
            pieces.push(number.key.split('|').next().unwrap_or_default().to_owned());
            at = number.until.max(at + 1);
            continue;
        }
        let polite = reading.polite.get(at).copied().unwrap_or_default() && !token.quoted;
        if !polite && !is_loose(&reading.tokens, &reading.polite, at) {
            pieces.push(if token.capitals && !shouted {
                token.text.to_uppercase()
            } else {
                token.text.clone()
            });
        }
        at += 1;
    }
    while pieces
        .last()
        .is_some_and(|piece| piece.chars().all(|letter| matches!(letter, '.' | '!' | '?' | ',' | ';' | ':')))
    {
        pieces.pop();
    }
    pieces.join(" ")
}

/// A mark that says nothing: first of all, or next to politeness or another comma.
fn is_loose(tokens: &[Token], polite: &[bool], at: usize) -> bool {
    let mark = |at: usize| {
        tokens.get(at).filter(|token| token.shape == Shape::Mark && !token.text.starts_with(is_quote))
    };
    let Some(token) = mark(at) else { return false };
    let beside = |at: Option<usize>| at.is_none_or(|at| polite.get(at).copied().unwrap_or(true));
    let soft = matches!(token.text.as_str(), "," | "." | "!" | ";" | "'" | "-");
    soft && (beside(at.checked_sub(1)) || beside(Some(at + 1)))
}

fn is_character(token: &Token) -> bool {
    token.text.chars().all(is_han)
}
