//! What is left of leases comes back.

use super::{
    account,
    books::Books,
    entry::Entry,
    lease::{self, Lease, state},
    operation::{self, kind},
};
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_ports::ledger::AccountKey;
use signalbox_sql::Session;
use std::collections::BTreeMap;

/// Parts of leases that come back.
#[derive(Debug)]
pub(super) struct Return<'a> {
    pub(super) replica_id: &'a str,
    pub(super) return_id: &'a str,
    pub(super) parts: &'a [(String, i64)],
    pub(super) now: i64,
}

/// Parts of leases come back, as far as they are outstanding.
pub(super) async fn give_back(session: &mut Session<'_>, ask: &Return<'_>) -> sqlx::Result<()> {
    let ids = || ask.parts.iter().map(|(lease_id, _)| lease_id.as_str());
    let found = lease::look(session, ids()).await?;
    let mut books = lock_accounts(session, &found, ask.now).await?;
    if operation::result(session, kind::RETURN, ask.return_id).await?.is_some() {
        return Ok(());
    }
    operation::record(session, kind::RETURN, ask.return_id, String::new()).await?;
    books.leases = lease::lock(session, ids()).await?;
    books.leases.retain(|_, lease| lease.replica_id == ask.replica_id);
    let mut came_back = false;
    for (lease_id, amount) in ask.parts {
        let Some(lease) = books.leases.get(lease_id).filter(|lease| lease.state <= state::ORPHANED) else {
            continue;
        };
        let amount = lease.outstanding().min(*amount);
        come_back(&mut books, lease_id, amount, ask.return_id);
        came_back |= amount > 0;
    }
    if !came_back {
        // Its operation goes when its entries do, so that it needs one.
        books.enter(Entry::new(Kind::Return, nobodys(), 0).source(ask.return_id));
    }
    books.save(session).await
}

/// An account that no budget has, so that nobody is told of what is entered there.
fn nobodys() -> AccountKey {
    AccountKey { tenant_id: String::new(), budget_id: String::new(), period_id: String::new() }
}

/// All that a replica spent is settled: how much was left, or was written off and not spent.
pub(super) async fn end_replica(session: &mut Session<'_>, replica_id: &str, now: i64) -> sqlx::Result<i64> {
    let leases = lease::of_replica(session, replica_id).await?;
    let leases: BTreeMap<String, Lease> =
        leases.into_iter().map(|lease| (lease.lease_id.clone(), lease)).collect();
    let mut books = lock_accounts(session, &leases, now).await?;
    books.leases = lease::lock(session, leases.keys().map(String::as_str)).await?;
    let mut released = 0;
    for lease_id in leases.keys() {
        let Some(lease) = books.leases.get(lease_id).filter(|lease| lease.state < state::ENDED) else {
            continue;
        };
        let (amount, written_off) = (lease.outstanding(), lease.written_off);
        released += amount + written_off;
        come_back(&mut books, lease_id, amount, "");
        take_back_write_off(&mut books, lease_id, written_off);
        books.change_lease(lease_id, |lease| lease.state = state::ENDED);
    }
    books.save(session).await?;
    Ok(released)
}

/// It is known now that this was not spent.
fn take_back_write_off(books: &mut Books, lease_id: &str, amount: i64) {
    let Some(account) = books.leases.get(lease_id).map(|lease| lease.account.clone()) else { return };
    if amount > 0 {
        books.change_lease(lease_id, |lease| lease.written_off -= amount);
        books.change_account(&account, |line| line.settled -= amount);
        books.enter(Entry::new(Kind::WriteOff, account, -amount).of(lease_id).estimated(true));
    }
}

fn come_back(books: &mut Books, lease_id: &str, amount: i64, return_id: &str) {
    let Some(account) = books.leases.get(lease_id).map(|lease| lease.account.clone()) else { return };
    if amount > 0 {
        books.change_lease(lease_id, |lease| lease.returned += amount);
        books.enter(Entry::new(Kind::Return, account, amount).of(lease_id).source(return_id));
    }
}

/// The books of the accounts that leases are of.
async fn lock_accounts(
    session: &mut Session<'_>,
    leases: &BTreeMap<String, Lease>,
    now: i64,
) -> sqlx::Result<Books> {
    account::lock_unlimited(session, leases.values().map(|lease| &lease.account).collect(), now).await
}
