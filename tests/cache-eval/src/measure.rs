//! What is served at a threshold.

use crate::sets::{Half, Pair};
use signalbox_guards::Guards;

/// Thresholds tried, in hundredths of cosine similarity.
pub const THRESHOLDS: std::ops::RangeInclusive<u8> = 50..=99;

/// A set as one encoder sees it.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The set's name.
    pub set: &'static str,
    /// The encoder's.
    pub encoder: &'static str,
    /// Share of near-misses that may be served.
    pub bound: f64,
    /// The pairs, with their similarity and whether the guards pass them.
    pub pairs: Vec<(&'a Pair, f32, bool)>,
}

/// How many were served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Served {
    /// Of the right ones.
    pub right: usize,
    /// Pairs that one answer is right for.
    pub rights: usize,
    /// Of the wrong ones.
    pub wrong: usize,
    /// Pairs that no one answer is right for.
    pub wrongs: usize,
}

impl<'a> Seen<'a> {
    /// Puts pairs, similarities and guards together.
    pub fn new(
        set: &'static str,
        encoder: &'static str,
        bound: f64,
        pairs: &'a [Pair],
        similarities: &[f32],
    ) -> Self {
        let guards = Guards::builtin();
        let passes = |pair: &Pair| guards.compare(&pair.stored, &pair.asked, &pair.language).is_ok();
        let pairs =
            pairs.iter().zip(similarities).map(|(pair, similarity)| (pair, *similarity, passes(pair)));
        Self { set, encoder, bound, pairs: pairs.collect() }
    }

    /// What is served of some pairs at a threshold.
    pub fn served(&self, threshold: u8, guarded: bool, of: impl Fn(&Pair) -> bool) -> Served {
        let mut served = Served::default();
        for (pair, similarity, passes) in self.pairs.iter().filter(|(pair, ..)| of(pair)) {
            let serves = usize::from(*similarity >= f32::from(threshold) / 100.0 && (*passes || !guarded));
            let (hits, all) = if pair.same {
                (&mut served.right, &mut served.rights)
            } else {
                (&mut served.wrong, &mut served.wrongs)
            };
            *hits += serves;
            *all += 1;
        }
        served
    }

    /// The threshold to serve at: of those that keep near-misses within bounds on the development half, the one that
    /// serves most, and the highest of such. `None` where none keeps them.
    pub fn operating_point(&self, guarded: bool) -> Option<u8> {
        let on_development =
            |threshold| self.served(threshold, guarded, |pair| pair.half == Half::Development);
        let safe = THRESHOLDS.filter(|threshold| {
            let served = on_development(*threshold);
            served.wrong_share() <= self.bound && served.right > 0
        });
        safe.max_by_key(|threshold| on_development(*threshold).right)
    }
}

impl Served {
    /// Of the right pairs, how many were served.
    pub fn right_share(self) -> f64 {
        share(self.right, self.rights)
    }

    /// Of the wrong pairs, how many were served.
    pub fn wrong_share(self) -> f64 {
        share(self.wrong, self.wrongs)
    }

    /// Of the served pairs, how many were right.
    pub fn precision(self) -> f64 {
        share(self.right, self.right + self.wrong)
    }
}

fn share(hits: usize, of: usize) -> f64 {
    hits as f64 / of.max(1) as f64
}
