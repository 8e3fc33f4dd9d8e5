//! The words of the ledger: what its model and every store of it are asked, and answer. Amounts are nano-EUR.

use std::time::SystemTime;

/// One period of one budget.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountKey {
    /// Whose.
    pub tenant_id: String,
    /// Which budget.
    pub budget_id: String,
    /// Which period, as `BudgetStatus.period_id`.
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
    /// The accounts, in the order they are locked in: by budget id.
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
    /// Rather this: given as far as `free / (2 x replicas)` allows, which shrinks slices near the limit.
    pub wanted: i64,
    /// Names the lease that is made, or that grows: a replica has one of each account.
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
        /// Index of the one that has too little.
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
    /// Request or batch job.
    pub request_id: String,
    /// The accounts, by budget id.
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
        /// Index of the one that has too little.
        short: usize,
    },
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

/// A new limit of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitChange {
    /// Which account, opened with its limit where it is not there.
    pub account: Opening,
    /// The change.
    pub to: LimitTo,
    /// It counts once: a top-up's or an audit entry's id.
    pub source_id: String,
    /// Why.
    pub reason: String,
}

/// How a limit changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitTo {
    /// So much more.
    Raised(i64),
    /// To this, even below what is spent.
    Exactly(i64),
    /// To this, but never below what is spent and held: then it is refused.
    NotBelowSpend(i64),
}
