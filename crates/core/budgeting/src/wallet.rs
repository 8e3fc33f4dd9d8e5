//! What a router replica may spend of one tenant's budgets without asking: its leases.
//!
//! A lease is a slice of one period of one budget. Here it is known by four sums:
//!
//! ```text
//! idle = granted - given back - spent - held
//! ```
//!
//! A request holds its worst case in every budget it falls under, or in none ([`Wallet::try_hold`]). It ends by
//! [`Wallet::settle`] with what it really cost.
//!
//! **T1, no overspend.** A hold is admitted only while `idle` covers it, so what is spent and held never exceeds what
//! was granted, as long as no request costs more than it held.
//!
//! **T2, a request costs more.** Then `idle` falls by the difference, below zero if need be, and nothing that costs
//! anything is admitted until grants have paid for the debt. With `N` requests under way that each cost at most the
//! share `e` more than their hold `c`, the excess is at most `N x e x c`.
//!
//! One wallet is one tenant's, behind one mutex that is never held for long: a hold and its settlement over two budgets
//! take a fraction of a microsecond (`cargo bench -p signalbox-budgeting`).

mod grant;
mod hold;
mod lease;
mod shelf;

use lease::Lease;
use shelf::Shelf;
use signalbox_types::Money;
use std::{collections::HashMap, sync::Arc, time::Instant};

pub use grant::{Grant, Return};
pub use hold::{Charge, Hold, Lack, Missing};

/// The leases that a replica holds for one tenant.
#[derive(Debug, Default)]
pub struct Wallet {
    leases: Shelf,
    /// By budget, the lease that is spent from. Others only wait for their holds to end.
    current: HashMap<Arc<str>, usize>,
}

impl Wallet {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `amount` aside in each of the budgets, which are all different, or in none. What costs nothing needs a lease
    /// too, so that it is told which budgets it fell under, but no money in it, and no time either.
    ///
    /// # Errors
    /// [`Missing`]: which budgets have too little here, and how much they have. Ask for more, call
    /// [`Wallet::grant`], and try again **with the time at which you asked**: the request was admitted then, so a
    /// lease that was granted in the last moment of a period still serves it.
    pub fn try_hold(&mut self, budgets: &[&str], amount: Money, now: Instant) -> Result<Hold, Missing> {
        let amount = amount.nano_eur().max(0);
        let mut places = Vec::with_capacity(budgets.len());
        for budget in budgets {
            match self.current.get(*budget) {
                Some(place) if self.leases.get(*place).is_some_and(|lease| lease.admits(amount, now)) => {
                    places.push(*place);
                }
                _ => return Err(self.missing(budgets, amount, now)),
            }
        }
        for place in &places {
            if let Some(lease) = self.leases.get_mut(*place) {
                lease.begin(amount, now);
            }
        }
        Ok(Hold { places, amount })
    }

    /// Makes a hold worth at least `amount` in all. The money comes from the leases it was admitted from, also where
    /// their period is over by now: a request is paid for in the period of its admission.
    ///
    /// # Errors
    /// [`Missing`]; the hold stays what it was.
    pub fn raise(&mut self, hold: &mut Hold, amount: Money) -> Result<(), Missing> {
        let more = amount.nano_eur().saturating_sub(hold.amount);
        if more <= 0 {
            return Ok(());
        }
        let short =
            |place: &&usize| self.leases.get(**place).filter(|lease| lease.idle() < more).map(Lease::lack);
        let lacks: Vec<Lack> = hold.places.iter().filter_map(|place| short(&place)).collect();
        if !lacks.is_empty() {
            return Err(Missing { needed: Money::from_nano_eur(more), lacks });
        }
        for place in &hold.places {
            if let Some(lease) = self.leases.get_mut(*place) {
                lease.hold(more);
            }
        }
        hold.amount += more;
        Ok(())
    }

    /// The request has ended and cost this; an unknown cost counts as the whole hold.
    pub fn settle(&mut self, hold: Hold, cost: Option<Money>) {
        let cost = cost.map_or(hold.amount, |cost| cost.nano_eur().max(0));
        for place in &hold.places {
            if let Some(lease) = self.leases.get_mut(*place) {
                lease.end(hold.amount, cost);
            }
        }
    }

    /// The request was lost without a word: what it held counts as spent.
    pub fn abandon(&mut self, hold: Hold) {
        self.settle(hold, None);
    }

    /// Which budgets pay, for the account.
    pub fn charges<'a>(&'a self, hold: &'a Hold) -> impl Iterator<Item = Charge<'a>> {
        let reserved = Money::from_nano_eur(hold.amount);
        hold.places.iter().filter_map(|place| self.leases.get(*place)).map(move |lease| Charge {
            budget_id: &lease.budget_id,
            period_id: &lease.period_id,
            lease_id: &lease.id,
            reserved,
        })
    }

    /// What can be spent of a budget here and now; negative for a debt, `None` without a lease that may be spent from.
    pub fn idle(&self, budget: &str, now: Instant) -> Option<Money> {
        let lease = self.leases.get(*self.current.get(budget)?)?;
        lease.is_usable(now).then(|| Money::from_nano_eur(lease.idle()))
    }

    /// The least that any of the budgets has here and now; zero where a lease is missing.
    pub fn available(&self, budgets: &[&str], now: Instant) -> Option<Money> {
        let idle = |budget: &&str| self.idle(budget, now).unwrap_or(Money::ZERO).max(Money::ZERO);
        budgets.iter().map(idle).min()
    }

    fn missing(&self, budgets: &[&str], amount: i64, now: Instant) -> Missing {
        let lack = |budget: &&str| {
            let lease = self.current.get(*budget).and_then(|place| self.leases.get(*place));
            let lease = lease.filter(|lease| lease.is_usable(now));
            if lease.is_some_and(|lease| lease.admits(amount, now)) {
                return None;
            }
            Some(lease.map_or_else(|| Lack { budget_id: (*budget).to_owned(), idle: None }, Lease::lack))
        };
        Missing { needed: Money::from_nano_eur(amount), lacks: budgets.iter().filter_map(lack).collect() }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
