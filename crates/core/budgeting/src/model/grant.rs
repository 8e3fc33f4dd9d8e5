//! Grants and reservations: how money gets into somebody's hands.

use super::{
    GrantAsk, Granted, Kind, LeaseState, LedgerModel, ReserveAsk, Reserved, SliceAsk,
    lease::{Lease, State},
    settle::Part,
};
use crate::slice;
use std::collections::BTreeSet;

impl LedgerModel {
    /// Grants a replica a lease of each account: all or none.
    pub fn grant(&mut self, ask: &GrantAsk) -> Granted {
        let accounts: Vec<_> = ask.accounts.iter().map(|slice| self.open(&slice.account)).collect();
        if let Some(names) = self.grants.get(&ask.grant_id) {
            let leases = names.iter().filter_map(|name| self.leases.get(name)).map(Lease::told);
            return Granted::All(leases.zip(accounts).collect());
        }
        let mut amounts = Vec::with_capacity(accounts.len());
        for (index, (slice, account)) in ask.accounts.iter().zip(&accounts).enumerate() {
            let replicas = self.replicas(ask, slice);
            let hard = slice.account.hard;
            match slice::granted(slice.needed, slice.wanted, account.free(), replicas, hard) {
                Some(amount) => amounts.push(amount),
                None => return Granted::Short { accounts, short: index },
            }
        }
        let slices = ask.accounts.iter().zip(amounts);
        let leases: Vec<LeaseState> = slices.map(|(slice, amount)| self.lend(ask, slice, amount)).collect();
        let names = leases.iter().map(|lease| lease.lease_id.clone()).collect();
        self.grants.insert(ask.grant_id.clone(), names);
        let accounts = ask.accounts.iter().map(|slice| self.account(&slice.account.key));
        Granted::All(leases.into_iter().zip(accounts).collect())
    }

    /// Sets money aside without a lease: in each account or in none.
    pub fn reserve(&mut self, ask: &ReserveAsk) -> Reserved {
        let accounts = self.accounts(&ask.accounts);
        if self.reservations.contains(&ask.reservation_id) {
            return Reserved::All(accounts);
        }
        let both = || ask.accounts.iter().zip(&accounts);
        let is_short = |hard: bool, free: i64| hard && ask.amount > free.max(0);
        if let Some(short) = both().position(|(opening, account)| is_short(opening.hard, account.free())) {
            return Reserved::Short { accounts, short };
        }
        self.reservations.insert(ask.reservation_id.clone());
        for opening in &ask.accounts {
            let part = Part { is_open: true, amount: ask.amount, settled: 0, expires_at: ask.expires_at };
            self.parts.insert((ask.reservation_id.clone(), opening.key.clone()), part);
            self.enter(Kind::Reserve, &opening.key, ask.amount, &ask.reservation_id, "");
        }
        Reserved::All(ask.accounts.iter().map(|opening| self.account(&opening.key)).collect())
    }

    /// Replicas that hold a lease of an account, with the one that asks.
    fn replicas(&self, ask: &GrantAsk, slice: &SliceAsk) -> u32 {
        let holders = self.holders(&slice.account.key, ask.now);
        let mut replicas: BTreeSet<&str> = holders.iter().map(|lease| lease.replica_id.as_str()).collect();
        replicas.insert(&ask.replica_id);
        u32::try_from(replicas.len()).unwrap_or(u32::MAX)
    }

    /// The replica's lease of an account grows, or a new one is made. One that has expired never grows again, swept or
    /// not, and a name that is taken is not used again: the replica may have forgotten what it gave back of it.
    fn lend(&mut self, ask: &GrantAsk, slice: &SliceAsk, amount: i64) -> LeaseState {
        let key = &slice.account.key;
        let is_own = |lease: &&Lease| {
            lease.is_current(ask.now) && lease.replica_id == ask.replica_id && lease.account == *key
        };
        let own = self.leases.values().find(is_own).map(|lease| lease.lease_id.clone());
        let name = own.unwrap_or_else(|| match self.leases.contains_key(&slice.lease_id) {
            true => format!("{}~{}", slice.lease_id, ask.grant_id),
            false => slice.lease_id.clone(),
        });
        let lease = self.leases.entry(name.clone()).or_insert_with(|| Lease {
            lease_id: name.clone(),
            replica_id: ask.replica_id.clone(),
            account: key.clone(),
            state: State::Alive,
            granted: 0,
            returned: 0,
            settled: 0,
            written_off: 0,
            expires_at: ask.expires_at,
            orphaned_at: None,
        });
        lease.granted += amount;
        lease.expires_at = lease.expires_at.max(ask.expires_at);
        let told = lease.told();
        self.enter(Kind::Grant, key, amount, &name, &ask.grant_id);
        told
    }
}
