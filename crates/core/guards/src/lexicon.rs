//! What the words of a language mean to the guards. The format is described in `lexicons/README.md`.

mod parse;
mod patterns;

pub(crate) use patterns::Paradigms;

use crate::{BadLexicon, tokens::is_han};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// What a listed word or phrase stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Nothing: grammar, and words that only frame a request.
    Drop,
    /// Nothing either, wherever it stands.
    Polite,
    Number,
    Ordinal,
    Month,
    Weekday,
    /// A day by itself, as in "tomorrow".
    Relative,
    /// Which week, month or year, as in "last".
    Bound,
    /// A length of time, as in "week".
    Period,
    /// Makes a number part of a date, as in 年.
    DateMark,
    /// Half of the day, as in "pm".
    Meridiem,
    Unit,
    Comparator,
    Negation,
    Language,
    Tone,
    Scope,
    Question,
    /// Grammar, but for what its class is opposed to, as "for" to "against".
    Turn,
    /// Gives the next word its part, as in "from".
    Relation,
    /// Carries meaning of its own. Unlisted words do too.
    Word,
    /// Such a word, and a number behind it is an ordinal, as in "chapter 4".
    Numbered,
    /// An address, a code, an identifier, a number's glued-on letters.
    Code,
    /// A date or a time of day, put together.
    Date,
}

/// Which letters a language is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Script {
    #[default]
    Latin,
    Cyrillic,
    Han,
}

/// What an apostrophe inside a word does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Apostrophe {
    /// It is a letter, as in "п'ять".
    #[default]
    Letter,
    /// A word ends behind it, as in "dell'anno".
    Elision,
    /// An ending begins with it, as in "don't" and "Monday's".
    Contraction,
}

/// One word of a listed form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Whole(Box<str>),
    /// Whatever begins so.
    Beginning(Box<str>),
}

impl Piece {
    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Whole(whole) => **whole == *word,
            Self::Beginning(beginning) => word.starts_with(&**beginning),
        }
    }
}

#[derive(Debug, Clone)]
struct Form {
    rest: Vec<Piece>,
    /// Only where it is written with a capital.
    capital: bool,
    meaning: Meaning,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) kind: Kind,
    pub(crate) key: Arc<str>,
}

/// A language's words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lexicon {
    pub(crate) code: String,
    pub(crate) script: Script,
    pub(crate) apostrophe: Apostrophe,
    /// Decimals follow a comma.
    pub(crate) decimal_comma: bool,
    /// By their first word.
    forms: HashMap<Box<str>, Vec<Form>>,
    /// By what their first word begins with.
    beginnings: HashMap<Box<str>, Vec<Form>>,
    /// Classes of grammar that turn a text against each other, either way round; `-` stands for none of it.
    opposed: HashMap<Box<str>, Vec<Box<str>>>,
    /// Words that are no names where a sentence begins with them.
    openings: HashSet<Box<str>>,
    /// How words are inflected.
    pub(crate) words: Paradigms,
    /// How names are.
    pub(crate) names: Paradigms,
}

impl Lexicon {
    pub(crate) fn new(code: &str) -> Self {
        Self { code: code.to_owned(), ..Self::default() }
    }

    /// Adds what a text in the lexicons' format says.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> Result<(), BadLexicon> {
        parse::read(self, text).map_err(|(line, problem)| BadLexicon { name: name.to_owned(), line, problem })
    }

    fn oppose(&mut self, class: &str, other: &str) -> Result<(), String> {
        if class.is_empty() || other.is_empty() {
            return Err("a class is empty".to_owned());
        }
        self.opposed.entry(class.into()).or_default().push(other.into());
        self.opposed.entry(other.into()).or_default().push(class.into());
        Ok(())
    }

    /// Whether one text may not have this class where the other has that one; `-` is none.
    pub(crate) fn are_opposed(&self, class: &str, other: &str) -> bool {
        self.opposed.get(class).is_some_and(|others| others.iter().any(|opposed| **opposed == *other))
    }

    /// Whether a word by itself is listed.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.find(&[word], false).is_some()
    }

    /// Whether a word that a sentence begins with is surely no name: an opening, or listed, or the first word of what is.
    pub(crate) fn opens(&self, word: &str) -> bool {
        let begins = |forms: &Vec<Form>| forms.iter().any(|form| !form.capital);
        self.openings.contains(word) || self.forms.get(word).is_some_and(begins) || self.knows(word)
    }

    /// The longest listed form that the words begin with, and how many it takes.
    pub(crate) fn find(&self, words: &[&str], capital: bool) -> Option<(usize, &Meaning)> {
        let (first, rest) = words.split_first()?;
        let whole = self.forms.get(*first).and_then(|forms| longest(forms, rest, capital));
        let cut = (2..first.len()).rev().filter(|at| first.is_char_boundary(*at));
        let begun = std::iter::once(first.len())
            .chain(cut)
            .filter_map(|at| self.beginnings.get(&first[..at]))
            .find_map(|forms| longest(forms, rest, capital));
        match (whole, begun) {
            (Some(whole), Some(begun)) if begun.0 > whole.0 => Some(begun),
            (whole, begun) => whole.or(begun),
        }
    }

    fn insert(&mut self, form: &str, meaning: Meaning) -> Result<(), String> {
        let spaced = spaced(form);
        let mut pieces = spaced.split(' ').filter(|piece| !piece.is_empty()).map(|piece| {
            let folded = piece.to_lowercase();
            match folded.strip_suffix('*') {
                Some("") => Err("a `*` must follow letters".to_owned()),
                Some(beginning) => Ok(Piece::Beginning(beginning.into())),
                None => Ok(Piece::Whole(folded.into())),
            }
        });
        let first = pieces.next().ok_or("a form is empty")??;
        let rest = pieces.collect::<Result<_, _>>()?;
        let form = Form { rest, capital: form.starts_with(char::is_uppercase), meaning };
        let (map, key) = match first {
            Piece::Whole(key) => (&mut self.forms, key),
            Piece::Beginning(key) => (&mut self.beginnings, key),
        };
        // What is added later is asked first, so that an operator's word counts.
        map.entry(key).or_default().insert(0, form);
        Ok(())
    }
}

/// A form with its words apart, as a text's tokens will be.
fn spaced(form: &str) -> String {
    form.chars().fold(String::with_capacity(form.len()), |mut spaced, letter| {
        let apart = is_han(letter);
        spaced.push_str(if apart { " " } else { "" });
        spaced.push(letter);
        spaced.push_str(if apart { " " } else { "" });
        spaced
    })
}

fn longest<'a>(forms: &'a [Form], words: &[&str], capital: bool) -> Option<(usize, &'a Meaning)> {
    let fits = |form: &&Form| {
        (capital || !form.capital)
            && form.rest.len() <= words.len()
            && form.rest.iter().zip(words).all(|(piece, word)| piece.fits(word))
    };
    let mut best: Option<&Form> = None;
    for form in forms.iter().filter(fits) {
        let better =
            best.is_none_or(|best| (form.rest.len(), form.capital) > (best.rest.len(), best.capital));
        if better {
            best = Some(form);
        }
    }
    best.map(|form| (form.rest.len() + 1, &form.meaning))
}
