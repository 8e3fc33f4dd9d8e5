//! Filter, score, draw, order.

use crate::{Candidate, Demand, Drawn, Exclusion, Rating, Selection, Weights, exclusion, score::Scorer};
use signalbox_types::Failure;
use std::cmp::Ordering;

/// How candidates are compared.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rules {
    /// What counts how much.
    pub weights: Weights,
    /// How the first one is chosen.
    pub selection: Selection,
}

impl Rules {
    /// The order of the candidates is kept, but for preferences and the last resort.
    pub const CATALOGUE_ORDER: Self = Self { weights: Weights::NONE, selection: Selection::Best };
}

/// Which candidates to try, in order, and how each was judged. Indices are those of the candidates.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// To try: the one chosen, then the others by score, then the last resort.
    pub order: Vec<usize>,
    /// One for each candidate.
    pub verdicts: Vec<Verdict>,
    /// What was drawn; `None` where the best is taken or nobody is eligible.
    pub drawn: Option<Drawn>,
    /// What counted how much: sums to 1, or all 0.
    pub weights: Weights,
}

/// How a candidate was judged.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// May be tried.
    Eligible(Rating),
    /// Left out.
    Excluded(Exclusion),
}

impl Verdict {
    /// The rating of an eligible candidate.
    pub fn rating(&self) -> Option<&Rating> {
        match self {
            Self::Eligible(rating) => Some(rating),
            Self::Excluded(_) => None,
        }
    }

    /// Why the candidate was left out, if it was.
    pub fn exclusion(&self) -> Option<&Exclusion> {
        match self {
            Self::Eligible(_) => None,
            Self::Excluded(why) => Some(why),
        }
    }

    pub(crate) fn rating_mut(&mut self) -> Option<&mut Rating> {
        match self {
            Self::Eligible(rating) => Some(rating),
            Self::Excluded(_) => None,
        }
    }
}

/// Plans the attempts of a request: at most `most` candidates, the chosen one first, the others by score. A last
/// resort comes last whatever its score, and keeps its place when a list of two or more is cut.
///
/// `unit` gives numbers from 0 up to 1, evenly spread: one for each recovering candidate, then two for the draw. The
/// same numbers give the same plan.
pub fn plan(
    demand: &Demand<'_>,
    candidates: &[Candidate<'_>],
    rules: &Rules,
    most: usize,
    mut unit: impl FnMut() -> f64,
) -> Plan {
    let weights = rules.weights.normalised();
    let (mut order, mut verdicts) = filter(demand, candidates, &mut unit);
    let scorer = Scorer::new(demand, weights, candidates, &mut order);
    for (verdict, candidate) in verdicts.iter_mut().zip(candidates) {
        if let Verdict::Eligible(rating) = verdict {
            *rating = scorer.rate(candidate);
        }
    }
    if !verdicts.iter().filter_map(Verdict::rating).any(|rating| rating.competes) {
        verdicts.iter_mut().filter_map(Verdict::rating_mut).for_each(|rating| rating.competes = true);
    }
    order.sort_unstable_by(|one, other| better(&verdicts, *one, *other));
    let Some(best) = order.first().copied() else {
        return Plan { order, verdicts, drawn: None, weights };
    };
    rules.selection.spread(&mut verdicts, best);
    let drawn = rules.selection.draw(&verdicts, unit);
    if let Some(position) = drawn.and_then(|drawn| order.iter().position(|index| *index == drawn.kept)) {
        order.get_mut(..=position).unwrap_or_default().rotate_right(1);
    }
    cut(&mut order, most, &verdicts);
    Plan { order, verdicts, drawn, weights }
}

/// The indices of the eligible, and a verdict for each candidate, not yet rated.
fn filter(
    demand: &Demand<'_>,
    candidates: &[Candidate<'_>],
    unit: &mut impl FnMut() -> f64,
) -> (Vec<usize>, Vec<Verdict>) {
    let mut order = Vec::with_capacity(candidates.len());
    let mut verdicts = Vec::with_capacity(candidates.len());
    for (index, candidate) in candidates.iter().enumerate() {
        verdicts.push(match demand.exclusion(candidate, unit) {
            Some(why) => Verdict::Excluded(why),
            None => {
                order.push(index);
                Verdict::Eligible(Rating::default())
            }
        });
    }
    (order, verdicts)
}

/// Who competes before the last resorts, then by score, then by place.
fn better(verdicts: &[Verdict], one: usize, other: usize) -> Ordering {
    let key = |index: usize| {
        let rating = verdicts.get(index).and_then(Verdict::rating);
        rating.map_or((false, f64::NEG_INFINITY), |rating| (rating.competes, rating.ln_score))
    };
    let ((competes, score), (other_competes, other_score)) = (key(one), key(other));
    other_competes.cmp(&competes).then(other_score.total_cmp(&score)).then(one.cmp(&other))
}

fn cut(order: &mut Vec<usize>, most: usize, verdicts: &[Verdict]) {
    let is_last_resort =
        |index: &usize| verdicts.get(*index).and_then(Verdict::rating).is_some_and(|rating| !rating.competes);
    let saved = order.iter().position(is_last_resort).filter(|position| most > 1 && *position >= most);
    if let Some(saved) = saved {
        order.swap(most - 1, saved);
    }
    order.truncate(most);
}

impl Plan {
    /// What to tell the caller when nobody can serve: the reason that could be mended soonest comes first.
    pub fn refusal(&self, candidates: &[Candidate<'_>]) -> Failure {
        let pairs = candidates.iter().zip(&self.verdicts);
        exclusion::refusal(
            pairs.filter_map(|(candidate, verdict)| Some((candidate.offer.model, verdict.exclusion()?))),
        )
    }
}

#[cfg(test)]
mod tests;
