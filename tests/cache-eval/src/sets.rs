//! Pairs of instructions of which it is known whether one answer is right for both.

use serde::Deserialize;
use std::{collections::HashMap, error::Error, fs, path::Path};

/// Two instructions.
#[derive(Debug, Clone)]
pub struct Pair {
    /// Language, as in `it`.
    pub language: String,
    /// What the pair is an example of.
    pub kind: String,
    /// The one that was answered.
    pub stored: String,
    /// The one that is asked.
    pub asked: String,
    /// Whether the answer is right for both.
    pub same: bool,
    /// Which half it belongs to: lexicons and thresholds were made looking at one of them only.
    pub half: Half,
}

/// The halves of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Half {
    /// Looked at.
    Development,
    /// Only counted.
    HeldOut,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    lang: Option<String>,
    #[serde(alias = "category")]
    kind: String,
    a: String,
    b: String,
    #[serde(alias = "same_answer")]
    same: bool,
}

/// Reads pairs, one JSON object a line. `together` consecutive rows of a language or kind go to the same half, by turns.
///
/// # Errors
/// The file cannot be read, or a line is no pair.
pub fn read(path: &Path, together: usize) -> Result<Vec<Pair>, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let pair = |line: &str| {
        let row: Row = serde_json::from_str(line)?;
        let count = seen.entry(row.lang.clone().unwrap_or_else(|| row.kind.clone())).or_default();
        let half = if (*count / together).is_multiple_of(2) { Half::Development } else { Half::HeldOut };
        *count += 1;
        let language = row.lang.unwrap_or_else(|| "en".to_owned());
        Ok(Pair { language, kind: row.kind, stored: row.a, asked: row.b, same: row.same, half })
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(pair).collect()
}
