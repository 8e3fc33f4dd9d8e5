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
//! assert!(guards.compare("Write five tags for the recipe", "Give 5 tags for the recipe, please", "en").is_ok());
//! let refusal = guards.compare("Give 5 tags", "Give 15 tags", "en").unwrap_err();
//! assert_eq!(refusal.guard.name(), "number");
//! ```

mod compare;
mod lexicon;
mod normalise;
mod reading;
mod refusal;
mod signature;
mod tokens;
mod written;

pub use normalise::normalise;
pub use refusal::{Guard, Refusal};
pub use signature::Signature;

use compare::Pair;
use lexicon::Lexicon;
use reading::Reading;
use std::sync::{Arc, LazyLock};

/// The lexicons that the program brings.
const BUILTIN: [(&str, &str); 5] = [
    ("en", include_str!("../lexicons/en.lex")),
    ("it", include_str!("../lexicons/it.lex")),
    ("pl", include_str!("../lexicons/pl.lex")),
    ("uk", include_str!("../lexicons/uk.lex")),
    ("zh", include_str!("../lexicons/zh.lex")),
];

/// Symbols, units and the like, which every language shares.
const COMMON: &str = include_str!("../lexicons/common.lex");

/// Longer texts are not compared: that would take longer than a lookup has, and two such texts are hardly ever the same
/// request in other words.
const MOST_BYTES: usize = 2_048;

static LEXICONS: LazyLock<Result<Vec<Lexicon>, BadLexicon>> = LazyLock::new(|| {
    let mut lexicons = Vec::new();
    BUILTIN.iter().try_for_each(|(code, text)| add(&mut lexicons, code, text))?;
    Ok(lexicons)
});

/// The guards, with the lexicons they read by. Made once and shared.
#[derive(Debug, Clone)]
pub struct Guards {
    lexicons: Arc<[Lexicon]>,
}

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

impl Guards {
    /// With the lexicons that the program brings: English, Italian, Polish, Ukrainian, Chinese.
    pub fn builtin() -> Self {
        // A test reads them, so they can be read; without any, every wording is unknown and nothing is shared.
        Self {
            lexicons: LEXICONS.as_ref().map_or_else(|_| Arc::from([]), |lexicons| lexicons.as_slice().into()),
        }
    }

    /// With further lexicons: pairs of a language, as in `pl`, and a text in the format of `lexicons/README.md`. It adds
    /// to what is there, or makes a language known.
    ///
    /// # Errors
    /// A text cannot be read.
    pub fn with(lexicons: &[(&str, &str)]) -> Result<Self, BadLexicon> {
        let mut all = LEXICONS.clone()?;
        lexicons.iter().try_for_each(|(code, text)| add(&mut all, code, text))?;
        Ok(Self { lexicons: all.into() })
    }

    /// What the text says in numbers, dates and the like. `None` where the locale's language or the text's script is
    /// unknown, or the text is over 2 KiB: such a text matches no other wording.
    pub fn signature(&self, text: &str, locale: &str) -> Option<Signature> {
        let lexicon = self.lexicon(text, locale)?;
        let reading = Reading::of(text, lexicon);
        reading.in_script.then(|| Signature::of(&reading, &lexicon.code))
    }

    /// Whether an answer to `stored` may answer `asked`, as far as words can tell. Symmetric. An empty locale is told
    /// from the texts.
    ///
    /// # Errors
    /// The first guard that saw a difference, and what it saw.
    pub fn compare(&self, stored: &str, asked: &str, locale: &str) -> Result<(), Refusal> {
        self.each(stored, asked, locale, |refusals| refusals.next()).map_or(Ok(()), Err)
    }

    /// Every guard that sees a difference, in their order, for an explanation.
    pub fn differences(&self, stored: &str, asked: &str, locale: &str) -> Vec<Refusal> {
        self.each(stored, asked, locale, |refusals| refusals.collect())
    }

    fn each<T>(
        &self,
        stored: &str,
        asked: &str,
        locale: &str,
        take: impl Fn(&mut dyn Iterator<Item = Refusal>) -> T,
    ) -> T {
        let lexicons = (self.lexicon(stored, locale), self.lexicon(asked, locale));
        let unknown = |detail: &str| Refusal { guard: Guard::Language, detail: detail.to_owned() };
        match lexicons {
            (Some(lexicon), Some(other)) if lexicon.code == other.code => {
                let (a, b) = (Reading::of(stored, lexicon), Reading::of(asked, lexicon));
                take(&mut Pair::new((stored, &a), (asked, &b), lexicon).refusals())
            }
            (Some(_), Some(_)) => take(&mut std::iter::once(unknown("the texts are in different languages"))),
            _ => take(&mut std::iter::once(unknown(
                "there is no lexicon for the language, or the text is too long",
            ))),
        }
    }

    /// The lexicon of a locale, as in `it-IT`. Without a locale, the one that knows most of the words, if one does.
    fn lexicon(&self, text: &str, locale: &str) -> Option<&Lexicon> {
        if text.len() > MOST_BYTES {
            return None;
        }
        let language = locale.split(['-', '_']).next().unwrap_or_default().to_lowercase();
        if !language.is_empty() {
            return self.lexicons.iter().find(|lexicon| lexicon.code == language);
        }
        let known = |lexicon: &Lexicon| {
            let tokens = tokens::tokens(text, lexicon);
            tokens
                .iter()
                .filter(|token| lexicon.knows(&token.text) && token.text.chars().any(char::is_alphabetic))
                .count()
        };
        let mut scores: Vec<(usize, &Lexicon)> =
            self.lexicons.iter().map(|lexicon| (known(lexicon), lexicon)).collect();
        scores.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        match scores.as_slice() {
            [(best, lexicon), rest @ ..] if *best > rest.first().map_or(0, |(next, _)| *next) => {
                Some(lexicon)
            }
            _ => None,
        }
    }
}

/// Adds a text to a language's lexicon, or a lexicon.
fn add(lexicons: &mut Vec<Lexicon>, code: &str, text: &str) -> Result<(), BadLexicon> {
    let language = code.to_lowercase();
    if let Some(lexicon) = lexicons.iter_mut().find(|lexicon| lexicon.code == language) {
        return lexicon.add(code, text);
    }
    let mut lexicon = Lexicon::new(&language);
    lexicon.add("common", COMMON)?;
    lexicon.add(code, text)?;
    lexicons.push(lexicon);
    Ok(())
}
