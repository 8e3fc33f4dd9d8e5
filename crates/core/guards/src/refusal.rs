//! Why two texts are not taken for the same.

use std::fmt;

/// Something both texts must agree in. The order is the one they are asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guard {
    /// The language is known, and both texts are in its script.
    Language,
    /// Numbers, with their units, in order.
    Number,
    /// At most, at least, over, under, about.
    Comparator,
    /// Dates, weekdays, relative periods and times of day.
    Date,
    /// What is negated.
    Negation,
    /// Names of languages, in order: from which into which.
    LanguageName,
    /// What is quoted.
    Quote,
    /// Addresses, codes and identifiers.
    Code,
    /// Tone and length.
    Tone,
    /// What is asked: why, who, how many.
    Question,
    /// Only, all, except, before, after.
    Scope,
    /// Names of people, places and things, in order.
    NamedEntity,
    /// All other words that carry meaning.
    Content,
    /// The forms of words, where hardly anything else differs: one author or several, who bites whom.
    Form,
    /// Grammar that turns the meaning: for and against, to and from, was and will be, my and your.
    Turn,
    /// Signs, operators, brackets, emoji, and what they belong to.
    Symbol,
    /// Capital and small letters, and accents, of words that both texts have.
    Case,
    /// Commas and full stops, where the words are the same.
    Pause,
    /// Who does what to whom: words that changed places.
    Order,
}

impl Guard {
    /// Every one.
    pub const ALL: [Self; 19] = [
        Self::Language,
        Self::Number,
        Self::Comparator,
        Self::Date,
        Self::Negation,
        Self::LanguageName,
        Self::Quote,
        Self::Code,
        Self::Tone,
        Self::Question,
        Self::Scope,
        Self::NamedEntity,
        Self::Content,
        Self::Form,
        Self::Turn,
        Self::Symbol,
        Self::Case,
        Self::Pause,
        Self::Order,
    ];

    /// Its name in metrics and explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Language => "language",
            Self::Number => "number",
            Self::Comparator => "comparator",
            Self::Date => "date",
            Self::Negation => "negation",
            Self::LanguageName => "language_name",
            Self::Quote => "quote",
            Self::Code => "code",
            Self::Tone => "tone",
            Self::Question => "question",
            Self::Scope => "scope",
            Self::NamedEntity => "named_entity",
            Self::Content => "content",
            Self::Form => "form",
            Self::Turn => "turn",
            Self::Symbol => "symbol",
            Self::Case => "case",
            Self::Pause => "pause",
            Self::Order => "order",
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A guard saw a difference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{guard}: {detail}")]
pub struct Refusal {
    /// Which one.
    pub guard: Guard,
    /// What it saw, in words of the texts: not for logs.
    pub detail: String,
}
