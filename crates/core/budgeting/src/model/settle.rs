//! What was spent is booked.

use super::{AccountKey, Charge, Kind, LedgerModel, Refusal, Settlement, lease::State};
use std::time::SystemTime;

/// The most that one settlement may be.
const MOST: i64 = i64::MAX / 1000;

/// A reservation's hold on one account.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) is_open: bool,
    pub(super) amount: i64,
    pub(super) settled: i64,
    pub(super) expires_at: SystemTime,
}

impl Part {
    pub(super) fn outstanding(&self) -> i64 {
        if self.is_open { (self.amount - self.settled).max(0) } else { 0 }
    }
}

impl LedgerModel {
    /// Books what was spent, each settlement once, whatever has become of its lease or reservation. A settlement that
    /// costs more than was set aside is booked all the same: the account is in debt (T2).
    pub fn settle(&mut self, settlements: &[Settlement]) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for settlement in settlements {
            let settlement_id = settlement.settlement_id.clone();
            match self.keys(settlement) {
                Err(reason) => refusals.push(Refusal { settlement_id, reason }),
                Ok(keys) => {
                    for key in &keys {
                        self.line(key);
                    }
                    if self.settlements.insert(settlement_id) {
                        for (charge, key) in settlement.charges.iter().zip(&keys) {
                            self.charge(settlement, charge, key);
                        }
                    }
                }
            }
        }
        refusals
    }

    /// The account of each charge, or why it can never be booked.
    fn keys(&self, settlement: &Settlement) -> Result<Vec<AccountKey>, &'static str> {
        if settlement.settlement_id.is_empty() {
            return Err("no settlement_id");
        }
        if settlement.charges.is_empty() {
            return Err("no charges");
        }
        if !(0..=MOST).contains(&settlement.amount) {
            return Err("amount_nano_eur is negative or beyond what an account can hold");
        }
        let tenant_id = self.tenant(settlement).ok_or("no tenant_id, and an unknown lease or reservation")?;
        let mut keys = Vec::with_capacity(settlement.charges.len());
        for charge in &settlement.charges {
            if charge.budget_id.is_empty() || charge.period_id.is_empty() {
                return Err("a charge without budget_id or period_id");
            }
            let (budget_id, period_id) = (charge.budget_id.clone(), charge.period_id.clone());
            let key = AccountKey { tenant_id: tenant_id.clone(), budget_id, period_id };
            if keys.contains(&key) {
                return Err("two charges to one budget and period");
            }
            keys.push(key);
        }
        Ok(keys)
    }

    fn tenant(&self, settlement: &Settlement) -> Option<String> {
        if !settlement.tenant_id.is_empty() {
            return Some(settlement.tenant_id.clone());
        }
        settlement.charges.iter().find_map(|charge| {
            let of_lease = self.leases.get(&charge.lease_id).map(|lease| &lease.account);
            let mut parts = self.parts.keys();
            let key =
                of_lease.or_else(|| parts.find(|(id, _)| *id == charge.reservation_id).map(|(_, key)| key));
            key.map(|key| key.tenant_id.clone())
        })
    }

    fn charge(&mut self, settlement: &Settlement, charge: &Charge, key: &AccountKey) {
        self.line(key).settled += settlement.amount;
        let hold_id = if charge.lease_id.is_empty() { &charge.reservation_id } else { &charge.lease_id };
        self.enter(Kind::Settle, key, settlement.amount, hold_id, &settlement.settlement_id);
        if self.leases.get(&charge.lease_id).is_some_and(|lease| lease.account == *key) {
            self.charge_lease(settlement, &charge.lease_id);
        } else if let Some(part) = self.parts.get_mut(&(charge.reservation_id.clone(), key.clone())) {
            part.settled += settlement.amount;
            if !settlement.more_follow {
                self.release(&charge.reservation_id, key, &settlement.settlement_id);
            }
        }
    }

    /// What was written off by estimate gives way to what is known now.
    fn charge_lease(&mut self, settlement: &Settlement, lease_id: &str) {
        let Some(lease) = self.leases.get_mut(lease_id) else { return };
        lease.settled += settlement.amount;
        let replaced = if lease.is(State::WrittenOff) { settlement.amount.min(lease.written_off) } else { 0 };
        lease.written_off -= replaced;
        let key = lease.account.clone();
        if replaced > 0 {
            self.line(&key).settled -= replaced;
            self.enter(Kind::WriteOff, &key, -replaced, lease_id, &settlement.settlement_id);
        }
    }

    /// What is left of a reservation is free again; whether it was open.
    pub(super) fn release(&mut self, reservation_id: &str, key: &AccountKey, source_id: &str) -> bool {
        let part = self.parts.get_mut(&(reservation_id.to_owned(), key.clone()));
        let Some(part) = part.filter(|part| part.is_open) else { return false };
        let left = part.outstanding();
        part.is_open = false;
        if left > 0 {
            self.enter(Kind::Release, key, left, reservation_id, source_id);
        }
        true
    }
}
