//! Takes a request's worst case, or says what is in the way.

use crate::{
    alone::own_part_used_up,
    ask::{Ask, Waiter, available},
    calls::Refused,
    desk::{Desk, State},
    metrics::{self, Outcome},
    rates::{RateLack, RatesTaken},
    replica::Inner,
    reservation::Taken,
    views::Need,
};
use signalbox_budgeting::wallet::Hold;
use signalbox_ports::{Payer, Reservation, Short, Unlimited, Worst};
use signalbox_types::{ErrorReason, Failure, Money, Quota, QuotaViolation, shown};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// How often a request looks again after others were quicker.
const TRIES: usize = 32;
/// A request counts as admitted when it came, if it did not stand still since.
const PATIENCE: Duration = Duration::from_secs(5);

/// What was not there.
#[derive(Debug)]
pub(crate) enum Lack {
    /// It is not known what the request falls under, or that may have changed.
    Unknown,
    /// More of this.
    Of(Need),
    /// A moment ago the service refused just that.
    Refused(Failure),
}

impl Inner {
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        payer: &Payer,
        worst: Worst,
    ) -> Result<Box<dyn Reservation>, Short> {
        if payer.tenant_id.is_empty() {
            metrics::admission(Outcome::Unlimited);
            return Ok(Box::new(Unlimited));
        }
        let desk = self.desks.of(&payer.tenant_id);
        let taken = desk.lock().try_take(payer, worst, Instant::now(), self.calls.is_away());
        let outcome = match taken {
            Ok(taken) => Ok((taken, Outcome::Held)),
            Err(lack) => self.take_after_asking(&desk, payer, worst, lack).await,
        };
        match outcome {
            Ok((taken, outcome)) => {
                metrics::admission(outcome);
                Ok(taken.into_reservation(self.clone(), desk, payer.clone()))
            }
            Err(failure) => Err(refused(&desk, payer, failure)),
        }
    }

    async fn take_after_asking(
        self: &Arc<Self>,
        desk: &Arc<Desk>,
        payer: &Payer,
        worst: Worst,
        mut lack: Lack,
    ) -> Result<(Taken, Outcome), Failure> {
        let came = Instant::now();
        let mut waiter = Waiter::new(desk, payer);
        for _ in 0..TRIES {
            let need = match lack {
                Lack::Unknown => Need::of(worst),
                Lack::Of(need) => need,
                Lack::Refused(failure) => return Err(failure),
            };
            waiter.needs(need);
            let ask = Ask { need, full: worst.cost.nano_eur(), news: false };
            let answer = self.ask(desk, payer, ask).await;
            let at = admission_time(came);
            // What was just answered is good enough, also where later changes would not be heard of.
            let trust = answer.is_ok() || self.calls.is_away();
            match desk.lock().try_take(payer, worst, at, trust) {
                Ok(taken) => return Ok((taken, Outcome::Granted)),
                Err(next) => lack = next,
            }
            match answer {
                Ok(()) => {}
                Err(unmet) => match unmet.why {
                    // One who asked for more was refused, which says nothing of this one.
                    Refused::No(_) if !need.covers(&unmet.need) => {}
                    // One who has to wait was refused, which says nothing of one that waits in vain.
                    Refused::No(_) if unmet.need != need && desk.lock().never_fits(payer, worst) => {}
                    Refused::No(failure) => return Err(failure),
                    Refused::Away(why) => {
                        let replicas = self.heard.replicas();
                        return desk.lock().take_alone(payer, worst, at, replicas, &why);
                    }
                },
            }
        }
        Err(outrun(desk, payer))
    }
}

/// Others spent each time what was asked for. Where that was money, there is too little of it for all at once.
pub(crate) fn outrun(desk: &Desk, payer: &Payer) -> Failure {
    let message = "others were quicker to spend what was left";
    let short = desk.lock().tightest(payer, Instant::now(), |budget| budget.hard);
    let Some((budget_id, left)) = short else {
        return Failure::new(ErrorReason::Unavailable, format!("{message}; try again"));
    };
    let violation = QuotaViolation {
        subject: format!("tenant/{}/budget/{budget_id}", payer.tenant_id),
        description: format!("{left} is left, and many want it"),
    };
    let left = [("available_nano_eur".to_owned(), left.nano_eur().to_string())].into();
    let quota = Some(Box::new(Quota { violations: vec![violation], left }));
    let message = format!("{message} of the budget `{}`", shown(&budget_id));
    Failure { quota, ..Failure::new(ErrorReason::BudgetExhausted, message) }
}

/// What admits a request that waited. One that stood still is not admitted by what was in force before.
fn admission_time(came: Instant) -> Instant {
    let now = Instant::now();
    if now.saturating_duration_since(came) <= PATIENCE { came } else { now }
}

impl State {
    /// Takes the worst case from everything that the payer falls under, or from nothing. `trust`: what was known last
    /// must do.
    pub(crate) fn try_take(
        &mut self,
        payer: &Payer,
        worst: Worst,
        at: Instant,
        trust: bool,
    ) -> Result<Taken, Lack> {
        self.used(at);
        let Some(falls) = self.payers.get(payer).filter(|falls| falls.known && (trust || falls.is_fresh(at)))
        else {
            return Err(Lack::Unknown);
        };
        let budgets: Vec<&str> = falls.budgets.iter().map(|id| &**id).collect();
        let rates = self.rates.try_take(&falls.rates, falls.priority, worst.tokens, at);
        let hold = self.wallet.try_hold(&budgets, worst.cost, at.into_std());
        match (hold, rates) {
            (Ok(hold), Ok(rates)) => Ok(self.taken(payer, hold, rates, at)),
            (hold, rates) => {
                // What never fits is asked for as a whole, whatever is here and whoever else has to wait.
                let never_fits = self.rates.never_has(&falls.rates, worst.tokens);
                let need = Need {
                    cost: hold.as_ref().map_or_else(|missing| missing.to_ask().nano_eur(), |_| 0),
                    tokens: match rates {
                        Err(RateLack::Slice(_)) if never_fits => worst.tokens,
                        Err(RateLack::Slice(tokens)) => tokens,
                        Ok(_) | Err(RateLack::Own) => 0,
                    },
                };
                let refusal = match rates {
                    Err(RateLack::Own) => Some(own_part_used_up()),
                    _ => falls.refusal(&need, at).filter(|_| !never_fits).cloned(),
                };
                self.put_back(hold.ok(), rates.ok(), at);
                Err(refusal.map_or(Lack::Of(need), Lack::Refused))
            }
        }
    }

    fn never_fits(&self, payer: &Payer, worst: Worst) -> bool {
        let falls = self.payers.get(payer);
        falls.is_some_and(|falls| self.rates.never_has(&falls.rates, worst.tokens))
    }

    pub(crate) fn put_back(&mut self, hold: Option<Hold>, rates: Option<RatesTaken>, now: Instant) {
        if let Some(hold) = hold {
            self.wallet.settle(hold, Some(Money::ZERO));
        }
        if let Some(rates) = rates {
            self.rates.cancel(rates, now);
        }
    }
}

impl Need {
    fn of(worst: Worst) -> Self {
        Self { cost: worst.cost.nano_eur().max(0), tokens: worst.tokens }
    }
}

/// What the caller is told, with what could still be reserved.
pub(crate) fn refused(desk: &Desk, payer: &Payer, failure: Failure) -> Short {
    metrics::refused(failure.reason);
    let available = match failure.reason {
        ErrorReason::BudgetExhausted => could_reserve(desk, payer, &failure),
        _ => Money::ZERO,
    };
    Short { failure, available }
}

/// What the tightest budget could still pay: what is idle here and what the service says is free.
fn could_reserve(desk: &Desk, payer: &Payer, failure: &Failure) -> Money {
    let (state, now) = (desk.lock(), Instant::now());
    let Some(known) = state.allowance(payer, now) else { return Money::ZERO };
    match available(failure) {
        // A threshold that forbids to spend leaves nothing, whatever is free.
        Some(0) | None => Money::ZERO.max(state.idle(payer, now)).min(known),
        Some(free) => known.min(Money::from_nano_eur(free) + state.idle(payer, now)),
    }
}
