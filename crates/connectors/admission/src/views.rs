//! What a replica knows of a tenant's budgets and of what its requests fall under.

use signalbox_api::{convert::tier_from_proto, v1, v1::budget::Action};
use signalbox_ports::SpendLimit;
use signalbox_types::{Failure, Money, Tier};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// What is free is asked for anew when it is little and was heard of so long ago.
const NEWS_OF_LITTLE: Duration = Duration::from_secs(1);
/// So many slices are little: a request that is refused for want of money should need no more than that.
const LITTLE: i64 = 10;

/// A budget, as last heard of.
#[derive(Debug, Clone)]
pub(crate) struct BudgetView {
    pub(crate) hard: bool,
    pub(crate) period_id: String,
    pub(crate) limit: i64,
    pub(crate) free: i64,
    /// In the hands of routers, this one included.
    pub(crate) leased: i64,
    /// In force, and what it does.
    pub(crate) threshold: String,
    pub(crate) action: Action,
    pub(crate) tier: Option<Tier>,
    heard_at: Instant,
}

impl BudgetView {
    /// Of a budget with its status.
    pub(crate) fn of(budget: &v1::Budget, heard_at: Instant) -> Self {
        let status = budget.status.clone().unwrap_or_default();
        Self {
            hard: budget.enforcement() != v1::budget::Enforcement::Soft,
            limit: status.limit_nano_eur,
            free: status.free_nano_eur,
            leased: status.leased_nano_eur,
            action: status.action(),
            tier: tier_from_proto(status.tier()),
            period_id: status.period_id,
            threshold: status.threshold,
            heard_at,
        }
    }

    /// Whether little was left when it was last heard of, and there may be more by now.
    pub(crate) fn may_have_more(&self, slice: i64, now: Instant) -> bool {
        self.free < slice.saturating_mul(LITTLE)
            && now.saturating_duration_since(self.heard_at) >= NEWS_OF_LITTLE
    }

    /// Whether the other was heard of later.
    pub(crate) fn is_older_than(&self, other: &Self) -> bool {
        (&self.period_id, self.heard_at) < (&other.period_id, other.heard_at)
    }

    /// Which answers it still allows.
    pub(crate) fn spend_limit(&self) -> SpendLimit {
        match self.action {
            Action::Unspecified | Action::Notify | Action::LimitTier => SpendLimit::None,
            Action::CacheOrBatchOnly => SpendLimit::CacheOrBatchOnly,
            Action::FreeOnly => SpendLimit::FreeOnly,
            Action::Refuse => SpendLimit::Refuse,
        }
    }

    /// Whether it leaves less than all open.
    pub(crate) fn acts(&self) -> bool {
        self.spend_limit() != SpendLimit::None || self.tier.is_some()
    }

    /// The best tier that it leaves open; `None` for any.
    pub(crate) fn best_tier(&self) -> Option<Tier> {
        self.tier
    }
}

/// What a payer's requests fall under.
#[derive(Debug, Default)]
pub(crate) struct Falls {
    /// Whether the service ever said.
    pub(crate) known: bool,
    /// Budgets, by id.
    pub(crate) budgets: Vec<Arc<str>>,
    /// Who goes first when rates are short.
    pub(crate) priority: i32,
    /// Rates, by their place.
    pub(crate) rates: Vec<usize>,
    /// Until when this holds, where nothing is leased that would tell of changes.
    pub(crate) until: Option<Instant>,
    /// Something may have changed.
    pub(crate) stale: bool,
    /// What requests wait for that found too little here.
    pub(crate) waiting: Need,
    /// What was refused last.
    pub(crate) refused: Option<Memory>,
    /// Others have just been asked to give back what is idle, and it did not help.
    pub(crate) hopeless_until: Option<Instant>,
}

/// What is needed at least, more than there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Need {
    /// Nano-EUR, of every budget alike.
    pub(crate) cost: i64,
    pub(crate) tokens: u64,
}

/// A refusal that is remembered for a moment, so that a crowd that is refused does not ask one by one.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) need: Need,
    pub(crate) failure: Failure,
    pub(crate) until: Instant,
}

impl Need {
    /// Whether whoever was refused that would be refused this too.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.cost >= other.cost && self.tokens >= other.tokens
    }

    /// At most so much money, but not less than `least`.
    pub(crate) fn up_to(self, most: i64, least: Self) -> Self {
        Self { cost: self.cost.min(most).max(least.cost), ..self }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { cost: self.cost.saturating_add(other.cost), tokens: self.tokens.saturating_add(other.tokens) }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            cost: self.cost.saturating_sub(other.cost).max(0),
            tokens: self.tokens.saturating_sub(other.tokens),
        }
    }
}

impl Falls {
    /// Whether it need not be asked for.
    pub(crate) fn is_fresh(&self, now: Instant) -> bool {
        self.known && !self.stale && self.until.is_none_or(|until| now < until)
    }

    /// Why a need is refused without asking again.
    pub(crate) fn refusal(&self, need: &Need, now: Instant) -> Option<&Failure> {
        let memory = self.refused.as_ref().filter(|memory| now < memory.until)?;
        need.covers(&memory.need).then_some(&memory.failure)
    }

    pub(crate) fn is_waited_for(&self) -> bool {
        self.waiting != Need::default()
    }
}

/// The tiers that are left below and at `best`.
pub(crate) fn tiers_from(best: Tier) -> Vec<Tier> {
    [Tier::Premium, Tier::Standard, Tier::Economy].into_iter().skip_while(|tier| *tier != best).collect()
}

/// An amount as the wire tells it.
pub(crate) fn cost(amount: Money) -> v1::Cost {
    v1::Cost { nano_eur: amount.nano_eur(), ..Default::default() }
}
