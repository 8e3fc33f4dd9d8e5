//! What budgets and tenant leave to a request.

use crate::{
    ask::Ask,
    calls::{self, Refused},
    desk::State,
    metrics,
    replica::Inner,
    views::{BudgetView, Falls, cost, tiers_from},
};
use signalbox_api::v1::{self, BudgetEffect, budget_effect::Outcome};
use signalbox_ports::{Payer, SpendLimit, Standing};
use signalbox_types::{ErrorReason, Failure, Money, Tier};
use std::sync::Arc;
use tokio::time::Instant;

impl Inner {
    pub(crate) async fn standing(self: &Arc<Self>, payer: &Payer) -> Result<Standing, Failure> {
        if payer.tenant_id.is_empty() {
            return Ok(Standing::default());
        }
        let desk = self.desks.of(&payer.tenant_id);
        let ask = match desk.lock().fresh_standing(payer, self.calls.is_away()) {
            Ok(standing) => return standing,
            Err(ask) => ask,
        };
        let asked = self.ask(&desk, payer, ask).await;
        let why = match asked.map_err(|unmet| unmet.why) {
            Err(Refused::No(failure)) => {
                metrics::refused(failure.reason);
                return Err(failure);
            }
            Ok(()) => None,
            Err(Refused::Away(why)) => why,
        };
        let standing = desk.lock().standing(payer, Instant::now());
        standing.unwrap_or_else(|| Err(calls::away(&why)))
    }
}

impl State {
    /// What is known, or what to ask first. While the service is away, what was known last must do.
    fn fresh_standing(&mut self, payer: &Payer, away: bool) -> Result<Result<Standing, Failure>, Ask> {
        let now = Instant::now();
        self.used(now);
        let is_fresh = self.payers.get(payer).is_some_and(|falls| falls.is_fresh(now));
        if !is_fresh && !away {
            return Err(Ask::default());
        }
        if is_fresh && !away && self.may_have_more(payer, now) {
            return Err(Ask { news: true, ..Ask::default() });
        }
        self.standing(payer, now).ok_or_else(Ask::default)
    }

    /// Whether little was left of a budget, of which there may be more by now.
    fn may_have_more(&self, payer: &Payer, now: Instant) -> bool {
        let budgets = self.payers.get(payer).map(|falls| falls.budgets.as_slice()).unwrap_or_default();
        budgets
            .iter()
            .filter_map(|id| self.budgets.get(id))
            .any(|budget| budget.hard && budget.may_have_more(self.slices.slice(budget.limit), now))
    }

    /// What is known; `None` where nothing is.
    fn standing(&self, payer: &Payer, now: Instant) -> Option<Result<Standing, Failure>> {
        let falls = self.payers.get(payer).filter(|falls| falls.known)?;
        if let Some(tenant) = &self.tenant
            && tenant.state() == v1::tenant::State::Suspended
        {
            return Some(Err(suspended(&tenant.tenant_id)));
        }
        let budgets = || falls.budgets.iter().filter_map(|id| self.budgets.get(id));
        let tightest = self.tightest(payer, now, |budget| budget.hard);
        let best = budgets().filter_map(BudgetView::best_tier).max_by_key(|tier| rank(*tier));
        Some(Ok(Standing {
            tenant: self.tenant.clone(),
            tiers: best.map(tiers_from).unwrap_or_default(),
            limit: budgets().map(BudgetView::spend_limit).max().unwrap_or_default(),
            allowance: tightest.as_ref().map(|(_, left)| *left),
            held: tightest.as_ref().map(|(id, _)| self.held(id, now)).unwrap_or_default(),
            tightest: tightest.map(|(id, _)| id),
            acting: self.strictest(falls).filter(|(_, budget)| budget.acts()).map(|(id, _)| id.clone()),
            effect: self.effect(payer, now),
        }))
    }

    /// The most that the tightest hard budget could still pay, here or by asking.
    pub(crate) fn allowance(&self, payer: &Payer, now: Instant) -> Option<Money> {
        self.tightest(payer, now, |budget| budget.hard).map(|(_, left)| left)
    }

    /// What can be spent here, of every hard budget alike.
    pub(crate) fn idle(&self, payer: &Payer, now: Instant) -> Money {
        let hard = |id: &&Arc<str>| self.budgets.get(*id).is_some_and(|budget| budget.hard);
        let idle = |id: &Arc<str>| self.wallet.idle(id, now.into_std()).unwrap_or_default().max(Money::ZERO);
        let falls = self.payers.get(payer);
        let budgets = falls.map(|falls| falls.budgets.as_slice()).unwrap_or_default();
        budgets.iter().filter(hard).map(idle).min().unwrap_or_default()
    }

    /// What is leased of a budget and not idle here.
    fn held(&self, id: &str, now: Instant) -> Money {
        let leased = self.budgets.get(id).map(|budget| budget.leased).unwrap_or_default();
        let idle = self.wallet.idle(id, now.into_std()).unwrap_or_default().max(Money::ZERO);
        Money::from_nano_eur(leased.saturating_sub(idle.nano_eur()).max(0))
    }

    pub(crate) fn tightest(
        &self,
        payer: &Payer,
        now: Instant,
        which: impl Fn(&BudgetView) -> bool,
    ) -> Option<(Arc<str>, Money)> {
        let left = |id: &Arc<str>| {
            let budget = self.budgets.get(id).filter(|budget| which(budget))?;
            let idle = self.wallet.idle(id, now.into_std()).unwrap_or_default().nano_eur();
            Some(idle.saturating_add(budget.free.max(0)).max(0))
        };
        let falls = self.payers.get(payer)?;
        let (left, id) =
            falls.budgets.iter().filter_map(|id| Some((left(id)?, id))).min_by_key(|(left, _)| *left)?;
        Some((id.clone(), Money::from_nano_eur(left)))
    }

    /// The budget that closes most.
    fn strictest<'a>(&'a self, falls: &'a Falls) -> Option<(&'a Arc<str>, &'a BudgetView)> {
        let budgets = falls.budgets.iter().filter_map(|id| Some((id, self.budgets.get(id)?)));
        budgets.max_by_key(|(_, budget)| (budget.spend_limit(), budget.best_tier().map(rank)))
    }

    /// What to tell of it in an answer.
    pub(crate) fn effect(&self, payer: &Payer, now: Instant) -> BudgetEffect {
        let Some(falls) = self.payers.get(payer).filter(|falls| !falls.budgets.is_empty()) else {
            return BudgetEffect::default();
        };
        let strictest = self.strictest(falls).map(|(_, budget)| budget);
        let outcome = match strictest {
            None => Outcome::Admitted,
            Some(budget) => match budget.spend_limit() {
                SpendLimit::None if budget.best_tier().is_some() => Outcome::Downgraded,
                SpendLimit::None => Outcome::Admitted,
                SpendLimit::CacheOrBatchOnly => Outcome::CacheOrBatchOnly,
                SpendLimit::FreeOnly => Outcome::FreeOnly,
                SpendLimit::Refuse => Outcome::Unspecified,
            },
        };
        BudgetEffect {
            outcome: outcome.into(),
            threshold: strictest.map(|budget| budget.threshold.clone()).unwrap_or_default(),
            remaining: self.tightest(payer, now, |_| true).map(|(_, left)| cost(left)),
        }
    }
}

/// Cheaper is higher.
fn rank(tier: Tier) -> u8 {
    match tier {
        Tier::Premium => 0,
        Tier::Standard => 1,
        Tier::Economy => 2,
    }
}

fn suspended(tenant_id: &str) -> Failure {
    let message = format!("the tenant `{tenant_id}` is suspended: ask whoever runs this deployment");
    Failure::new(ErrorReason::PermissionDenied, message)
}
