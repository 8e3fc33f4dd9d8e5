//! A tenant's rules about content: what is looked for in prompts and answers, and what is done about it.
//!
//! Matching takes time linear in the text whatever the pattern, nothing that matched is kept, and an answer that is
//! scanned as it streams gives what the whole would: see [`TextStream`].

mod detector;
mod fold;
mod growing;
mod inspection;
mod json;
mod pii;
mod stream;
mod tally;
mod words;

pub use inspection::{Finding, Inspection};
pub use pii::Pii;
pub use stream::{MOST_HELD, TextStream};

use detector::Detector;
use std::sync::Arc;

/// What a rule does when it finds something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Tells of it.
    Flag,
    /// Puts a placeholder in its place.
    Redact,
    /// Refuses the whole.
    Block,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 3] = [Self::Flag, Self::Redact, Self::Block];

    /// The word in configuration and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Redact => "redact",
            Self::Block => "block",
        }
    }
}

/// Where a text is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// What was asked.
    Input,
    /// The answer.
    Output,
}

impl Place {
    /// Every place.
    pub const ALL: [Self; 2] = [Self::Input, Self::Output];

    /// The word in configuration and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }
}

/// What a rule looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Matches of a regular expression, in the syntax of the `regex` crate.
    Regex(String),
    /// Whole words and phrases, whatever their case and spelling in Unicode.
    Words(Vec<String>),
    /// Kinds of personal data.
    Pii(Vec<Pii>),
}

/// One rule, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What findings call it.
    pub name: Arc<str>,
    /// What it looks for.
    pub what: What,
    /// Where it looks.
    pub places: Vec<Place>,
    /// What it does.
    pub action: Action,
    /// What takes a match's place; where left out, `[EMAIL]` and the like, or `[REDACTED]`.
    pub placeholder: Option<String>,
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidRule {
    /// Which one, from 0.
    pub rule: usize,
    /// What is wrong with its pattern, its position in it where that helps.
    pub message: String,
}

/// Rules, ready to be applied.
///
/// ```
/// use signalbox_quality::content::{Action, ContentPolicy, Pii, Place, Rule, What};
///
/// let rule = Rule {
///     name: "contacts".into(),
///     what: What::Pii(vec![Pii::Email]),
///     places: vec![Place::Input],
///     action: Action::Redact,
///     placeholder: None,
/// };
/// let policy = ContentPolicy::new(vec![rule])?;
/// let mut inspection = policy.inspect(Place::Input);
/// assert_eq!(inspection.text("Write to ann@example.com."), Some("Write to [EMAIL].".to_owned()));
/// assert_eq!(inspection.findings().map(|found| found.count).sum::<u32>(), 1);
/// # Ok::<(), signalbox_quality::content::InvalidRule>(())
/// ```
#[derive(Debug, Clone)]
pub struct ContentPolicy(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    rules: Vec<Rule>,
    /// In the order of their rules; a rule of several kinds has several.
    detectors: Vec<Detector>,
}

impl Compiled {
    fn holds(&self, place: Place) -> bool {
        self.rules.iter().any(|rule| rule.action != Action::Flag && rule.places.contains(&place))
    }
}

impl ContentPolicy {
    /// Rules ready to be applied, or the first that cannot be.
    pub fn new(rules: Vec<Rule>) -> Result<Self, InvalidRule> {
        let mut detectors = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let made = Detector::all_of(index, rule);
            detectors.extend(made.map_err(|message| InvalidRule { rule: index, message })?);
        }
        Ok(Self(Arc::new(Compiled { rules, detectors })))
    }

    /// Whether any rule looks there.
    pub fn looks_at(&self, place: Place) -> bool {
        self.0.rules.iter().any(|rule| rule.places.contains(&place))
    }

    /// Whether a text from there may not be passed on before it is read: some rule may change or refuse it.
    pub fn holds(&self, place: Place) -> bool {
        self.0.holds(place)
    }

    /// Starts to look at the texts of one place.
    pub fn inspect(&self, place: Place) -> Inspection {
        Inspection::new(self.0.clone(), place)
    }
}

/// Whether a pattern's matches have a longest length. An answer that streams is held back while a match may be
/// growing, and ends with an error when that takes too long.
pub fn is_bounded(pattern: &str) -> bool {
    detector::parse(pattern).is_ok_and(|hir| hir.properties().maximum_len().is_some())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
