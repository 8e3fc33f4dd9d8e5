//! The words of the ledger.

use std::time::SystemTime;

/// One period of one budget.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountKey {
    /// Whose.
    pub tenant_id: String,
    /// Which budget.
    pub budget_id: String,
    /// Which period.
    pub period_id: String,
}

/// An account that is opened when first asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Which.
    pub key: AccountKey,
    /// Its limit at first.
    pub limit: i64,
    /// Whether more than the limit is never granted.
    pub hard: bool,
}

/// How an account stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Which.
    pub key: AccountKey,
    /// Its limit with all changes.
    pub limit: i64,
    /// Spent for good, with what was written off.
    pub settled: i64,
    /// Held by reservations, and by orphaned leases.
    pub reserved: i64,
    /// Held by leases that live.
    pub leased: i64,
}

impl Account {
    /// In nobody's hands; negative when more was spent than the limit.
    pub fn free(&self) -> i64 {
        self.limit - self.settled - self.reserved - self.leased
    }
}

/// Who wants leases, and of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantAsk {
    /// The replica.
    pub replica_id: String,
    /// The same id again gives the same grant.
    pub grant_id: String,
    /// The accounts.
    pub accounts: Vec<SliceAsk>,
    /// Now.
    pub now: SystemTime,
    /// When the leases expire.
    pub expires_at: SystemTime,
}

/// What is wanted of one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceAsk {
    /// Which.
    pub account: Opening,
    /// At least this.
    pub needed: i64,
    /// Rather this.
    pub wanted: i64,
    /// Names the lease, if a new one is made.
    pub lease_id: String,
}

/// What came of a wish for leases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// One for each account, in their order, each with the account after it.
    All(Vec<(LeaseState, Account)>),
    /// An account has too little; nothing was granted.
    Short {
        /// The accounts, in their order, as they stand.
        accounts: Vec<Account>,
        /// Index of the first that has too little.
        short: usize,
    },
}

/// A lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseState {
    /// Its id.
    pub lease_id: String,
    /// Of what.
    pub account: AccountKey,
    /// Who holds it.
    pub replica_id: String,
    /// All that was granted so far.
    pub granted: i64,
    /// What has neither come back nor been settled.
    pub outstanding: i64,
    /// When it expires.
    pub expires_at: SystemTime,
}

/// Money for one spender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReserveAsk {
    /// The same id again gives the same reservation.
    pub reservation_id: String,
    /// The accounts.
    pub accounts: Vec<Opening>,
    /// How much of each.
    pub amount: i64,
    /// When it is released.
    pub expires_at: SystemTime,
}

/// What came of a wish for a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    /// It is made; the accounts after it.
    All(Vec<Account>),
    /// An account has too little; nothing was reserved.
    Short {
        /// The accounts as they stand.
        accounts: Vec<Account>,
        /// Index of the first that has too little.
        short: usize,
    },
}

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

/// What a sweep found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Leases that expired.
    pub orphaned: Vec<LeaseState>,
    /// Leases that were written off, with what was left of each.
    pub written_off: Vec<LeaseState>,
    /// Reservations that were released.
    pub released: u64,
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
