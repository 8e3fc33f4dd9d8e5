//! The record of a decision, as it is told in answers, errors and explanations.

use super::{Considered, Outcome};
use crate::admission::Admitted;
use signalbox_api::v1::{self, candidate::Standing as WireStanding};
use signalbox_kit::catalog::Catalog;
use signalbox_routing::{Candidate, Rating, Standing, Verdict};
use std::collections::HashMap;

impl Considered<'_> {
    /// The candidates to try in order, then those left out.
    pub(super) fn record(&self, outcome: &Outcome<'_>) -> v1::Decision {
        let Outcome { plan, candidates, .. } = outcome;
        let told = |index: usize| Some(self.told(candidates.get(index)?, plan.verdicts.get(index)?));
        let left_out = |(index, verdict): (usize, &Verdict)| verdict.exclusion().map(|_| index);
        let left_out = plan.verdicts.iter().enumerate().filter_map(left_out);
        let request = &self.admitted.request;
        let mut decision = v1::Decision {
            requested: self.requested.clone(),
            candidates: plan.order.iter().copied().chain(left_out).filter_map(told).collect(),
            catalog_version: self.catalog.version().to_owned(),
            task_type: request.task_type.clone(),
            notes: self.notes(outcome),
            ..Default::default()
        };
        if self.is_scored() {
            decision.weights = named(plan.weights.named().into_iter());
        }
        decision
    }

    fn told(&self, candidate: &Candidate<'_>, verdict: &Verdict) -> v1::Candidate {
        let model = candidate.offer.model;
        let mut told = v1::Candidate {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
            excluded_reason: verdict.exclusion().map(ToString::to_string).unwrap_or_default(),
            standing: standing(candidate.offer.standing) as i32,
            ..Default::default()
        };
        if let Some(rating) = verdict.rating().filter(|_| self.is_scored()) {
            (told.score, told.draw_probability) = (rating.score, rating.draw_probability);
            told.factors = factors(rating);
        }
        told
    }

    fn notes(&self, outcome: &Outcome<'_>) -> Vec<String> {
        let mut notes = found_task(self.admitted);
        if let Some(tier) = outcome.instead {
            notes.push(format!(
                "the budget leaves none of the models asked for: those of the tier {} instead",
                tier.name()
            ));
        }
        notes.extend(self.thrift(outcome));
        notes.extend(overruled(outcome));
        if outcome.past_breakers {
            notes.push("open breakers and refused keys passed by: nobody else is left".to_owned());
        }
        if let (true, Some(ceiling)) = (outcome.plan.ceiling_missed, self.first_output_ceiling) {
            let ceiling = ceiling.as_secs_f64();
            notes.push(format!("first_output_ceiling of {ceiling} s not held: nobody is that quick"));
        }
        notes
    }
}

impl Considered<'_> {
    /// Why cheaper models serve.
    fn thrift(&self, outcome: &Outcome<'_>) -> Option<String> {
        let left_out = outcome.left_out_for_money();
        let threshold = match &*self.admitted.budget.threshold {
            "" => String::new(),
            threshold => format!(" (`{threshold}`)"),
        };
        match outcome.instead {
            Some(_) if threshold.is_empty() => None,
            Some(_) => Some(format!("the budget has reached a threshold{threshold}")),
            None if left_out == 0 => None,
            None => {
                Some(format!("left out for the budget's sake{threshold}: {left_out} of the models asked for"))
            }
        }
    }
}

/// That load overruled the draw.
fn overruled(outcome: &Outcome<'_>) -> Option<String> {
    let drawn = outcome.plan.drawn.filter(|drawn| drawn.kept != drawn.first)?;
    let model = |index: usize| Some(outcome.candidates.get(index)?.offer.model);
    let (first, kept) = (model(drawn.first)?, model(drawn.kept)?);
    Some(format!("{first} was drawn, and is slower or busier than it should be: {kept} goes first"))
}

/// The record of a request whose names lead nowhere.
pub(super) fn unresolved(requested: String, catalog: &Catalog, admitted: &Admitted) -> v1::Decision {
    v1::Decision {
        requested,
        catalog_version: catalog.version().to_owned(),
        task_type: admitted.request.task_type.clone(),
        notes: found_task(admitted),
        ..Default::default()
    }
}

fn found_task(admitted: &Admitted) -> Vec<String> {
    let request = &admitted.request;
    let temperature = request.prompt.sampling.temperature.filter(|_| admitted.task_found);
    let note =
        |temperature| format!("task type {} found by the temperature of {temperature}", request.task_type);
    temperature.map(note).into_iter().collect()
}

/// What the score was made of; what multiplies it as a whole is told where it changes it.
fn factors(rating: &Rating) -> HashMap<String, f64> {
    let whole = [("preference", rating.preference), ("weight", rating.weight)];
    named(rating.factors.named().into_iter().chain(whole.into_iter().filter(|(_, factor)| *factor != 1.0)))
}

fn named(figures: impl Iterator<Item = (&'static str, f64)>) -> HashMap<String, f64> {
    figures.map(|(name, figure)| (name.to_owned(), figure)).collect()
}

fn standing(standing: Standing) -> WireStanding {
    match standing {
        Standing::Preferred => WireStanding::Preferred,
        Standing::Secondary => WireStanding::Secondary,
        Standing::LastResort => WireStanding::LastResort,
    }
}
