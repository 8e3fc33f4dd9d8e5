//! What one request holds, and what it lacks.

use signalbox_types::Money;

/// What one request holds in every budget that it falls under. It ends by [`Wallet::settle`](super::Wallet::settle) or
/// [`Wallet::abandon`](super::Wallet::abandon), of the wallet that gave it, and once, for it cannot be copied.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a hold that is not settled keeps its money from everybody"]
pub struct Hold {
    /// Where its leases stand: they stay there while it is open.
    pub(super) places: Vec<usize>,
    pub(super) amount: i64,
}

impl Hold {
    /// How much is held in each budget.
    pub fn amount(&self) -> Money {
        Money::from_nano_eur(self.amount)
    }
}

/// A budget that pays for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge<'a> {
    /// Which budget.
    pub budget_id: &'a str,
    /// Which period of it: the one of the request's admission.
    pub period_id: &'a str,
    /// The lease.
    pub lease_id: &'a str,
    /// How much is held.
    pub reserved: Money,
}

/// There is too little here; nothing was held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// How much each budget would have needed.
    pub needed: Money,
    /// Those that have less, in the order in which they were named.
    pub lacks: Vec<Lack>,
}

/// A budget that has too little here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// Which.
    pub budget_id: String,
    /// What it has; negative for a debt. `None` without a lease that may be spent from.
    pub idle: Option<Money>,
}

impl Missing {
    /// What must be granted at least, of every budget alike, for the request to pass: debts included.
    pub fn to_ask(&self) -> Money {
        let lacking = |lack: &Lack| {
            self.needed.nano_eur().saturating_sub(lack.idle.unwrap_or_default().nano_eur()).max(0)
        };
        Money::from_nano_eur(self.lacks.iter().map(lacking).max().unwrap_or_default())
    }
}
