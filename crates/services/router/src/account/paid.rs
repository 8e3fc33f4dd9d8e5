//! Who pays for a request, and what was taken for it.

use super::Account;
use crate::budget::{Purse, Taken};
use signalbox_api::v1::usage_event::Operation;
use signalbox_ports::{RatesLeft, Short};
use signalbox_types::{Failure, Money};

impl Account {
    /// What budgets say of a request for which nothing was taken yet; it is refused where they allow no answer.
    pub(crate) fn looked_into(&mut self, purse: Option<&Purse>) -> Result<(), Failure> {
        let Some(purse) = purse else { return Ok(()) };
        self.event.budget = Some(purse.effect().clone());
        purse.allows_answers()
    }

    /// Whether the answer is streamed.
    pub(crate) fn is_of_a_stream(&self) -> bool {
        self.event.operation() == Operation::StreamGenerate
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
