//! Admission while the budget service is away and leases are spent: as the tenant wants it.

use crate::{
    calls::{self, Why},
    desk::State,
    metrics::Outcome,
    reservation::Taken,
    views::{BudgetView, Falls},
};
use signalbox_api::v1::{UsageCharge, tenant::FailureMode};
use signalbox_ports::{Payer, Worst};
use signalbox_types::{ErrorReason, Failure};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

impl State {
    /// What the payer may take though nobody can be asked. A tenant that never said otherwise gets nothing beyond its
    /// leases; one that wants to go on gets this replica's part of its rates, and what its soft budgets would pay. A
    /// hard budget never pays more than was leased.
    pub(crate) fn take_alone(
        &mut self,
        payer: &Payer,
        worst: Worst,
        now: Instant,
        replicas: u32,
        why: &Why,
    ) -> Result<(Taken, Outcome), Failure> {
        let goes_on = self.tenant.as_ref().is_some_and(|tenant| tenant.failure_mode() == FailureMode::Open);
        let Some(falls) = self.payers.get(payer).filter(|falls| falls.known && goes_on) else {
            return Err(calls::away(why));
        };
        let leased: Vec<&str> =
            falls.budgets.iter().map(|id| &**id).filter(|id| self.pays(id, worst, now)).collect();
        let unpaid: Vec<UsageCharge> = unpaid(self, falls, &leased, worst).ok_or_else(|| calls::away(why))?;
        let hold = self.wallet.try_hold(&leased, worst.cost, now.into_std()).map_err(|_| calls::away(why))?;
        let places = falls.rates.clone();
        self.rates.replicas = replicas;
        match self.rates.try_own(&places, falls.priority, worst.tokens, now) {
            Some(rates) => {
                let mut taken = self.taken(payer, hold, rates, now);
                taken.charges.extend(unpaid);
                Ok((taken, Outcome::Open))
            }
            None => {
                self.put_back(Some(hold), None, now);
                Err(own_part_used_up())
            }
        }
    }

    fn pays(&self, budget_id: &str, worst: Worst, now: Instant) -> bool {
        self.wallet.idle(budget_id, now.into_std()).is_some_and(|idle| idle >= worst.cost)
    }
}

/// What soft budgets will owe that nobody leased from; `None` where a hard one is among them.
fn unpaid(state: &State, falls: &Falls, leased: &[&str], worst: Worst) -> Option<Vec<UsageCharge>> {
    let without_lease = falls.budgets.iter().filter(|id| !leased.contains(&&***id));
    without_lease.map(|id| charge(id, state.budgets.get(id).filter(|budget| !budget.hard)?, worst)).collect()
}

fn charge(budget_id: &Arc<str>, budget: &BudgetView, worst: Worst) -> Option<UsageCharge> {
    Some(UsageCharge {
        budget_id: budget_id.to_string(),
        period_id: budget.period_id.clone(),
        reserved_nano_eur: worst.cost.nano_eur(),
        ..Default::default()
    })
}

pub(crate) fn own_part_used_up() -> Failure {
    let message =
        "this replica's part of the rate limit is used up, and who hands out more is away; try again";
    Failure { retry_after: Some(Duration::from_secs(1)), ..Failure::new(ErrorReason::RateLimited, message) }
}
