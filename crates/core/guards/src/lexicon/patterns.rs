//! Inflection: which endings one stem may take.

use std::collections::HashMap;

/// Letters a stem must have where a paradigm does not say.
const STEM: usize = 3;
/// As many paradigms as a mask has bits.
const MOST: usize = 64;

/// Sets of endings. Two words are forms of one when both are the same stem with endings of the same set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paradigms {
    /// In which sets an ending is, one bit for each.
    sets: HashMap<Box<str>, u64>,
    /// Letters the stem must have, set by set.
    stems: Vec<usize>,
    /// Letters of the longest ending.
    longest: usize,
}

impl Paradigms {
    /// Adds a line: `ending, ending`, or `5: ending, ending`.
    pub(crate) fn add(&mut self, line: &str) -> Result<(), String> {
        if self.stems.len() == MOST {
            return Err(format!("there are more than {MOST} sets of endings"));
        }
        let (stem, endings) = match line.split_once(':') {
            Some((stem, endings)) => {
                (stem.trim().parse().map_err(|_| format!("`{stem}` is not a number"))?, endings)
            }
            None => (STEM, line),
        };
        let bit = 1 << self.stems.len();
        self.stems.push(stem);
        for ending in endings.split(',').map(str::trim) {
            let ending = if ending == "-" { "" } else { ending };
            self.longest = self.longest.max(ending.chars().count());
            *self.sets.entry(ending.into()).or_default() |= bit;
        }
        Ok(())
    }

    /// Whether both are forms of one word.
    pub(crate) fn same(&self, a: &str, b: &str) -> bool {
        if a == b {
            return true;
        }
        let shared = a.char_indices().zip(b.chars()).take_while(|((_, a), b)| a == b);
        let (letters, at) =
            shared.fold((0, 0), |(letters, _), ((at, letter), _)| (letters + 1, at + letter.len_utf8()));
        if letters < STEM.min(self.stems.iter().copied().min().unwrap_or(STEM)) {
            return false;
        }
        let cuts = a[..at].char_indices().map(|(at, _)| at).rev();
        std::iter::once(at).chain(cuts).take(self.longest + 1).enumerate().any(|(back, cut)| {
            let stem = letters - back;
            let both = self.sets_of(&a[cut..]) & self.sets_of(&b[cut..]);
            both != 0
                && self.stems.iter().enumerate().any(|(set, least)| both & (1 << set) != 0 && stem >= *least)
        })
    }

    fn sets_of(&self, ending: &str) -> u64 {
        self.sets.get(ending).copied().unwrap_or_default()
    }
}
