//! The tables themselves, by SQL.

mod clickhouse;
mod sqlite;

use crate::{
    check::{same, same_accounts},
    ledger::{Account, Sums},
};
use std::fmt;

pub(crate) use clickhouse::{clickhouse, rows};
pub(crate) use sqlite::sqlite;

/// What a table says: sums by group, one line each.
type Lines = Vec<String>;

/// The tables of a store.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// Rows of the raw table, and different events among them.
    rows: u64,
    events: u64,
    /// By tenant and model, from the raw table.
    account: Account,
    /// Each table that follows from the raw one.
    followers: Vec<Follower>,
}

/// A table that follows from the raw one: what it should say, and what it says.
#[derive(Debug)]
struct Follower {
    name: &'static str,
    expected: Lines,
    found: Lines,
}

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nano_eur: i64 = self.account.values().map(|sums| sums.nano_eur).sum();
        let (euros, rest) = (nano_eur / 1_000_000_000, nano_eur % 1_000_000_000);
        write!(f, "{} rows, {} events, {euros}.{rest:09} EUR", self.rows, self.events)
    }
}

impl Tables {
    pub(crate) fn judge(&self, expected: &Account, problems: &mut Vec<String>) {
        let events = expected.values().map(|sums| sums.requests).sum();
        same(problems, "rows of the raw table", &events, &self.rows);
        same(problems, "different events in it", &events, &self.events);
        same_accounts(problems, "the raw table", expected, &self.account);
        for Follower { name, expected, found } in &self.followers {
            same(problems, &format!("groups of {name}"), &expected.len(), &found.len());
            let differing = expected.iter().zip(found).filter(|(expected, found)| expected != found);
            problems.extend(
                differing
                    .take(5)
                    .map(|(expected, found)| format!("{name}: `{found}` in place of `{expected}`")),
            );
        }
    }
}

fn pair(lines: &[String], between: char) -> Result<(u64, u64), String> {
    let both = lines.first().and_then(|line| line.split_once(between));
    let number = |text: &str| text.parse().ok();
    both.and_then(|(one, other)| Some((number(one)?, number(other)?)))
        .ok_or_else(|| format!("no counts in {lines:?}"))
}

/// From lines of tenant, model, requests, attempts, cost, tokens.
fn account(lines: &[String], between: char) -> Result<Account, String> {
    let entry = |line: &String| {
        let mut words = line.split(between);
        let key = (words.next()?.to_owned(), words.next()?.to_owned());
        let (requests, attempts) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let nano_eur = nano_eur(words.next()?, between)?;
        Some((key, Sums { requests, attempts, tokens: words.next()?.parse().ok()?, nano_eur }))
    };
    lines.iter().map(|line| entry(line).ok_or_else(|| format!("cannot be read: {line}"))).collect()
}

/// Nano-EUR as SQLite has them, or EUR with up to nine decimals as ClickHouse writes them.
fn nano_eur(text: &str, between: char) -> Option<i64> {
    if between == '|' {
        return text.parse().ok();
    }
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let rest: i64 = format!("{rest:0<9}").parse().ok()?;
    Some(whole.parse::<i64>().ok()? * 1_000_000_000 + rest)
}
