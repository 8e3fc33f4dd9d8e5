//! Who is tried first.

use crate::{Rating, Verdict, number::within};

/// How the first candidate is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Selection {
    /// The best score, always. Many callers at once then all run to the same vendor.
    Best,
    /// Two are drawn with probability `score ^ kappa`, and the less busy one of them is tried first.
    Draw {
        /// Greed: 0 draws blindly, 4 prefers clearly, 50 is nearly always the best.
        kappa: f64,
        /// Every healthy candidate is drawn with at least this probability, so that a better one is noticed. All
        /// such shares together take at most half.
        explore: f64,
    },
}

impl Default for Selection {
    fn default() -> Self {
        Self::Draw { kappa: KAPPA, explore: 0.01 }
    }
}

const KAPPA: f64 = 4.0;

/// A selection that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSelection {
    /// Not a number from 0 to 1000.
    #[error("`kappa` must be a number from 0 to 1000")]
    Kappa,
    /// Not a number from 0 to 0.5.
    #[error("`explore` must be a number from 0 to 0.5")]
    Explore,
}

impl Selection {
    /// Itself, or what is wrong with it.
    pub fn checked(self) -> Result<Self, InvalidSelection> {
        match self {
            Self::Draw { kappa, .. } if !(0.0..=1_000.0).contains(&kappa) => Err(InvalidSelection::Kappa),
            Self::Draw { explore, .. } if !(0.0..=0.5).contains(&explore) => Err(InvalidSelection::Explore),
            _ => Ok(self),
        }
    }

    /// Writes the probability of being drawn first to every rating that competes; they sum to 1. `best` is the index
    /// of the highest score.
    pub(crate) fn spread(self, verdicts: &mut [Verdict], best: usize) {
        let Some(highest) = verdicts.get_mut(best).and_then(Verdict::rating_mut) else { return };
        let Self::Draw { kappa, explore } = self else {
            highest.draw_probability = 1.0;
            return;
        };
        let top = highest.ln_score;
        let kappa = if kappa.is_nan() { KAPPA } else { kappa.clamp(0.0, 1e6) };
        let explore = within(explore, 0.0, 0.5 / competing(verdicts).map(|_| 1.0).sum::<f64>());
        let (mut sum, mut explored) = (0.0, 0.0);
        for rating in competing(verdicts) {
            rating.draw_probability = (kappa * (rating.ln_score - top)).exp();
            sum += rating.draw_probability;
            explored += if rating.healthy { explore } else { 0.0 };
        }
        for rating in competing(verdicts) {
            let least = if rating.healthy { explore } else { 0.0 };
            rating.draw_probability = least + (1.0 - explored) * rating.draw_probability / sum;
        }
        weigh_pressure(verdicts);
    }

    /// Draws two, and keeps the first unless the second is clearly less busy.
    pub(crate) fn draw(self, verdicts: &[Verdict], mut unit: impl FnMut() -> f64) -> Option<Drawn> {
        if self == Self::Best {
            return None;
        }
        let first = pick(verdicts, None, unit())?;
        let Some(second) = pick(verdicts, Some(first), unit()) else {
            return Some(Drawn { first, kept: first });
        };
        let kept = if is_freer(verdicts, second, first) { second } else { first };
        Some(Drawn { first, kept })
    }
}

/// What was drawn: indices of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// The one drawn first, by its probability.
    pub first: usize,
    /// The one to try first: that, unless the second is clearly less busy.
    pub kept: usize,
}

/// Weighs how busy each is against its part of the calls under way: that of its probability times its pace, since who
/// takes twice as long has twice as many under way at the same rate.
///
/// Compared without it, load would undo the score: the fastest would be run to for its few calls under way, however
/// dear it is. In simulation it got twice the calls of its probability; with it, every vendor gets its own share.
fn weigh_pressure(verdicts: &mut [Verdict]) {
    let part = |rating: &Rating| rating.draw_probability * rating.per_token;
    let (mut under_way, mut parts) = (0.0, 0.0);
    for rating in competing(verdicts) {
        under_way += rating.in_flight;
        parts += part(rating);
    }
    for rating in competing(verdicts) {
        let due = if parts > 0.0 { under_way * part(rating) / parts } else { 0.0 };
        rating.pressure = rating.slowness * (rating.in_flight + 1.0) / (due + 1.0);
        rating.scatter = 1.0 + 2.0 / (due + 1.0).sqrt();
    }
}

/// Whether one is clearly less busy than the one drawn first. Calls arrive at random, so that their number scatters
/// around what is due by its square root: what lies within twice that overrules no draw.
fn is_freer(verdicts: &[Verdict], one: usize, first: usize) -> bool {
    let rating = |index: usize| verdicts.get(index).and_then(Verdict::rating);
    let (Some(one), Some(first)) = (rating(one), rating(first)) else { return false };
    one.pressure * first.scatter < first.pressure
}

fn competing(verdicts: &mut [Verdict]) -> impl Iterator<Item = &mut Rating> {
    verdicts.iter_mut().filter_map(Verdict::rating_mut).filter(|rating| rating.competes)
}

/// The index that `unit`, from 0 up to 1, points to when every candidate but `except` takes room by its probability.
fn pick(verdicts: &[Verdict], except: Option<usize>, unit: f64) -> Option<usize> {
    let room = |(index, verdict): (usize, &Verdict)| {
        let probability = verdict.rating()?.draw_probability;
        (Some(index) != except && probability > 0.0).then_some((index, probability))
    };
    let rooms = || verdicts.iter().enumerate().filter_map(room);
    let mut left = within(unit, 0.0, 1.0) * rooms().map(|(_, probability)| probability).sum::<f64>();
    let mut last = None;
    for (index, probability) in rooms() {
        last = Some(index);
        if left < probability {
            break;
        }
        left -= probability;
    }
    last
}
