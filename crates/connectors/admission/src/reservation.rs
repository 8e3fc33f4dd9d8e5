//! What was taken for one request.

use crate::{
    ask::{Ask, Waiter},
    calls::{self, Refused},
    desk::{Desk, State},
    rates::RatesTaken,
    replica::Inner,
    reserve::{outrun, refused},
    views::Need,
};
use signalbox_api::v1::{BudgetEffect, UsageCharge};
use signalbox_budgeting::wallet::{Hold, Missing, Wallet};
use signalbox_ports::{Payer, RatesLeft, Reservation, Short};
use signalbox_types::{Failure, Money};
use std::sync::Arc;
use tokio::time::Instant;

/// How often more is looked for after others were quicker; a lease that is over gets no more at all.
const TRIES: usize = 3;

/// What was taken, before anybody is told.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) hold: Hold,
    pub(crate) rates: RatesTaken,
    pub(crate) charges: Vec<UsageCharge>,
    pub(crate) effect: BudgetEffect,
    pub(crate) left: RatesLeft,
}

impl Taken {
    pub(crate) fn into_reservation(
        self,
        inner: Arc<Inner>,
        desk: Arc<Desk>,
        payer: Payer,
    ) -> Box<dyn Reservation> {
        let Self { hold, rates, charges, effect, left } = self;
        Box::new(Held { inner, desk, payer, open: Some((hold, rates)), charges, effect, left })
    }
}

impl State {
    /// With what the account and the answer say of it.
    pub(crate) fn taken(&self, payer: &Payer, hold: Hold, rates: RatesTaken, now: Instant) -> Taken {
        let left = match self.payers.get(payer) {
            Some(falls) => self.rates.left(&falls.rates, falls.priority, now),
            None => RatesLeft::default(),
        };
        Taken { charges: charges(&self.wallet, &hold), effect: self.effect(payer, now), left, hold, rates }
    }
}

/// The leases that pay.
fn charges(wallet: &Wallet, hold: &Hold) -> Vec<UsageCharge> {
    let charges = wallet.charges(hold).map(|charge| UsageCharge {
        budget_id: charge.budget_id.to_owned(),
        period_id: charge.period_id.to_owned(),
        lease_id: charge.lease_id.to_owned(),
        reservation_id: String::new(),
        reserved_nano_eur: charge.reserved.nano_eur(),
    });
    charges.collect()
}

/// A reservation out of leases.
#[derive(Debug)]
struct Held {
    inner: Arc<Inner>,
    desk: Arc<Desk>,
    payer: Payer,
    /// Until it is settled.
    open: Option<(Hold, RatesTaken)>,
    charges: Vec<UsageCharge>,
    effect: BudgetEffect,
    left: RatesLeft,
}

impl Held {
    fn try_raise(&mut self, cost: Money) -> Result<(), Missing> {
        let Some((hold, _)) = &mut self.open else { return Ok(()) };
        self.desk.lock().wallet.raise(hold, cost)?;
        for charge in &mut self.charges {
            charge.reserved_nano_eur = charge.reserved_nano_eur.max(cost.nano_eur());
        }
        Ok(())
    }

    async fn raise_after_asking(&mut self, cost: Money, mut missing: Missing) -> Result<(), Failure> {
        let (desk, payer) = (self.desk.clone(), self.payer.clone());
        let mut waiter = Waiter::new(&desk, &payer);
        for _ in 0..TRIES {
            let need = Need { cost: missing.to_ask().nano_eur(), tokens: 0 };
            let ask = Ask { need, full: missing.needed.nano_eur(), news: false };
            waiter.needs(need);
            let answer = self.inner.ask(&desk, &payer, ask).await;
            match self.try_raise(cost) {
                Ok(()) => return Ok(()),
                Err(next) => missing = next,
            }
            match answer.map_err(|unmet| (need.covers(&unmet.need), unmet.why)) {
                Ok(()) | Err((false, Refused::No(_))) => {}
                Err((true, Refused::No(failure))) => return Err(failure),
                Err((_, Refused::Away(why))) => return Err(calls::away(&why)),
            }
        }
        Err(outrun(&desk, &payer))
    }
}

#[async_trait::async_trait]
impl Reservation for Held {
    fn charges(&self) -> &[UsageCharge] {
        &self.charges
    }

    fn effect(&self) -> BudgetEffect {
        self.effect.clone()
    }

    fn rates(&self) -> RatesLeft {
        self.left
    }

    async fn raise(&mut self, cost: Money) -> Result<(), Short> {
        let Err(missing) = self.try_raise(cost) else { return Ok(()) };
        let raised = self.raise_after_asking(cost, missing).await;
        raised.map_err(|failure| refused(&self.desk, &self.payer, failure))
    }

    fn settle(mut self: Box<Self>, cost: Option<Money>, tokens: u64) {
        if let Some((hold, rates)) = self.open.take() {
            let mut state = self.desk.lock();
            state.wallet.settle(hold, cost);
            state.rates.settle(rates, Some(tokens), Instant::now());
        }
    }
}

/// Lost without a word: all of it counts as spent.
impl Drop for Held {
    fn drop(&mut self) {
        if let Some((hold, rates)) = self.open.take() {
            let mut state = self.desk.lock();
            state.wallet.abandon(hold);
            state.rates.settle(rates, None, Instant::now());
        }
    }
}
