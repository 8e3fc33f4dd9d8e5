//! What was taken of budgets and rates for a request, from the first vendor call to the request's end.

use signalbox_api::v1;
use signalbox_ports::{RatesLeft, Reservation, Short};
use signalbox_types::Money;

/// A reservation, and how much money it is worth.
#[derive(Debug)]
pub(crate) struct Taken {
    reservation: Box<dyn Reservation>,
    worth: Money,
    effect: v1::BudgetEffect,
}

impl Taken {
    pub(super) fn new(reservation: Box<dyn Reservation>, worth: Money, effect: v1::BudgetEffect) -> Self {
        Self { reservation, worth, effect }
    }

    /// Writes into an account who pays, and what the budget did.
    pub(crate) fn tell(&self, event: &mut v1::UsageEvent) {
        event.charges = self.reservation.charges().to_vec();
        event.budget = Some(self.effect.clone());
    }

    pub(crate) fn rates(&self) -> RatesLeft {
        self.reservation.rates()
    }

    /// Makes sure that another call can be paid, of so much at most. `attempts` are those made until now.
    pub(crate) async fn afford(&mut self, more: Money, attempts: &[v1::UsageAttempt]) -> Result<bool, Short> {
        let needed = self.spent(attempts) + more;
        if needed <= self.worth {
            return Ok(false);
        }
        self.reservation.raise(needed).await?;
        self.worth = needed;
        Ok(true)
    }

    /// What attempts have cost; where that is unknown, all that was set aside for them.
    fn spent(&self, attempts: &[v1::UsageAttempt]) -> Money {
        let costs = attempts.iter().filter_map(|attempt| attempt.attempt.as_ref()?.cost.as_ref());
        let mut unknown = false;
        let known: Money = costs
            .inspect(|cost| unknown |= cost.unknown)
            .map(|cost| Money::from_nano_eur(cost.nano_eur))
            .sum();
        if unknown { known.max(self.worth) } else { known }
    }

    /// The request has ended: what it did not use is given back, by the cost that its account tells.
    pub(crate) fn settle(self, event: &v1::UsageEvent) {
        let cost = event.cost.as_ref().map(|cost| (Money::from_nano_eur(cost.nano_eur), cost.unknown));
        // Of an unknown cost a part is known, which may be more than was set aside.
        let cost = cost.filter(|(known, unknown)| !unknown || *known > self.worth).map(|(known, _)| known);
        let usage = event.usage.unwrap_or_default();
        let tokens = [
            usage.input_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            usage.cache_write_1h_tokens,
            usage.output_tokens,
            usage.reasoning_tokens,
        ];
        let tokens = tokens.into_iter().fold(0, u64::saturating_add);
        self.reservation.settle(cost, tokens);
    }
}
