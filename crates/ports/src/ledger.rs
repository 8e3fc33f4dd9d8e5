//! Where the money of budgets moves.

use signalbox_api::v1::{LedgerEntry, Settlement, ledger_entry::Kind, settle_response::Refusal};
use std::{fmt, time::SystemTime};

/// The ledger. An account is one period of one budget; in each of them, always,
/// `free + leased + reserved + settled = limit`, where `leased` and `reserved` are what leases and reservations have
/// not returned or settled yet. Amounts are nano-EUR. Every method is one transaction, and safe to call again with the
/// same ids: nothing moves twice. Each movement is an entry that is never changed.
#[async_trait::async_trait]
pub trait Ledger: Send + Sync + fmt::Debug {
    /// Makes the tables of ledger and tenants, or brings them to this program's version.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn migrate(&self) -> Result<(), LedgerError>;

    /// Accounts as they stand; one that does not exist yet is opened with its limit.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn accounts(&self, accounts: &[Opening]) -> Result<Vec<Account>, LedgerError>;

    /// Grants a replica a lease of each account, of at least `needed`: all or none, locked in the order given.
    /// Of an account that is not `hard` it is granted whatever is free.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn grant(&self, ask: &GrantAsk) -> Result<Granted, LedgerError>;

    /// Leases of a replica that live on until `expires_at`. Those that are missing have ended or expired.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn renew(
        &self,
        replica_id: &str,
        lease_ids: &[String],
        now: SystemTime,
        expires_at: SystemTime,
    ) -> Result<Vec<LeaseState>, LedgerError>;

    /// Parts of leases come back. `return_id` makes it count once. Never more comes back than is outstanding.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn give_back(
        &self,
        replica_id: &str,
        return_id: &str,
        parts: &[(String, i64)],
    ) -> Result<(), LedgerError>;

    /// All that a replica spent is settled: what is left of its leases, also of orphaned ones, is free again, and so is
    /// what was written off of them. How much that was.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn end_replica(&self, replica_id: &str) -> Result<i64, LedgerError>;

    /// Sets money aside without a lease: in each account or in none.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn reserve(&self, ask: &ReserveAsk) -> Result<Reserved, LedgerError>;

    /// Books what was spent, each settlement once, whatever has become of its lease or reservation. An account is
    /// opened, with no limit, where it is not there.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn settle(&self, settlements: &[Settlement]) -> Result<Vec<Refusal>, LedgerError>;

    /// Leases that expired before `now` are orphans: nobody may spend from them, and what is left of them stays held.
    /// Those orphaned before `hopeless` are written off: what is left is booked as spent, by estimate, until later
    /// settlements show otherwise. Reservations that expired are released.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn sweep(&self, now: SystemTime, hopeless: SystemTime) -> Result<Swept, LedgerError>;

    /// Changes the limit of an account, once for each `source_id`.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn set_limit(&self, change: &LimitChange) -> Result<Account, LedgerError>;

    /// Entries, newest first.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn entries(&self, query: &EntryQuery) -> Result<Vec<LedgerEntry>, LedgerError>;

    /// Requests settled in a window of time, ordered by tenant, request and budget, after one of them: what the usage
    /// store is compared with. Write-offs are not among them.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn settled(&self, query: &SettledQuery) -> Result<Vec<SettledRequest>, LedgerError>;

    /// Replicas that hold a lease of an account and have not expired.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn holders(&self, key: &AccountKey, now: SystemTime) -> Result<Vec<LeaseState>, LedgerError>;

    /// How many replicas hold a lease, of whatever account, that has not expired.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn replicas(&self, now: SystemTime) -> Result<u32, LedgerError>;
}

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
    /// To this, but never below what is spent and held: then it fails with [`LedgerError::BelowSpend`].
    NotBelowSpend(i64),
}

/// Which entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryQuery {
    /// Whose.
    pub tenant_id: String,
    /// Only this budget.
    pub budget_id: Option<String>,
    /// Only this period.
    pub period_id: Option<String>,
    /// Only this request.
    pub request_id: Option<String>,
    /// Only these kinds; empty for all.
    pub kinds: Vec<Kind>,
    /// Only entries before this one.
    pub before: Option<u64>,
    /// At most so many.
    pub most: usize,
}

/// Which settled requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledQuery {
    /// Whose; empty for all.
    pub tenant_id: String,
    /// Request ids to look at; in the order of the answer.
    pub request_ids: Option<Vec<String>>,
    /// Settled from this time on.
    pub from: SystemTime,
    /// And before this.
    pub until: SystemTime,
    /// After this one: tenant, request, budget.
    pub after: Option<(String, String, String)>,
    /// At most so many.
    pub most: usize,
}

/// What one request was charged in one budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledRequest {
    /// Whose.
    pub tenant_id: String,
    /// Which request.
    pub request_id: String,
    /// Which budget.
    pub budget_id: String,
    /// How much.
    pub amount: i64,
}

/// The ledger did not do as it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The new limit is below what is spent and held.
    #[error("the limit would be below what is spent and held: {committed} nano-EUR")]
    BelowSpend {
        /// Spent and held.
        committed: i64,
    },
    /// The store cannot be reached, or failed. It is not known whether it was done: ask again with the same ids.
    #[error("the ledger is away: {0}")]
    Away(String),
}
