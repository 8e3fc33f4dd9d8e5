//! A replica is granted leases: of all accounts it asks for, or of none.

use super::{
    account,
    books::Books,
    entry::Entry,
    lease::{self, Lease, state},
    operation::{self, kind},
};
use crate::stored::{json, nanos};
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_budgeting::slice;
use signalbox_ports::ledger::{Account, GrantAsk, Granted, Opening, SliceAsk};
use signalbox_sql::Session;
use std::collections::{BTreeMap, HashSet};

pub(super) async fn grant(session: &mut Session<'_>, ask: &GrantAsk) -> sqlx::Result<Granted> {
    let openings: Vec<Opening> = ask.accounts.iter().map(|slice| slice.account.clone()).collect();
    let mut books = account::lock(session, &openings, nanos(ask.now)).await?;
    if let Some(names) = operation::result(session, kind::GRANT, &ask.grant_id).await? {
        return repeated(session, ask, &books, &names).await;
    }
    let alive = lease::alive(session, openings.iter().map(|opening| &opening.key)).await?;
    let amounts = match amounts(ask, &books, &alive) {
        Ok(amounts) => amounts,
        Err(short) => {
            books.save(session).await?;
            return Ok(Granted::Short { accounts: accounts(ask, &books), short });
        }
    };
    let names = names(session, ask, &mut books, &alive).await?;
    for ((slice, amount), name) in ask.accounts.iter().zip(amounts).zip(&names) {
        grow(&mut books, ask, slice, name, amount);
    }
    operation::record(session, kind::GRANT, &ask.grant_id, json(&names)?).await?;
    books.save(session).await?;
    Ok(told(ask, &books, &books.leases, &names))
}

/// How much of each account, or the index of the first that has too little.
fn amounts(ask: &GrantAsk, books: &Books, alive: &[Lease]) -> Result<Vec<i64>, usize> {
    let amount = |(index, slice): (usize, &SliceAsk)| {
        let free = books.free(&slice.account.key);
        let replicas = replicas(ask, slice, alive);
        slice::granted(slice.needed, slice.wanted, free, replicas, slice.account.hard).ok_or(index)
    };
    ask.accounts.iter().enumerate().map(amount).collect()
}

/// Replicas that hold a lease of an account, with the one that asks.
fn replicas(ask: &GrantAsk, slice: &SliceAsk, alive: &[Lease]) -> u32 {
    let now = nanos(ask.now);
    let holders = alive.iter().filter(|lease| lease.account == slice.account.key && lease.expires_at > now);
    let mut replicas: HashSet<&str> = holders.map(|lease| lease.replica_id.as_str()).collect();
    replicas.insert(&ask.replica_id);
    u32::try_from(replicas.len()).unwrap_or(u32::MAX)
}

/// The lease of each account: the replica's own, locked, or a new one.
async fn names(
    session: &mut Session<'_>,
    ask: &GrantAsk,
    books: &mut Books,
    alive: &[Lease],
) -> sqlx::Result<Vec<String>> {
    let named: Vec<&str> = ask.accounts.iter().map(|slice| name(ask, slice, alive)).collect();
    let known = lease::lock(session, named.iter().copied()).await?;
    let mut names = Vec::with_capacity(named.len());
    for (slice, name) in ask.accounts.iter().zip(named) {
        let lease = match known.get(name) {
            Some(lease) if is_own(lease, ask, slice) => lease.clone(),
            taken => {
                let mut name = name.to_owned();
                // It was another lease's, or this one's before it expired.
                if taken.is_some() || books.leases.contains_key(&name) {
                    name = format!("{name}~{}", ask.grant_id);
                }
                while books.leases.contains_key(&name) {
                    name.push('~');
                }
                fresh(ask, slice, name)
            }
        };
        names.push(lease.lease_id.clone());
        books.leases.insert(lease.lease_id.clone(), lease);
    }
    Ok(names)
}

/// The lease that grows, or the one to be made.
fn name<'a>(ask: &GrantAsk, slice: &'a SliceAsk, alive: &'a [Lease]) -> &'a str {
    let own = alive.iter().find(|lease| is_own(lease, ask, slice));
    own.map_or(&slice.lease_id, |lease| &lease.lease_id)
}

/// Whether a lease is what grows. One that has expired does not, swept or not: its replica may have forgotten it.
fn is_own(lease: &Lease, ask: &GrantAsk, slice: &SliceAsk) -> bool {
    let is_current = lease.state == state::ALIVE && lease.expires_at > nanos(ask.now);
    is_current && lease.replica_id == ask.replica_id && lease.account == slice.account.key
}

fn fresh(ask: &GrantAsk, slice: &SliceAsk, name: String) -> Lease {
    Lease::new(name, ask.replica_id.clone(), slice.account.key.clone(), nanos(ask.expires_at))
}

fn grow(books: &mut Books, ask: &GrantAsk, slice: &SliceAsk, name: &str, amount: i64) {
    books.change_lease(name, |lease| {
        lease.granted += amount;
        lease.expires_at = lease.expires_at.max(nanos(ask.expires_at));
    });
    books.enter(Entry::new(Kind::Grant, slice.account.key.clone(), amount).of(name).source(&ask.grant_id));
}

/// What was granted before, as it is now.
async fn repeated(
    session: &mut Session<'_>,
    ask: &GrantAsk,
    books: &Books,
    names: &str,
) -> sqlx::Result<Granted> {
    let names: Vec<String> =
        serde_json::from_str(names).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    let leases = lease::look(session, names.iter().map(String::as_str)).await?;
    Ok(told(ask, books, &leases, &names))
}

fn told(ask: &GrantAsk, books: &Books, leases: &BTreeMap<String, Lease>, names: &[String]) -> Granted {
    let leases = names.iter().filter_map(|name| leases.get(name)).map(Lease::told);
    Granted::All(leases.zip(accounts(ask, books)).collect())
}

fn accounts(ask: &GrantAsk, books: &Books) -> Vec<Account> {
    ask.accounts.iter().map(|slice| books.account(&slice.account.key)).collect()
}
