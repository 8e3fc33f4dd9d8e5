//! A text as the guards read it.

mod dates;
mod numbers;

use crate::{
    lexicon::{Kind, Lexicon, Meaning},
    tokens::{Shape, Token, is_han, script, tokens},
};

/// Something a text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) kind: Kind,
    /// What, in a word that is the same for all forms where a lexicon knows them.
    pub(crate) key: String,
    /// Whether a lexicon knows it.
    pub(crate) listed: bool,
    /// Whether it is written like a name.
    pub(crate) name: bool,
    /// Tokens it was read from.
    pub(crate) from: usize,
    pub(crate) until: usize,
}

impl Term {
    /// Carries meaning that has no other guard.
    pub(crate) fn is_content(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Numbered)
    }
}

/// A text, read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) tokens: Vec<Token>,
    /// In their order, without what carries no meaning.
    pub(crate) terms: Vec<Term>,
    /// Classes of the grammar, sorted: see [`Kind::Turn`]. Those of relations too.
    pub(crate) turns: Vec<String>,
    /// Which tokens politeness is made of.
    pub(crate) polite: Vec<bool>,
    /// Whether the text is in the language's script.
    pub(crate) in_script: bool,
}

impl Reading {
    pub(crate) fn of(text: &str, lexicon: &Lexicon) -> Self {
        let tokens = tokens(text, lexicon);
        let in_script = in_script(&tokens, lexicon);
        let mut terms = terms(&tokens, lexicon);
        unfold_negated(&mut terms);
        let mut polite = vec![false; tokens.len()];
        for term in terms.iter().filter(|term| term.kind == Kind::Polite) {
            polite.iter_mut().take(term.until).skip(term.from).for_each(|token| *token = true);
        }
        let turns = turns(&terms);
        numbers::combine(&mut terms, &tokens);
        dates::combine(&mut terms);
        numbers::attach_units(&mut terms);
        dates::settle(&mut terms);
        terms.retain(|term| !matches!(term.kind, Kind::Drop | Kind::Polite | Kind::Turn));
        Self { tokens, terms, turns, polite, in_script }
    }

    /// The keys of one kind, in order.
    pub(crate) fn keys(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.terms.iter().filter(move |term| term.kind == kind).map(|term| term.key.as_str())
    }

    /// Words that carry meaning, in order.
    pub(crate) fn content(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|term| term.is_content())
    }
}

/// Behind a negation politeness is none: "do not tell me", "non può".
fn unfold_negated(terms: &mut [Term]) {
    for at in 1..terms.len() {
        let negated = terms[at - 1].kind == Kind::Negation && terms[at - 1].until == terms[at].from;
        if negated && terms[at].kind == Kind::Polite {
            terms[at].kind = Kind::Word;
        }
    }
}

fn turns(terms: &[Term]) -> Vec<String> {
    let turning = terms.iter().filter(|term| matches!(term.kind, Kind::Turn | Kind::Relation));
    let mut turns: Vec<_> = turning.map(|term| term.key.clone()).collect();
    turns.sort_unstable();
    turns
}

fn terms(tokens: &[Token], lexicon: &Lexicon) -> Vec<Term> {
    let names_show = names_show(tokens);
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let (mut terms, mut at) = (Vec::with_capacity(tokens.len()), 0);
    while let Some(token) = tokens.get(at) {
        let plain =
            |kind, until| Term { kind, key: token.text.clone(), listed: false, name: false, from: at, until };
        let term = match token.shape {
            Shape::Mark => {
                at += 1;
                continue;
            }
            Shape::Number => plain(Kind::Number, at + 1),
            Shape::Code => plain(Kind::Code, at + 1),
            Shape::Time => Term { key: format!("t{}", token.text), ..plain(Kind::Date, at + 1) },
            Shape::Date => plain(Kind::Date, at + 1),
            Shape::Word => {
                let capital = token.capital && !token.initial && names_show || token.capitals;
                match lexicon.find(words.get(at..).unwrap_or_default(), capital || numbered(tokens, at)) {
                    // "US" is not "us", and "A" in "from A to B" no article.
                    Some((_, Meaning { kind: Kind::Drop | Kind::Polite | Kind::Turn, .. }))
                        if token.capitals && names_show || is_single_letter(tokens, at) =>
                    {
                        Term { name: true, ..plain(Kind::Word, at + 1) }
                    }
                    Some((1, meaning)) if meaning.kind == Kind::Turn && is_half_of_day(token, &terms) => {
                        Term { key: token.text.clone(), listed: true, ..plain(Kind::Meridiem, at + 1) }
                    }
                    // A road is a street, and Abbey Road no Abbey Street.
                    Some((1, Meaning { kind: Kind::Word, .. })) if capital && !token.capitals => {
                        Term { name: true, ..plain(Kind::Word, at + 1) }
                    }
                    Some((length, meaning)) => Term {
                        kind: meaning.kind,
                        key: meaning.key.to_string(),
                        listed: true,
                        name: false,
                        from: at,
                        until: at + length,
                    },
                    None => Term { name: capital, ..plain(Kind::Word, at + 1) },
                }
            }
        };
        at = term.until;
        terms.push(term);
    }
    terms
}

/// A letter that stands for something: a capital inside a sentence, or one with nothing behind it to be an article of.
fn is_single_letter(tokens: &[Token], at: usize) -> bool {
    let is_last = tokens.get(at + 1).is_none_or(|next| next.shape == Shape::Mark);
    tokens.get(at).is_some_and(|token| {
        // "I" is a pronoun.
        let is_letter =
            token.text.chars().count() == 1 && !token.text.chars().all(is_han) && token.text != "i";
        is_letter && (token.capital && !token.initial || is_last)
    })
}

/// "am" behind a number is no verb.
fn is_half_of_day(token: &Token, before: &[Term]) -> bool {
    let is_time = |term: &Term| matches!(term.kind, Kind::Number | Kind::Date);
    token.text == "am" && before.last().is_some_and(is_time)
}

/// A capitalised first word with a number at its side, as in "May 5".
fn numbered(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| token.capital)
        && tokens.get(at + 1).is_some_and(|token| token.shape == Shape::Number)
}

/// Whether capitals tell names from other words: not where most words inside sentences have one.
fn names_show(tokens: &[Token]) -> bool {
    let words = || tokens.iter().filter(|token| token.shape == Shape::Word && !token.initial);
    let (all, capital) = (words().count(), words().filter(|token| token.capital).count());
    all < 3 || capital * 10 <= all * 7
}

/// Most of the letters are of the language's script; quoted text may be in any.
fn in_script(tokens: &[Token], lexicon: &Lexicon) -> bool {
    let (mut own, mut other) = (0_usize, 0_usize);
    for token in tokens.iter().filter(|token| token.shape == Shape::Word && !token.quoted) {
        for letter in token.text.chars().filter(|letter| letter.is_alphabetic()) {
            match script(letter) == Some(lexicon.script) {
                true => own += 1,
                false => other += 1,
            }
        }
    }
    own > 0 && own >= other
}
