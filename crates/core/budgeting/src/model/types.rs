//! What is said to the model in words of its own: the wire has its settlements and entries.

use crate::ledger::AccountKey;

/// What one request really spent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settlement {
    /// It counts once.
    pub settlement_id: String,
    /// Whose; may be empty while the lease or reservation is known.
    pub tenant_id: String,
    /// The budgets that pay.
    pub charges: Vec<Charge>,
    /// How much.
    pub amount: i64,
    /// More settlements of the reservation follow.
    pub more_follow: bool,
}

/// A budget that pays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Charge {
    /// Which.
    pub budget_id: String,
    /// In which period.
    pub period_id: String,
    /// The lease; empty for a reservation.
    pub lease_id: String,
    /// The reservation; empty for a lease.
    pub reservation_id: String,
}

/// A settlement that can never be booked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which.
    pub settlement_id: String,
    /// Why.
    pub reason: &'static str,
}

/// A movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Of which account.
    pub account: AccountKey,
    /// What happened.
    pub kind: Kind,
    /// How much; negative for a limit that fell, and for what a settlement replaced of a write-off.
    pub amount: i64,
    /// Lease or reservation; empty for none.
    pub hold_id: String,
    /// Grant, return, settlement or limit change it was done for; empty for none.
    pub source_id: String,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The limit was set or changed.
    Limit,
    /// A lease was granted or grew.
    Grant,
    /// A part of a lease came back.
    Return,
    /// Money was reserved.
    Reserve,
    /// What was left of a reservation was set free.
    Release,
    /// Money was spent.
    Settle,
    /// What is left of a lease is held.
    Orphan,
    /// What is left of a lease counts as spent.
    WriteOff,
}
