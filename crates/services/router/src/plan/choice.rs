//! The models of a plan, with what each can use at most.

use super::{Considered, Outcome, bound::Bound};
use signalbox_ports::Worst;
use signalbox_types::{ModelRef, Money};

/// A model to try.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) model: ModelRef,
    /// The catalogue's name for it, under which its health is kept: `vendor/*` for an unlisted model.
    pub(crate) listed_as: ModelRef,
    /// The most that it can use, where that is counted.
    pub(crate) bound: Option<Bound>,
}

impl Choice {
    /// What a call of it costs at most, as far as that is known and counted.
    pub(crate) fn ceiling(&self) -> Money {
        self.bound.and_then(|bound| bound.ceiling).unwrap_or_default()
    }
}

impl<'a> Considered<'a> {
    /// Those to try, in order.
    pub(super) fn choices(&self, outcome: &Outcome<'a>) -> Vec<Choice> {
        let choice = |index: &usize| {
            let model = outcome.candidates.get(*index)?.offer.model;
            let listed_as = self.catalog.model(model).map_or(model, |known| &known.reference);
            let bound = self.admitted.budget.counted.then(|| self.bound(model));
            Some(Choice { model: model.clone(), listed_as: listed_as.clone(), bound })
        };
        outcome.plan.order.iter().filter_map(choice).collect()
    }

    /// One call of the dearest candidate: others that follow it are paid for when they are due.
    pub(super) fn worst(&self, choices: &[Choice]) -> Worst {
        let output = choices.iter().filter_map(|choice| Some(choice.bound?.max_output)).max();
        Worst {
            cost: choices.iter().map(Choice::ceiling).max().unwrap_or_default(),
            tokens: output.map_or(0, |output| self.needs.prompt_tokens.saturating_add(output)),
        }
    }
}
