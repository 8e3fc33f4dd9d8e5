//! A bank that admits requests as it is told, and keeps count of every reservation.

use signalbox_api::v1::{BudgetEffect, Tenant, UsageCharge};
use signalbox_ports::{Admission, Payer, RateLeft, RatesLeft, Reservation, Short, Standing, Worst};
use signalbox_types::{ErrorReason, Failure, Money};
use std::sync::{Arc, Mutex, MutexGuard};

/// The bank. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bank(Arc<Mutex<Vault>>);

#[derive(Debug, Default)]
pub(crate) struct Vault {
    pub(crate) standing: Standing,
    /// What can be reserved, in nano-EUR; `None` for any amount.
    pub(crate) left: Option<i64>,
    /// What seems to be left, and is gone whenever somebody wants it.
    pub(crate) mirage: Option<i64>,
    /// Reservations are refused because of a rate.
    pub(crate) rate_limited: bool,
    /// How long a raise takes, in milliseconds.
    pub(crate) slow_to_raise: u64,
    told: Vec<String>,
    /// Reserved and not settled yet.
    held: i64,
    reserved: usize,
    settled: usize,
}

impl Bank {
    /// One whose tenant has a budget of so many nano-EUR.
    pub(crate) fn with(left: i64) -> Self {
        let bank = Self::default();
        bank.change(|vault| {
            vault.left = Some(left);
            vault.standing.allowance = Some(Money::from_nano_eur(left));
            vault.standing.tenant = Some(Arc::default());
        });
        bank
    }

    /// One whose tenant is this, without budgets.
    pub(crate) fn of(tenant: Tenant) -> Self {
        let bank = Self::default();
        bank.change(|vault| vault.standing.tenant = Some(Arc::new(tenant)));
        bank
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Vault)) {
        change(&mut self.vault());
    }

    fn vault(&self) -> MutexGuard<'_, Vault> {
        self.0.lock().unwrap()
    }

    /// What was asked of it, as `standing acme/k1/editor`, `reserve 5`, `raise 7`, `short 9` or `settle 3`.
    pub(crate) fn told(&self) -> Vec<String> {
        self.vault().told.clone()
    }

    /// What is left to be reserved.
    pub(crate) fn left(&self) -> i64 {
        self.vault().left.unwrap()
    }

    /// Panics where something is still held, or was settled twice or never.
    pub(crate) fn check(&self) {
        let vault = self.vault();
        assert_eq!((vault.held, vault.reserved), (0, vault.settled), "{:?}", vault.told);
    }

    fn take(&self, worth: i64, before: i64) -> Result<(), Short> {
        let mut vault = self.vault();
        let more = worth - before;
        if vault.rate_limited {
            let failure = Failure::new(ErrorReason::RateLimited, "too many requests");
            return Err(Short { failure, available: Money::ZERO });
        }
        if let Some(seems) = vault.mirage.filter(|_| more > 0) {
            vault.told.push(format!("gone {worth}"));
            let failure = Failure::new(ErrorReason::BudgetExhausted, "others were quicker");
            return Err(Short { failure, available: Money::from_nano_eur(seems) });
        }
        if let Some(left) = vault.left.filter(|left| more > *left) {
            vault.told.push(format!("short {worth}"));
            let failure = Failure::new(ErrorReason::BudgetExhausted, format!("the bank has {left}"));
            return Err(Short { failure, available: Money::from_nano_eur(left) });
        }
        vault.left = vault.left.map(|left| left - more);
        vault.held += more;
        vault.told.push(format!("{} {worth}", if before == 0 { "reserve" } else { "raise" }));
        Ok(())
    }
}

#[async_trait::async_trait]
impl Admission for Bank {
    async fn standing(&self, payer: &Payer) -> Result<Standing, Failure> {
        let Payer { tenant_id, key_id, scene } = payer;
        let mut vault = self.vault();
        vault.told.push(format!("standing {tenant_id}/{key_id}/{scene}"));
        Ok(vault.standing.clone())
    }

    async fn reserve(&self, _: &Payer, worst: Worst) -> Result<Box<dyn Reservation>, Short> {
        self.take(worst.cost.nano_eur(), 0)?;
        self.vault().reserved += 1;
        Ok(Box::new(Deposit::new(self.clone(), worst.cost.nano_eur())))
    }
}

#[derive(Debug)]
struct Deposit {
    bank: Bank,
    charges: Vec<UsageCharge>,
    settled: bool,
}

impl Deposit {
    fn new(bank: Bank, worth: i64) -> Self {
        let charge = UsageCharge {
            budget_id: "monthly".to_owned(),
            period_id: "2026-06".to_owned(),
            lease_id: "lease".to_owned(),
            reserved_nano_eur: worth,
            ..UsageCharge::default()
        };
        Self { bank, charges: vec![charge], settled: false }
    }
}

#[async_trait::async_trait]
impl Reservation for Deposit {
    fn charges(&self) -> &[UsageCharge] {
        &self.charges
    }

    fn effect(&self) -> BudgetEffect {
        BudgetEffect::default()
    }

    fn rates(&self) -> RatesLeft {
        let requests = Some(RateLeft { limit: 60, remaining: 41 });
        RatesLeft { requests, tokens: Some(RateLeft { limit: 9000, remaining: 8000 }) }
    }

    async fn raise(&mut self, cost: Money) -> Result<(), Short> {
        let wait = self.bank.vault().slow_to_raise;
        if wait > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
        }
        let worth = &mut self.charges[0].reserved_nano_eur;
        self.bank.take(cost.nano_eur(), *worth)?;
        *worth = cost.nano_eur();
        Ok(())
    }

    fn settle(mut self: Box<Self>, cost: Option<Money>, _: u64) {
        self.settled = true;
        let worth = self.charges[0].reserved_nano_eur;
        let cost = cost.map_or(worth, Money::nano_eur);
        let mut vault = self.bank.vault();
        vault.held -= worth;
        vault.left = vault.left.map(|left| left + worth - cost);
        vault.settled += 1;
        vault.told.push(format!("settle {cost}"));
    }
}

impl Drop for Deposit {
    fn drop(&mut self) {
        if !self.settled && !std::thread::panicking() {
            self.bank.vault().told.push("dropped without a word".to_owned());
        }
    }
}
