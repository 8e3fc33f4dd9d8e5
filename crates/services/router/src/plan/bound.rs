//! The most that a request can use at a model.

use super::Considered;
use crate::estimate::most_output;
use signalbox_types::{ModelRef, Money};

/// Fewer tokens than this make no answer.
const LEAST_OUTPUT: u64 = 256;
/// Of a model whose own limit is not known.
const UNKNOWN_OUTPUT: u64 = 4_096;

/// The most that a model may answer with, and what the call then costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Tokens of the answer.
    pub(crate) max_output: u64,
    /// The same where the model has to be told, because it would go beyond by itself.
    pub(crate) cap: Option<u32>,
    /// `None` where the price is unknown.
    pub(crate) ceiling: Option<Money>,
}

impl Considered<'_> {
    /// A request that sets no limit may use what the model has, but no more than half of what is left could pay, so that
    /// it takes nobody else's part.
    pub(super) fn bound(&self, model: &ModelRef) -> Bound {
        let asked = self.admitted.request.prompt.max_output_tokens;
        let own = most_output(self.catalog, model, asked);
        let max_output = if asked.is_some() { own } else { self.fair_output(model, own) };
        let cap = (max_output != own).then(|| u32::try_from(max_output).unwrap_or(u32::MAX));
        Bound { max_output, cap, ceiling: self.worst_case(model, max_output) }
    }

    fn fair_output(&self, model: &ModelRef, own: u64) -> u64 {
        let most = if own == 0 { UNKNOWN_OUTPUT } else { own };
        let budget = &self.admitted.budget;
        let by_rate = budget.rules.most_tokens.map(|tokens| tokens.saturating_sub(self.needs.prompt_tokens));
        let half = budget.allowance.map(|left| left.nano_eur() / 2);
        let by_money = half.and_then(|half| self.paid_output(model, most, half));
        let fair = by_rate.into_iter().chain(by_money).fold(most, u64::min);
        fair.max(LEAST_OUTPUT).min(most)
    }

    /// How many of `most` tokens so much money pays, beside the prompt; `None` where it pays all, or the price is
    /// unknown. An answer costs by the token, whatever its length.
    fn paid_output(&self, model: &ModelRef, most: u64, nano_eur: i64) -> Option<u64> {
        let prompt = self.worst_case(model, 0)?.nano_eur();
        let whole = self.worst_case(model, most)?.nano_eur();
        if whole <= nano_eur {
            return None;
        }
        let (left, answer) = (nano_eur.saturating_sub(prompt).max(0), whole.saturating_sub(prompt).max(1));
        let paid = u128::from(most) * u128::from(left.unsigned_abs()) / u128::from(answer.unsigned_abs());
        Some(u64::try_from(paid).unwrap_or(most))
    }

    fn worst_case(&self, model: &ModelRef, max_output: u64) -> Option<Money> {
        let (lane, prompt) = (self.admitted.request.lane, self.needs.prompt_tokens);
        self.catalog.prices().worst_case_in(lane, model, prompt, max_output, self.day)
    }
}
