//! Whether a request may spend, and what it has spent.

use signalbox_api::v1::{BudgetEffect, Tenant, UsageCharge};
use signalbox_types::{Failure, Money, Tier};
use std::{fmt, sync::Arc};

/// Admits requests to the budgets and rates that they fall under. A replica spends from slices of them that it holds
/// (leases), so that most answers need nobody else.
#[async_trait::async_trait]
pub trait Admission: Send + Sync + fmt::Debug {
    /// Whether it admits everything, so that nobody need ask.
    fn is_unlimited(&self) -> bool {
        false
    }

    /// What budgets and tenant leave to a request, as known here. Nothing is taken yet.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for a suspended tenant; `UNAVAILABLE` where it cannot be found out and the tenant wants
    /// that to be an error.
    async fn standing(&self, payer: &Payer) -> Result<Standing, Failure>;

    /// Takes a request's worst case from every budget and rate it falls under, or from none.
    ///
    /// # Errors
    /// `BUDGET_EXHAUSTED`, with what would still be possible in [`Short`]; `RATE_LIMITED` with the wait.
    async fn reserve(&self, payer: &Payer, worst: Worst) -> Result<Box<dyn Reservation>, Short>;
}

/// Who pays for a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Payer {
    /// The tenant; empty for requests that name none.
    pub tenant_id: String,
    /// The API key used; empty without authentication.
    pub key_id: String,
    /// The scene; empty for none.
    pub scene: String,
}

/// The most that a request can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Worst {
    /// Money.
    pub cost: Money,
    /// Tokens, prompt and answer together.
    pub tokens: u64,
}

/// What is left to a payer.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    /// The tenant's rules; `None` where it is not in the tenant store, and none apply.
    pub tenant: Option<Arc<Tenant>>,
    /// Tiers that its budgets leave open, dearest first; empty for any, also none.
    pub tiers: Vec<Tier>,
    /// Which answers may still be given.
    pub limit: SpendLimit,
    /// The most that the tightest hard budget could still pay; `None` without one. A model whose price is not known
    /// cannot be paid from a hard budget.
    pub allowance: Option<Money>,
    /// Which budget that is.
    pub tightest: Option<Arc<str>>,
    /// What others hold of it for requests under way, as last heard: some of it comes back.
    pub held: Money,
    /// The budget whose threshold closes tiers or limits answers; `None` where none does.
    pub acting: Option<Arc<str>>,
    /// What to tell of it in `Route.budget`.
    pub effect: BudgetEffect,
}

/// Which answers a budget still allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum SpendLimit {
    /// All.
    #[default]
    None,
    /// Cached ones, and those of the batch lane.
    CacheOrBatchOnly,
    /// Those of models that cost nothing.
    FreeOnly,
    /// No more.
    Refuse,
}

/// What was taken for a request. Dropped without a word, it counts as spent whole. A call of [`Reservation::raise`] that
/// is dropped half way has taken all that it was to take, or nothing.
#[async_trait::async_trait]
pub trait Reservation: Send + Sync + fmt::Debug {
    /// The budgets that pay, for the account.
    fn charges(&self) -> &[UsageCharge];

    /// What to tell of it in `Route.budget`.
    fn effect(&self) -> BudgetEffect;

    /// What the tightest of the rates has left after it, for the answer's `x-ratelimit-*` metadata.
    fn rates(&self) -> RatesLeft {
        RatesLeft::default()
    }

    /// Makes it worth at least `cost` in all, before another call is made that could cost more.
    ///
    /// # Errors
    /// As [`Admission::reserve`]; what was reserved stays so.
    async fn raise(&mut self, cost: Money) -> Result<(), Short>;

    /// The request has ended and used this; what is left can be spent by others. An unknown cost counts as the whole
    /// reservation. Cost may be above what was reserved: then the budget is in debt.
    fn settle(self: Box<Self>, cost: Option<Money>, tokens: u64);
}

/// What rates have left. `None` for what is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RatesLeft {
    /// Requests.
    pub requests: Option<RateLeft>,
    /// Tokens.
    pub tokens: Option<RateLeft>,
}

/// What a rate has left, as far as it is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLeft {
    /// How many a minute.
    pub limit: u64,
    /// How many of them are left now.
    pub remaining: u64,
}

/// Not enough is left.
#[derive(Debug, Clone)]
pub struct Short {
    /// What to tell the caller: `BUDGET_EXHAUSTED` or `RATE_LIMITED`.
    pub failure: Failure,
    /// What could still be reserved; zero for a rate.
    pub available: Money,
}

/// Admits everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

#[async_trait::async_trait]
impl Admission for Unlimited {
    fn is_unlimited(&self) -> bool {
        true
    }

    async fn standing(&self, _: &Payer) -> Result<Standing, Failure> {
        Ok(Standing::default())
    }

    async fn reserve(&self, _: &Payer, _: Worst) -> Result<Box<dyn Reservation>, Short> {
        Ok(Box::new(Self))
    }
}

#[async_trait::async_trait]
impl Reservation for Unlimited {
    fn charges(&self) -> &[UsageCharge] {
        &[]
    }

    fn effect(&self) -> BudgetEffect {
        BudgetEffect::default()
    }

    async fn raise(&mut self, _: Money) -> Result<(), Short> {
        Ok(())
    }

    fn settle(self: Box<Self>, _: Option<Money>, _: u64) {}
}
