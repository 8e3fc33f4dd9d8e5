//! Who pays for a request, and what was taken for it.

use super::Account;
use crate::budget::Taken;
use signalbox_api::v1;
use signalbox_ports::{RatesLeft, Short};
use signalbox_types::Money;

impl Account {
    /// What budgets say of a request for which nothing was taken yet.
    pub(crate) fn budgeted(&mut self, effect: &v1::BudgetEffect) {
        self.event.budget = Some(effect.clone());
    }

    /// Budgets and rates pay for it from now on, whatever its end.
    pub(crate) fn paid_by(&mut self, taken: Taken) {
        taken.tell(&mut self.event);
        self.taken = Some(taken);
    }

    /// What rates have left, for the answer's metadata.
    pub(crate) fn rates(&self) -> RatesLeft {
        self.taken.as_ref().map(Taken::rates).unwrap_or_default()
    }

    /// Makes sure that another call can be paid, of so much at most.
    pub(crate) async fn afford(&mut self, more: Money) -> Result<(), Short> {
        let Some(taken) = &mut self.taken else { return Ok(()) };
        if taken.afford(more, &self.event.attempts).await? {
            taken.tell(&mut self.event);
        }
        Ok(())
    }

    /// Gives back what was not used, once.
    pub(super) fn settle(&mut self) {
        if let Some(taken) = self.taken.take() {
            taken.settle(&self.event);
        }
    }
}
