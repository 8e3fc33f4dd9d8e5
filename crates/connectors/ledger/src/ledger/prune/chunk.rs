//! Which of the next entries go, and what they come to.

use super::kind;
use crate::stored::account_key;
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_ports::ledger::AccountKey;
use sqlx::{Row, any::AnyRow};
use std::collections::{BTreeMap, BTreeSet};

/// An entry, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) entry_id: i64,
    account: AccountKey,
    kind: i64,
    amount: i64,
    source_id: String,
    created_at: i64,
}

pub(super) fn entry(row: &AnyRow) -> sqlx::Result<Entry> {
    Ok(Entry {
        entry_id: row.try_get("entry_id")?,
        account: account_key(row)?,
        kind: row.try_get("kind")?,
        amount: row.try_get("amount")?,
        source_id: row.try_get("source_id")?,
        created_at: row.try_get("created_at")?,
    })
}

/// What is old: what was made before this. What was made after now tells only that a clock was wrong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) before: i64,
    pub(super) now: i64,
}

/// The next entries, up to the first one that is young.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Those that go. Limits stay: they are few, and say what a budget was.
    pub(super) old: Vec<Entry>,
    /// The last one that was looked at, where there is one.
    pub(super) position: Option<i64>,
    /// When the first one that is left was made, or, where it was not read, the last one before it.
    pub(super) oldest: Option<i64>,
    /// There may be more that are old.
    pub(super) more: bool,
}

/// How many, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sum {
    pub(super) entries: i64,
    pub(super) amount: i64,
}

impl Chunk {
    /// Of entries in their order, of which there are more where they are `full`.
    pub(super) fn cut(entries: Vec<Entry>, full: bool, bounds: Bounds) -> Self {
        let is_young = |entry: &Entry| (bounds.before..=bounds.now).contains(&entry.created_at);
        let young = entries.iter().find(|entry| is_young(entry)).map(|entry| entry.created_at);
        let passed: Vec<Entry> = entries.into_iter().take_while(|entry| !is_young(entry)).collect();
        let more = full && young.is_none();
        let last = passed.iter().rev().find(|entry| goes(entry, bounds)).map(|entry| entry.created_at);
        Self {
            position: passed.last().map(|entry| entry.entry_id),
            oldest: if more { last } else { young },
            old: passed.into_iter().filter(|entry| goes(entry, bounds)).collect(),
            more,
        }
    }

    /// What goes, by account and kind.
    pub(super) fn sums(&self) -> BTreeMap<(AccountKey, i64), Sum> {
        let mut sums = BTreeMap::<_, Sum>::new();
        for entry in &self.old {
            let sum = sums.entry((entry.account.clone(), entry.kind)).or_default();
            sum.entries += 1;
            sum.amount += entry.amount;
        }
        sums
    }

    /// The operations that go with their entries: whoever asks again by now is not known any more.
    pub(super) fn operations(&self) -> BTreeSet<(&'static str, &str)> {
        self.old.iter().filter_map(operation).collect()
    }
}

fn goes(entry: &Entry, bounds: Bounds) -> bool {
    entry.created_at < bounds.before && entry.kind != number(Kind::Limit)
}

/// What an entry was made by. A reservation's operation goes with the reservation.
fn operation(entry: &Entry) -> Option<(&'static str, &str)> {
    let by = [(Kind::Settle, kind::SETTLE), (Kind::Grant, kind::GRANT), (Kind::Return, kind::RETURN)];
    let (_, operation) = by.into_iter().find(|(kind, _)| number(*kind) == entry.kind)?;
    Some((operation, entry.source_id.as_str())).filter(|(_, id)| !id.is_empty())
}

fn number(kind: Kind) -> i64 {
    i64::from(i32::from(kind))
}

#[cfg(test)]
mod tests;
