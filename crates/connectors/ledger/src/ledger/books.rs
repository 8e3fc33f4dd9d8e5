//! Accounts that are locked, with what is held of them: changed by plain arithmetic, and written together.

use super::{
    account::{self, Line},
    entry::{self, Entry},
    lease::{self, Lease, state},
    reservation::{self, PartId, Reservation},
};
use signalbox_ports::ledger::{Account, AccountKey};
use signalbox_sql::Session;
use std::collections::{BTreeMap, BTreeSet};

/// The books of one transaction.
#[derive(Debug)]
pub(super) struct Books {
    pub(super) now: i64,
    accounts: BTreeMap<AccountKey, Line>,
    /// Locked, or made here.
    pub(super) leases: BTreeMap<String, Lease>,
    /// Their accounts are locked.
    pub(super) reservations: BTreeMap<PartId, Reservation>,
    entries: Vec<Entry>,
    changed_accounts: BTreeSet<AccountKey>,
    changed_leases: BTreeSet<String>,
    changed_reservations: BTreeSet<PartId>,
}

impl Books {
    pub(super) fn new(accounts: BTreeMap<AccountKey, Line>, entries: Vec<Entry>, now: i64) -> Self {
        Self {
            now,
            accounts,
            leases: BTreeMap::new(),
            reservations: BTreeMap::new(),
            entries,
            changed_accounts: BTreeSet::new(),
            changed_leases: BTreeSet::new(),
            changed_reservations: BTreeSet::new(),
        }
    }

    pub(super) fn account(&self, key: &AccountKey) -> Account {
        self.accounts.get(key).map_or_else(|| nothing(key), Line::account)
    }

    pub(super) fn free(&self, key: &AccountKey) -> i64 {
        self.accounts.get(key).map_or(0, Line::free)
    }

    /// Notes a movement.
    pub(super) fn enter(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Changes an account in what nobody holds.
    pub(super) fn change_account(&mut self, key: &AccountKey, change: impl FnOnce(&mut Line)) {
        if let Some(line) = self.accounts.get_mut(key) {
            change(line);
            self.changed_accounts.insert(key.clone());
        }
    }

    /// Changes a lease, and what its account says is held.
    pub(super) fn change_lease(&mut self, lease_id: &str, change: impl FnOnce(&mut Lease)) {
        let Some(lease) = self.leases.get_mut(lease_id) else { return };
        let before = held(lease);
        change(lease);
        let after = held(lease);
        let key = lease.account.clone();
        self.changed_leases.insert(lease_id.to_owned());
        self.change_account(&key, |line| {
            line.leased += after.0 - before.0;
            line.reserved += after.1 - before.1;
        });
    }

    /// Changes a part of a reservation, and what its account says is held.
    pub(super) fn change_reservation(&mut self, part: &PartId, change: impl FnOnce(&mut Reservation)) {
        let Some(reservation) = self.reservations.get_mut(part) else { return };
        let before = reservation.outstanding();
        change(reservation);
        let after = reservation.outstanding();
        self.changed_reservations.insert(part.clone());
        self.change_account(&part.1, |line| line.reserved += after - before);
    }

    /// Writes what changed.
    pub(super) async fn save(&mut self, session: &mut Session<'_>) -> sqlx::Result<()> {
        let accounts = picked(&self.accounts, &self.changed_accounts);
        if !accounts.is_empty() {
            account::update(session, &accounts).await?;
        }
        lease::save(session, &picked(&self.leases, &self.changed_leases)).await?;
        let reservations = picked(&self.reservations, &self.changed_reservations);
        if !reservations.is_empty() {
            reservation::save(session, &reservations).await?;
        }
        if !self.entries.is_empty() {
            entry::insert(session, &std::mem::take(&mut self.entries), self.now).await?;
        }
        Ok(())
    }
}

/// What a lease adds to `leased` and to `reserved` of its account.
fn held(lease: &Lease) -> (i64, i64) {
    match lease.state {
        state::ALIVE => (lease.outstanding(), 0),
        state::ORPHANED => (0, lease.outstanding()),
        _ => (0, 0),
    }
}

fn picked<K: Ord, V: Clone>(from: &BTreeMap<K, V>, keys: &BTreeSet<K>) -> Vec<V> {
    keys.iter().filter_map(|key| from.get(key)).cloned().collect()
}

/// An account that is not there: whoever opens accounts has made sure that it is.
fn nothing(key: &AccountKey) -> Account {
    Account { key: key.clone(), limit: 0, settled: 0, reserved: 0, leased: 0 }
}
