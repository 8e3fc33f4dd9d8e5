//! A ledger, and short words for what is asked of it.

use super::Fresh;
use crate::{SetClock, calendar};
use signalbox_api::v1::{LedgerEntry, Settlement, UsageCharge, ledger_entry::Kind};
use signalbox_kit::Clock;
use signalbox_ports::ledger::{
    Account, AccountKey, EntryQuery, GrantAsk, Granted, LeaseState, Ledger, Opening, ReserveAsk, SliceAsk,
};
use std::{
    any::Any,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// The limit of every account, unless a test says another.
pub(super) const LIMIT: i64 = 10_000;

/// A ledger with its tables.
pub(super) struct World {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) another: Box<dyn Fn() -> Arc<dyn Ledger> + Send + Sync>,
    pub(super) clock: Arc<SetClock>,
    _keep: Box<dyn Any + Send>,
}

impl World {
    pub(super) async fn new(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) -> Self {
        let clock = Arc::new(SetClock::at(now()));
        let Fresh { ledger, another, keep } = fresh(clock.clone()).await;
        ledger.migrate().await.unwrap();
        Self { ledger, another, clock, _keep: keep }
    }

    /// How the account of a budget stands.
    pub(super) async fn account(&self, budget: &str) -> Account {
        self.ledger.accounts(&[opening(budget)]).await.unwrap().remove(0)
    }

    /// The same as `(settled, reserved, leased)`.
    pub(super) async fn stands(&self, budget: &str) -> (i64, i64, i64) {
        let account = self.account(budget).await;
        assert_eq!(account.free(), account.limit - account.settled - account.reserved - account.leased);
        (account.settled, account.reserved, account.leased)
    }

    /// Grants a replica so much of a budget, no more and no less.
    pub(super) async fn lend(&self, replica: &str, budget: &str, amount: i64) -> LeaseState {
        let grant_id = format!("{replica}-{budget}-{amount}");
        let ask = ask(replica, &grant_id, &[slice(budget, amount, amount)]);
        match self.ledger.grant(&ask).await.unwrap() {
            Granted::All(mut leases) => leases.remove(0).0,
            short => panic!("{short:?}"),
        }
    }

    pub(super) async fn settle(&self, settlement: &Settlement) {
        assert_eq!(self.ledger.settle(std::slice::from_ref(settlement)).await.unwrap(), []);
    }

    /// All leases that are out now expire, and are swept.
    pub(super) async fn lose_all(&self) {
        let swept = self.ledger.sweep(later(61), now() - Duration::from_secs(1)).await.unwrap();
        assert!(!swept.orphaned.is_empty());
    }

    /// All entries, oldest first.
    pub(super) async fn entries(&self) -> Vec<LedgerEntry> {
        let query = EntryQuery { tenant_id: "acme".to_owned(), most: 10_000, ..EntryQuery::default() };
        let mut entries = self.ledger.entries(&query).await.unwrap();
        entries.reverse();
        entries
    }

    /// Kinds and amounts of all entries but those that open accounts.
    pub(super) async fn movements(&self) -> Vec<(Kind, i64)> {
        let mut entries = self.entries().await;
        entries.retain(|entry| entry.kind() != Kind::Limit || !entry.source_id.is_empty());
        entries.iter().map(|entry| (entry.kind(), entry.amount_nano_eur)).collect()
    }
}

pub(super) fn now() -> SystemTime {
    calendar::at(2026, 11, 30, 12, 0)
}

/// So many seconds after now.
pub(super) fn later(seconds: u64) -> SystemTime {
    now() + Duration::from_secs(seconds)
}

pub(super) fn key(budget: &str) -> AccountKey {
    AccountKey { tenant_id: "acme".to_owned(), budget_id: budget.to_owned(), period_id: "2026-11".to_owned() }
}

pub(super) fn opening(budget: &str) -> Opening {
    Opening { key: key(budget), limit: LIMIT, hard: true }
}

pub(super) fn slice(budget: &str, needed: i64, wanted: i64) -> SliceAsk {
    SliceAsk { account: opening(budget), needed, wanted, lease_id: format!("lease of {budget}") }
}

/// A wish for leases that live for a minute. Their names are the replica's own.
pub(super) fn ask(replica: &str, grant_id: &str, slices: &[SliceAsk]) -> GrantAsk {
    let named =
        |slice: &SliceAsk| SliceAsk { lease_id: format!("{replica}: {}", slice.lease_id), ..slice.clone() };
    GrantAsk {
        replica_id: replica.to_owned(),
        grant_id: grant_id.to_owned(),
        accounts: slices.iter().map(named).collect(),
        now: now(),
        expires_at: later(60),
    }
}

pub(super) fn reservation(id: &str, budgets: &[&str], amount: i64) -> ReserveAsk {
    ReserveAsk {
        reservation_id: id.to_owned(),
        request_id: format!("job of {id}"),
        accounts: budgets.iter().map(|budget| opening(budget)).collect(),
        amount,
        expires_at: later(600),
    }
}

/// What a request cost one budget.
pub(super) fn settlement(id: &str, charge: UsageCharge, amount: i64) -> Settlement {
    Settlement {
        settlement_id: id.to_owned(),
        tenant_id: "acme".to_owned(),
        charges: vec![charge],
        request_id: format!("request of {id}"),
        amount_nano_eur: amount,
        ..Settlement::default()
    }
}

/// A charge to a lease.
pub(super) fn from_lease(lease: &LeaseState) -> UsageCharge {
    UsageCharge { lease_id: lease.lease_id.clone(), ..from_nothing(&lease.account.budget_id) }
}

/// A charge to a reservation.
pub(super) fn from_reservation(id: &str, budget: &str) -> UsageCharge {
    UsageCharge { reservation_id: id.to_owned(), ..from_nothing(budget) }
}

/// A charge to a budget without lease or reservation.
pub(super) fn from_nothing(budget: &str) -> UsageCharge {
    UsageCharge { budget_id: budget.to_owned(), period_id: "2026-11".to_owned(), ..UsageCharge::default() }
}
