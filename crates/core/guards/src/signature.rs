//! A reading as bytes.

use crate::{lexicon::Kind, reading::Reading};

/// What a text says in numbers, dates, negations and the like, in canonical bytes: texts that differ in any of it have
/// different ones. Names and other words are not part of it, as their forms are equal only two at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature(Vec<u8>);

impl Signature {
    /// Raised when the bytes of some text change.
    const VERSION: u8 = 3;
    /// Kinds whose order counts.
    const SEQUENCES: [Kind; 5] = [Kind::Number, Kind::Comparator, Kind::Date, Kind::Language, Kind::Code];
    /// Kinds of which it only counts what is there.
    const SETS: [Kind; 4] = [Kind::Negation, Kind::Tone, Kind::Question, Kind::Scope];

    pub(crate) fn of(reading: &Reading, language: &str) -> Self {
        let mut bytes = vec![Self::VERSION];
        push(&mut bytes, language);
        for kind in Self::SEQUENCES {
            list(&mut bytes, reading.keys(kind).collect());
        }
        for kind in Self::SETS {
            let mut keys: Vec<&str> = reading.keys(kind).collect();
            keys.sort_unstable();
            list(&mut bytes, keys);
        }
        Self(bytes)
    }

    /// The bytes, for a key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

fn list(bytes: &mut Vec<u8>, keys: Vec<&str>) {
    bytes.extend_from_slice(&(keys.len() as u32).to_be_bytes());
    keys.into_iter().for_each(|key| push(bytes, key));
}

fn push(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u32).to_be_bytes());
    bytes.extend_from_slice(text.as_bytes());
}
