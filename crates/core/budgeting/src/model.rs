//! What the ledger must be: the same movements as the store's, in memory, in the plainest way.
//!
//! It is there to be compared with. A store that is driven with the same calls must give the same answers and the same
//! accounts, whatever their order, however often one comes again, and wherever a process dies between two.
//!
//! An account is one period of one budget. What it holds is not counted but looked up, so that nothing can be counted
//! twice:
//!
//! ```text
//! leased   = sum over its leases that live of   max(0, granted - returned - settled - written off)
//! reserved = sum over its orphaned leases of    the same
//!          + sum over its open reservations of  max(0, amount - settled)
//! free     = limit - settled - leased - reserved
//! ```
//!
//! **T1, no overspend.** A hard account grants and reserves no more than is free, so settled + held ≤ limit at any time,
//! as long as no request costs more than was set aside for it, and the limit is not cut below what is spent. A lease
//! whose replica is lost stays held: nobody can say which part of it was spent until its settlements have come, its
//! replica's end was told, or it is written off as spent. The properties below drive replicas with real wallets
//! against it, and let them, their answers and the ledger's sweeps die and come again in any order.

mod account;
mod grant;
mod lease;
mod settle;
mod sweep;
mod types;

use account::Line;
use lease::Lease;
use settle::Part;
use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::{
    Account, AccountKey, GrantAsk, Granted, LeaseState, LimitChange, LimitTo, Opening, ReserveAsk, Reserved,
    SliceAsk, Swept,
};
pub use account::BelowSpend;
pub use types::{Charge, Entry, Kind, Refusal, Settlement};

/// The ledger, in memory. Its methods are those of the port `Ledger`, and mean the same.
#[derive(Debug, Clone, Default)]
pub struct LedgerModel {
    lines: BTreeMap<AccountKey, Line>,
    leases: BTreeMap<String, Lease>,
    /// By reservation and account.
    parts: BTreeMap<(String, AccountKey), Part>,
    /// Leases of each grant, by its id.
    grants: BTreeMap<String, Vec<String>>,
    /// Ids of whatever else counts once.
    returns: BTreeSet<String>,
    reservations: BTreeSet<String>,
    settlements: BTreeSet<String>,
    /// By tenant, budget and source: sources are named by callers, each for their own.
    limit_changes: BTreeSet<(String, String, String)>,
    entries: Vec<Entry>,
}

impl LedgerModel {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every movement, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Every account as it stands.
    pub fn all_accounts(&self) -> Vec<Account> {
        self.lines.keys().map(|key| self.account(key)).collect()
    }

    fn enter(&mut self, kind: Kind, account: &AccountKey, amount: i64, hold_id: &str, source_id: &str) {
        let account = account.clone();
        let (hold_id, source_id) = (hold_id.to_owned(), source_id.to_owned());
        self.entries.push(Entry { account, kind, amount, hold_id, source_id });
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;
