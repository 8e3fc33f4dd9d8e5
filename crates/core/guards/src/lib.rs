//! Whether two instructions ask for the same thing: what similarity of meaning cannot see.
//!
//! Encoders put "approved" next to "not approved" and 12 euros next to 21. So before an answer is shared, both texts are
//! read word by word and must agree in everything a reader would act on. Pure: the lexicons are part of the program,
//! and an operator may add to them.
//!
//! ```
//! use signalbox_guards::Guards;
//!
//! let guards = Guards::builtin();
//! assert!(guards.compare("List five tags for the recipe", "Give 5 tags for the recipe, please", "en").is_ok());
//! let refusal = guards.compare("Give 5 tags", "Give 15 tags", "en").unwrap_err();
//! assert_eq!(refusal.guard.name(), "number");
//! ```

mod refusal;

pub use refusal::{Guard, Refusal};

/// The guards, with the lexicons they read by. Made once and shared.
#[derive(Debug)]
pub struct Guards {}

/// A lexicon that an operator added cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("lexicon `{name}`, line {line}: {problem}")]
pub struct BadLexicon {
    /// The name it was given by, as in `pl`.
    pub name: String,
    /// Where.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

/// What a text says in numbers, dates, negations and the like, in canonical bytes: texts that differ in any of it have
/// different ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature(Vec<u8>);

impl Signature {
    /// The bytes, for a key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Guards {
    /// With the lexicons that the program brings: English, Italian, Polish, Ukrainian, Chinese.
    pub fn builtin() -> Self {
        Self {}
    }

    /// With further lexicons: pairs of a language, as in `pl`, and a text in the format of `lexicons/README.md`. It adds
    /// to what is there, or makes a language known.
    ///
    /// # Errors
    /// A text cannot be read.
    pub fn with(_lexicons: &[(&str, &str)]) -> Result<Self, BadLexicon> {
        Ok(Self {})
    }

    /// What the text says in numbers, dates and the like. `None` where the locale's language or the text's script is
    /// unknown: such a text matches no other wording.
    pub fn signature(&self, _text: &str, _locale: &str) -> Option<Signature> {
        None
    }

    /// The text but for what never matters: case, spacing, punctuation at the end, politeness; number words as digits.
    /// Of a text in an unknown language only spacing is evened out.
    pub fn normalise(&self, text: &str, _locale: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether an answer to `stored` may answer `asked`, as far as words can tell. Symmetric.
    ///
    /// # Errors
    /// The first guard that saw a difference, and what it saw.
    pub fn compare(&self, _stored: &str, _asked: &str, _locale: &str) -> Result<(), Refusal> {
        Err(Refusal { guard: Guard::Language, detail: "no lexicons yet".into() })
    }

    /// Every guard that sees a difference, in their order, for an explanation.
    pub fn differences(&self, stored: &str, asked: &str, locale: &str) -> Vec<Refusal> {
        self.compare(stored, asked, locale).err().into_iter().collect()
    }
}
