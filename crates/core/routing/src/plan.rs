//! Filter, score, draw, order.

use crate::{
    Candidate, Demand, Drawn, Exclusion, Rating, Selection, Standing, Weights, exclusion, score::Scorer,
};
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
    /// The order of the candidates is kept, but for preferences and their standing.
    pub const CATALOGUE_ORDER: Self = Self { weights: Weights::NONE, selection: Selection::Best };
}

/// Which candidates to try, in order, and how each was judged. Indices are those of the candidates.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// To try: the one chosen, then the others by standing and score.
    pub order: Vec<usize>,
    /// One for each candidate.
    pub verdicts: Vec<Verdict>,
    /// What was drawn; `None` where the best is taken or nobody is eligible.
    pub drawn: Option<Drawn>,
    /// What counted how much: sums to 1, or all 0.
    pub weights: Weights,
    /// Nobody holds the ceiling on the first useful output, so that none was left out for it.
    pub ceiling_missed: bool,
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

/// Plans the attempts of a request: at most `most` candidates. The chosen one is drawn among the preferred and comes
/// first; the others follow by score, all preferred ones before the secondary ones, and the last resorts at the end.
/// Where nobody is preferred, those whose turn comes next are drawn among. When a list of two or more is cut, the first
/// last resort keeps a place; where there is none, the first of a second vendor does, since a vendor often fails with
/// all its models.
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
    let ceiling_missed = !hold_ceiling(demand, candidates, &mut order, &mut verdicts);
    rate(&Scorer::new(demand, weights, candidates, &mut order), candidates, &mut verdicts);
    order.sort_unstable_by(|one, other| better(&verdicts, *one, *other));
    let Some(best) = order.first().copied() else {
        return Plan { order, verdicts, drawn: None, weights, ceiling_missed };
    };
    rules.selection.spread(&mut verdicts, best);
    let drawn = rules.selection.draw(&verdicts, unit);
    if let Some(position) = drawn.and_then(|drawn| order.iter().position(|index| *index == drawn.kept)) {
        order.get_mut(..=position).unwrap_or_default().rotate_right(1);
    }
    cut(&mut order, most, &verdicts, candidates);
    Plan { order, verdicts, drawn, weights, ceiling_missed }
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

/// Leaves out who is slower than the ceiling. Where that would leave nobody but last resorts nothing is done, and
/// `false` told.
fn hold_ceiling(
    demand: &Demand<'_>,
    candidates: &[Candidate<'_>],
    order: &mut Vec<usize>,
    verdicts: &mut [Verdict],
) -> bool {
    let too_slow = |index: &usize| candidates.get(*index).and_then(|candidate| demand.too_slow(candidate));
    if !order.iter().any(|index| too_slow(index).is_some()) {
        return true;
    }
    let in_time = |index: &usize| {
        let standing = candidates.get(*index).map(|candidate| candidate.offer.standing);
        standing.is_some_and(|standing| standing != Standing::LastResort) && too_slow(index).is_none()
    };
    if !order.iter().any(in_time) {
        return false;
    }
    order.retain(|index| {
        let why = too_slow(index);
        let in_time = why.is_none();
        if let (Some(why), Some(verdict)) = (why, verdicts.get_mut(*index)) {
            *verdict = Verdict::Excluded(why);
        }
        in_time
    });
    true
}

/// Rates the eligible, and lets those compete whose turn comes first.
fn rate(scorer: &Scorer<'_>, candidates: &[Candidate<'_>], verdicts: &mut [Verdict]) {
    for (verdict, candidate) in verdicts.iter_mut().zip(candidates) {
        if let Verdict::Eligible(rating) = verdict {
            *rating = scorer.rate(candidate);
        }
    }
    let first = verdicts.iter().filter_map(Verdict::rating).map(|rating| rating.standing).min();
    for rating in verdicts.iter_mut().filter_map(Verdict::rating_mut) {
        rating.competes = Some(rating.standing) == first;
    }
}

/// By standing, then by score, then by place.
fn better(verdicts: &[Verdict], one: usize, other: usize) -> Ordering {
    let key = |index: usize| {
        let rating = verdicts.get(index).and_then(Verdict::rating);
        rating.map_or((Standing::LastResort, f64::NEG_INFINITY), |rating| (rating.standing, rating.ln_score))
    };
    let ((standing, score), (other_standing, other_score)) = (key(one), key(other));
    standing.cmp(&other_standing).then(other_score.total_cmp(&score)).then(one.cmp(&other))
}

fn cut(order: &mut Vec<usize>, most: usize, verdicts: &[Verdict], candidates: &[Candidate<'_>]) {
    let is_last_resort = |index: &usize| {
        let rating = verdicts.get(*index).and_then(Verdict::rating);
        rating.is_some_and(|rating| rating.standing == Standing::LastResort)
    };
    let vendor = |index: usize| candidates.get(index).map(|candidate| &*candidate.offer.model.vendor);
    let first = order.first().copied().and_then(vendor);
    let is_elsewhere = |index: &usize| vendor(*index) != first;
    let saved = order.iter().position(is_last_resort).or_else(|| order.iter().position(is_elsewhere));
    if let Some(saved) = saved.filter(|position| most > 1 && *position >= most) {
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
