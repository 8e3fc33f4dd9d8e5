//! What becomes of leases that were granted.

use super::{AccountKey, Kind, LeaseState, LedgerModel};
use std::time::SystemTime;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Its replica spends from it.
    Alive,
    /// Its replica is lost: what is outstanding is held.
    Orphaned,
    /// What was outstanding is booked as spent.
    WrittenOff,
    /// All of it is accounted for.
    Ended,
}

#[derive(Debug, Clone)]
pub(super) struct Lease {
    pub(super) lease_id: String,
    pub(super) replica_id: String,
    pub(super) account: AccountKey,
    pub(super) state: State,
    pub(super) granted: i64,
    pub(super) returned: i64,
    pub(super) settled: i64,
    pub(super) written_off: i64,
    pub(super) expires_at: SystemTime,
    pub(super) orphaned_at: Option<SystemTime>,
}

impl Lease {
    /// Nothing where more was settled than granted.
    pub(super) fn outstanding(&self) -> i64 {
        (self.granted - self.returned - self.settled - self.written_off).max(0)
    }

    pub(super) fn is(&self, state: State) -> bool {
        self.state == state
    }

    /// It lives, and may be renewed.
    pub(super) fn is_current(&self, now: SystemTime) -> bool {
        self.is(State::Alive) && self.expires_at > now
    }

    fn is_settling(&self) -> bool {
        self.is(State::Alive) || self.is(State::Orphaned)
    }

    pub(super) fn told(&self) -> LeaseState {
        LeaseState {
            lease_id: self.lease_id.clone(),
            account: self.account.clone(),
            replica_id: self.replica_id.clone(),
            granted: self.granted,
            outstanding: self.outstanding(),
            expires_at: self.expires_at,
        }
    }
}

impl LedgerModel {
    /// Leases of a replica that live on until `expires_at`. Those that are missing have ended or expired.
    pub fn renew(
        &mut self,
        replica_id: &str,
        lease_ids: &[String],
        now: SystemTime,
        expires_at: SystemTime,
    ) -> Vec<LeaseState> {
        let mut living = Vec::new();
        for lease_id in lease_ids {
            if let Some(lease) = self.leases.get_mut(lease_id)
                && lease.replica_id == replica_id
                && lease.is_current(now)
            {
                lease.expires_at = lease.expires_at.max(expires_at);
                living.push(lease.told());
            }
        }
        living
    }

    /// Parts of leases come back, once for each `return_id`, and never more than is outstanding.
    pub fn give_back(&mut self, replica_id: &str, return_id: &str, parts: &[(String, i64)]) {
        if !self.returns.insert(return_id.to_owned()) {
            return;
        }
        for (lease_id, amount) in parts {
            let own = self.leases.get(lease_id).filter(|lease| lease.replica_id == replica_id);
            if own.is_some_and(Lease::is_settling) {
                self.come_back(lease_id, *amount, return_id);
            }
        }
    }

    /// All that a replica spent is settled: what is left of its leases is free again, and what was written off of them.
    /// How much that was.
    pub fn end_replica(&mut self, replica_id: &str) -> i64 {
        let own = self.leases.values().filter(|lease| lease.replica_id == replica_id);
        let own: Vec<String> =
            own.filter(|lease| !lease.is(State::Ended)).map(|lease| lease.lease_id.clone()).collect();
        let mut released = 0;
        for lease_id in own {
            released += self.come_back(&lease_id, i64::MAX, "") + self.take_back_write_off(&lease_id);
            if let Some(lease) = self.leases.get_mut(&lease_id) {
                lease.state = State::Ended;
            }
        }
        released
    }

    /// Replicas that hold a lease of an account and have not expired.
    pub fn holders(&self, key: &AccountKey, now: SystemTime) -> Vec<LeaseState> {
        let current = |lease: &&Lease| lease.account == *key && lease.is_current(now);
        self.leases.values().filter(current).map(Lease::told).collect()
    }

    /// It is known now that this was not spent.
    fn take_back_write_off(&mut self, lease_id: &str) -> i64 {
        let Some(lease) = self.leases.get_mut(lease_id) else { return 0 };
        let amount = std::mem::take(&mut lease.written_off);
        let account = lease.account.clone();
        if amount > 0 {
            self.line(&account).settled -= amount;
            self.enter(Kind::WriteOff, &account, -amount, lease_id, "");
        }
        amount
    }

    fn come_back(&mut self, lease_id: &str, amount: i64, return_id: &str) -> i64 {
        let Some(lease) = self.leases.get_mut(lease_id) else { return 0 };
        let amount = amount.min(lease.outstanding());
        if amount <= 0 {
            return 0;
        }
        lease.returned += amount;
        let account = lease.account.clone();
        self.enter(Kind::Return, &account, amount, lease_id, return_id);
        amount
    }
}
