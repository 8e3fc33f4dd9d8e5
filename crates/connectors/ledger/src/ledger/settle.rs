//! One settlement is booked.

use super::{
    books::Books,
    entry::Entry,
    lease::state,
    reservation::{PartId, Reservation},
};
use signalbox_api::v1::{Settlement, UsageCharge, ledger_entry::Kind};
use signalbox_ports::ledger::AccountKey;

/// Books what a settlement charges to one account, whatever has become of its lease or reservation.
pub(super) fn charge(books: &mut Books, settlement: &Settlement, charge: &UsageCharge, account: &AccountKey) {
    let amount = settlement.amount_nano_eur;
    books.change_account(account, |line| line.settled += amount);
    let part = (charge.reservation_id.clone(), account.clone());
    if books.leases.get(&charge.lease_id).is_some_and(|lease| lease.account == *account) {
        from_lease(books, settlement, &charge.lease_id);
    } else if books.reservations.contains_key(&part) {
        from_reservation(books, settlement, &part);
    }
    let hold_id = if charge.lease_id.is_empty() { &charge.reservation_id } else { &charge.lease_id };
    let entry =
        Entry::new(Kind::Settle, account.clone(), amount).of(hold_id).source(&settlement.settlement_id);
    books.enter(entry.request(&settlement.request_id).estimated(settlement.estimated));
}

/// What was written off by estimate gives way to what is known now.
fn from_lease(books: &mut Books, settlement: &Settlement, lease_id: &str) {
    let amount = settlement.amount_nano_eur;
    let Some(lease) = books.leases.get(lease_id) else { return };
    let replaced = if lease.state == state::WRITTEN_OFF { amount.min(lease.written_off) } else { 0 };
    let account = lease.account.clone();
    books.change_lease(lease_id, |lease| {
        lease.settled += amount;
        lease.written_off -= replaced;
    });
    if replaced > 0 {
        books.change_account(&account, |line| line.settled -= replaced);
        let entry = Entry::new(Kind::WriteOff, account, -replaced).of(lease_id).estimated(true);
        books.enter(entry.source(&settlement.settlement_id).request(&settlement.request_id));
    }
}

fn from_reservation(books: &mut Books, settlement: &Settlement, part: &PartId) {
    books.change_reservation(part, |reservation| reservation.settled += settlement.amount_nano_eur);
    if !settlement.more_follow {
        release(books, part, &settlement.settlement_id);
    }
}

/// What is left of a reservation's hold is free again.
pub(super) fn release(books: &mut Books, part: &PartId, source_id: &str) {
    let Some(reservation) = books.reservations.get(part).filter(|found| found.is_open == 1) else { return };
    let (left, request_id) = (reservation.outstanding(), reservation.request_id.clone());
    books.change_reservation(part, |reservation: &mut Reservation| reservation.is_open = 0);
    if left > 0 {
        let entry = Entry::new(Kind::Release, part.1.clone(), left).of(&part.0);
        books.enter(entry.source(source_id).request(&request_id));
    }
}
