//! Where the money of budgets moves.

use signalbox_api::v1::{LedgerEntry, Settlement, ledger_entry::Kind, settle_response::Refusal};
use std::{fmt, time::SystemTime};

pub use signalbox_budgeting::ledger::{
    Account, AccountKey, GrantAsk, Granted, LeaseState, LimitChange, LimitTo, Opening, ReserveAsk, Reserved,
    SliceAsk, Swept,
};

/// The ledger. An account is one period of one budget; in each of them, always,
/// `free + leased + reserved + settled = limit`, where `leased` and `reserved` are what leases and reservations have
/// not returned or settled yet. Amounts are nano-EUR. Every method is one transaction, and safe to call again with the
/// same ids: nothing moves twice. Each movement is an entry that is never changed, and stays until it is pruned.
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

    /// Deletes what was made before a time and holds nothing any more, at most `at_once` of each kind of row: entries,
    /// but for those of limits, with what makes their operations count once; leases that have ended or were written
    /// off; reservations that were released. What the entries came to is carried forward, and no account changes.
    /// A repeat of an operation that old is a new one. Does nothing while another process does it.
    ///
    /// # Errors
    /// See [`LedgerError`].
    async fn prune(&self, before: SystemTime, at_once: usize) -> Result<Pruned, LedgerError>;

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

/// What one call of [`Ledger::prune`] deleted, and what it left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Entries that are gone.
    pub entries: u64,
    /// Operations that would not be known again.
    pub operations: u64,
    /// Leases that are gone.
    pub leases: u64,
    /// Parts of reservations that are gone, one for each account.
    pub reservations: u64,
    /// From when the oldest entry is that is not there for good. `None` where there is none, and where another process
    /// is at it.
    pub oldest: Option<SystemTime>,
    /// There may be more to delete.
    pub more: bool,
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
    /// The store's disk is full: nothing was done, and nothing is until there is room.
    #[error("the ledger's disk is full: {0}")]
    Full(String),
    /// The store cannot be reached, or failed. It is not known whether it was done: ask again with the same ids.
    #[error("the ledger is away: {0}")]
    Away(String),
}
