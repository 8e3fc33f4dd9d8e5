//! Many settlements are booked in one transaction.

use super::{
    account,
    books::Books,
    lease,
    operation::{self, kind},
    reservation, settle,
};
use signalbox_api::v1::{Settlement, UsageCharge, settle_response::Refusal};
use signalbox_ports::ledger::AccountKey;
use signalbox_sql::Session;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The most that one settlement may be: a thousand of them still fit into an account.
const MOST: i64 = i64::MAX / 1000;

/// A settlement with the account that each of its charges is of.
struct Booking<'a> {
    settlement: &'a Settlement,
    charges: Vec<(&'a UsageCharge, AccountKey)>,
}

pub(super) async fn settle(
    session: &mut Session<'_>,
    settlements: &[Settlement],
    now: i64,
) -> sqlx::Result<Vec<Refusal>> {
    let tenants = tenants(session, settlements).await?;
    let (bookings, refusals) = sorted_out(settlements, &tenants);
    if bookings.is_empty() {
        return Ok(refusals);
    }
    let mut books =
        account::lock_unlimited(session, charges(&bookings).map(|(_, key)| key).collect(), now).await?;
    let ids: Vec<&str> = bookings.iter().map(|booking| booking.settlement.settlement_id.as_str()).collect();
    let new = operation::record_all(session, kind::SETTLE, &ids).await?;
    if new.is_empty() {
        return Ok(refusals);
    }
    load_holds(session, &mut books, &bookings).await?;
    for booking in bookings.iter().filter(|booking| new.contains(&booking.settlement.settlement_id)) {
        for (charge, account) in &booking.charges {
            settle::charge(&mut books, booking.settlement, charge, account);
        }
    }
    books.save(session).await?;
    Ok(refusals)
}

fn charges<'a>(bookings: &'a [Booking<'a>]) -> impl Iterator<Item = (&'a UsageCharge, &'a AccountKey)> {
    bookings.iter().flat_map(|booking| &booking.charges).map(|(charge, account)| (*charge, account))
}

/// The leases and reservations that pay.
async fn load_holds(
    session: &mut Session<'_>,
    books: &mut Books,
    bookings: &[Booking<'_>],
) -> sqlx::Result<()> {
    let leases = charges(bookings).map(|(charge, _)| charge.lease_id.as_str());
    let leases: BTreeSet<&str> = leases.filter(|id| !id.is_empty()).collect();
    books.leases = lease::lock(session, leases.into_iter()).await?;
    let parts = charges(bookings).map(|(charge, account)| (charge.reservation_id.as_str(), account));
    let parts: BTreeSet<(&str, &AccountKey)> = parts.filter(|(id, _)| !id.is_empty()).collect();
    books.reservations = reservation::load(session, parts.into_iter()).await?;
    Ok(())
}

/// Each settlement once, with its accounts; and those that can never be booked.
fn sorted_out<'a>(
    settlements: &'a [Settlement],
    tenants: &BTreeMap<String, String>,
) -> (Vec<Booking<'a>>, Vec<Refusal>) {
    let mut seen = HashSet::new();
    let mut bookings = Vec::with_capacity(settlements.len());
    let mut refusals = Vec::new();
    for settlement in settlements {
        match booking(settlement, tenants) {
            Err(reason) => {
                let settlement_id = settlement.settlement_id.clone();
                refusals.push(Refusal { settlement_id, reason: reason.to_owned() });
            }
            Ok(booking) if seen.insert(&settlement.settlement_id) => bookings.push(booking),
            Ok(_) => {}
        }
    }
    (bookings, refusals)
}

fn booking<'a>(
    settlement: &'a Settlement,
    tenants: &BTreeMap<String, String>,
) -> Result<Booking<'a>, &'static str> {
    if settlement.settlement_id.is_empty() {
        return Err("no settlement_id");
    }
    if settlement.charges.is_empty() {
        return Err("no charges");
    }
    if !(0..=MOST).contains(&settlement.amount_nano_eur) {
        return Err("amount_nano_eur is negative or beyond what an account can hold");
    }
    if !is_text(settlement) {
        return Err("a NUL character in an id");
    }
    let tenant_id = tenant(settlement, tenants).ok_or("no tenant_id, and an unknown lease or reservation")?;
    let mut charges = Vec::with_capacity(settlement.charges.len());
    for charge in &settlement.charges {
        if charge.budget_id.is_empty() || charge.period_id.is_empty() {
            return Err("a charge without budget_id or period_id");
        }
        let account = AccountKey {
            tenant_id: tenant_id.to_owned(),
            budget_id: charge.budget_id.clone(),
            period_id: charge.period_id.clone(),
        };
        if charges.iter().any(|(_, other)| *other == account) {
            return Err("two charges to one budget and period");
        }
        charges.push((charge, account));
    }
    Ok(Booking { settlement, charges })
}

/// PostgreSQL keeps no NUL in a text: one would hold up all the others for ever.
fn is_text(settlement: &Settlement) -> bool {
    let of_charge = |charge: &UsageCharge| {
        [&charge.budget_id, &charge.period_id, &charge.lease_id, &charge.reservation_id]
            .map(String::as_str)
            .concat()
    };
    let charges: String = settlement.charges.iter().map(of_charge).collect();
    let own = [&settlement.settlement_id, &settlement.request_id, &settlement.tenant_id];
    !own.into_iter().chain([&charges]).any(|text| text.contains('\0'))
}

fn tenant<'a>(settlement: &'a Settlement, tenants: &'a BTreeMap<String, String>) -> Option<&'a str> {
    if !settlement.tenant_id.is_empty() {
        return Some(&settlement.tenant_id);
    }
    let known =
        |charge: &UsageCharge| tenants.get(&charge.lease_id).or_else(|| tenants.get(&charge.reservation_id));
    settlement.charges.iter().find_map(known).map(String::as_str)
}

/// Whose the leases and reservations are of settlements that do not say it.
async fn tenants(
    session: &mut Session<'_>,
    settlements: &[Settlement],
) -> sqlx::Result<BTreeMap<String, String>> {
    let silent = settlements.iter().filter(|settlement| settlement.tenant_id.is_empty());
    let charges: Vec<&UsageCharge> = silent.flat_map(|settlement| &settlement.charges).collect();
    if charges.is_empty() {
        return Ok(BTreeMap::new());
    }
    let clean = |id: &&str| !id.is_empty() && !id.contains('\0');
    let reservations: Vec<&str> =
        charges.iter().map(|charge| charge.reservation_id.as_str()).filter(clean).collect();
    let mut tenants = reservation::tenants(session, &reservations).await?;
    let leases = charges.iter().map(|charge| charge.lease_id.as_str()).filter(clean);
    for (lease_id, lease) in lease::look(session, leases).await? {
        tenants.insert(lease_id, lease.account.tenant_id);
    }
    Ok(tenants)
}
