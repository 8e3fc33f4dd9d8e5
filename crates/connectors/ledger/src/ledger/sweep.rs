//! What nobody renewed is taken in hand.

use super::{
    account,
    books::Books,
    entry::Entry,
    lease::{self, Lease, state},
    reservation::{self, PartId},
    settle,
};
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_ports::ledger::{LeaseState, Swept};
use signalbox_sql::Session;
use std::collections::BTreeSet;

/// Leases, or reservations, in one transaction: others are not to wait for long.
const MOST: i64 = 500;

/// What one transaction found.
pub(super) struct Part {
    pub(super) found: Swept,
    /// There is more to find.
    pub(super) more: bool,
}

pub(super) async fn sweep(session: &mut Session<'_>, now: i64, hopeless: i64) -> sqlx::Result<Part> {
    let expired = lease::due(session, (state::ALIVE, "expires_at"), now, MOST).await?;
    let lost = lease::due(session, (state::ORPHANED, "orphaned_at"), hopeless, MOST).await?;
    let held = reservation::expired(session, now, MOST).await?;
    if expired.is_empty() && lost.is_empty() && held.is_empty() {
        return Ok(Part { found: Swept::default(), more: false });
    }
    let leases = || expired.iter().chain(&lost);
    let keys = leases().map(|lease| &lease.account).chain(held.iter().map(|held| &held.account));
    let mut books = account::lock_unlimited(session, keys.collect(), now).await?;
    // As they are now that nobody else may change them.
    books.leases = lease::lock(session, leases().map(|lease| lease.lease_id.as_str())).await?;
    let parts = held.iter().map(|held| (held.reservation_id.as_str(), &held.account));
    books.reservations = reservation::load(session, parts).await?;
    let found = Swept {
        orphaned: each(&mut books, &expired, |lease| is_expired(lease, now), orphan),
        written_off: each(&mut books, &lost, |lease| is_lost(lease, hopeless), write_off),
        released: release(&mut books),
    };
    books.save(session).await?;
    let most = expired.len().max(lost.len()).max(held.len());
    Ok(Part { found, more: i64::try_from(most).is_ok_and(|most| most == MOST) })
}

fn is_expired(lease: &Lease, now: i64) -> bool {
    lease.state == state::ALIVE && lease.expires_at < now
}

fn is_lost(lease: &Lease, hopeless: i64) -> bool {
    lease.state == state::ORPHANED && lease.orphaned_at < hopeless
}

/// Does something to each lease of which it is still due; as each was before it was done.
fn each(
    books: &mut Books,
    leases: &[Lease],
    is_due: impl Fn(&Lease) -> bool,
    act: impl Fn(&mut Books, &Lease),
) -> Vec<LeaseState> {
    let mut acted = Vec::new();
    for lease in leases {
        let Some(lease) = books.leases.get(&lease.lease_id).filter(|lease| is_due(lease)).cloned() else {
            continue;
        };
        act(books, &lease);
        acted.push(lease.told());
    }
    acted
}

/// Nobody may spend from it any more.
fn orphan(books: &mut Books, lease: &Lease) {
    let now = books.now;
    books.change_lease(&lease.lease_id, |lease| {
        lease.state = state::ORPHANED;
        lease.orphaned_at = now;
    });
    let left = lease.outstanding();
    if left > 0 {
        books.enter(Entry::new(Kind::Orphan, lease.account.clone(), left).of(&lease.lease_id));
    }
}

/// What is left of it is booked as spent.
fn write_off(books: &mut Books, lease: &Lease) {
    let left = lease.outstanding();
    books.change_lease(&lease.lease_id, |lease| {
        lease.state = state::WRITTEN_OFF;
        lease.written_off += left;
    });
    if left > 0 {
        books.change_account(&lease.account, |line| line.settled += left);
        let entry = Entry::new(Kind::WriteOff, lease.account.clone(), left).of(&lease.lease_id);
        books.enter(entry.estimated(true));
    }
}

/// Releases reservations; how many.
fn release(books: &mut Books) -> u64 {
    let now = books.now;
    let expired = books.reservations.values().filter(|held| held.is_open == 1 && held.expires_at < now);
    let parts: Vec<PartId> = expired.map(reservation::Reservation::part).collect();
    for part in &parts {
        settle::release(books, part, "");
    }
    let reservations: BTreeSet<&String> = parts.iter().map(|(reservation_id, _)| reservation_id).collect();
    reservations.len() as u64
}
