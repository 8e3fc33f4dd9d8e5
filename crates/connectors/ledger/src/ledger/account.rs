//! Accounts: one period of one budget each.

use super::{books::Books, entry::Entry};
use crate::stored::{Key, account_key, json};
use serde::Serialize;
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_ports::ledger::{Account, AccountKey, Opening};
use signalbox_sql::Session;
use sqlx::{Row, any::AnyRow};
use std::collections::{BTreeMap, BTreeSet};

/// Columns of a key, for rows that are given.
pub(super) const KEY: &str = "tenant_id text, budget_id text, period_id text";
/// Joins what is given to `t` by it.
pub(super) const SAME_KEY: &str = "t.tenant_id = given.tenant_id AND t.budget_id = given.budget_id \
                                   AND t.period_id = given.period_id";
const COLUMNS: &str =
    "t.tenant_id, t.budget_id, t.period_id, t.opened, t.limit_amount, t.settled, t.reserved, t.leased";

/// An account as it is stored.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Line {
    #[serde(flatten, with = "Key")]
    pub(super) key: AccountKey,
    /// 0 while only settlements have spoken of it.
    #[serde(skip)]
    pub(super) opened: i64,
    pub(super) limit_amount: i64,
    pub(super) settled: i64,
    pub(super) reserved: i64,
    pub(super) leased: i64,
}

impl Line {
    pub(super) fn free(&self) -> i64 {
        self.account().free()
    }

    pub(super) fn account(&self) -> Account {
        Account {
            key: self.key.clone(),
            limit: self.limit_amount,
            settled: self.settled,
            reserved: self.reserved,
            leased: self.leased,
        }
    }

    fn read(row: &AnyRow) -> sqlx::Result<Self> {
        Ok(Self {
            key: account_key(row)?,
            opened: row.try_get("opened")?,
            limit_amount: row.try_get("limit_amount")?,
            settled: row.try_get("settled")?,
            reserved: row.try_get("reserved")?,
            leased: row.try_get("leased")?,
        })
    }
}

/// An account that may have to be opened.
#[derive(Debug, Serialize)]
struct New<'a> {
    #[serde(flatten, with = "Key")]
    key: &'a AccountKey,
    opened: i64,
    limit_amount: i64,
}

/// Accounts, if all of them are open.
pub(super) async fn all_open(
    session: &mut Session<'_>,
    accounts: &[Opening],
) -> sqlx::Result<Option<Vec<Account>>> {
    let keys: Vec<&AccountKey> = accounts.iter().map(|opening| &opening.key).collect();
    let lines = find(session, &keys, "").await?;
    let of = |key: &&AccountKey| lines.get(*key).filter(|line| line.opened == 1).map(Line::account);
    Ok(keys.iter().map(of).collect())
}

/// Accounts, opened where they are not yet.
pub(super) async fn open(
    session: &mut Session<'_>,
    accounts: &[Opening],
    now: i64,
) -> sqlx::Result<Vec<Account>> {
    let mut books = lock(session, accounts, now).await?;
    books.save(session).await?;
    Ok(accounts.iter().map(|opening| books.account(&opening.key)).collect())
}

/// The books of accounts, opened where they are not yet, and locked.
pub(super) async fn lock(session: &mut Session<'_>, accounts: &[Opening], now: i64) -> sqlx::Result<Books> {
    let new =
        accounts.iter().map(|opening| New { key: &opening.key, opened: 1, limit_amount: opening.limit });
    lock_new(session, new.collect(), now).await
}

/// The same for accounts of which no limit is known.
pub(super) async fn lock_unlimited(
    session: &mut Session<'_>,
    keys: BTreeSet<&AccountKey>,
    now: i64,
) -> sqlx::Result<Books> {
    let new = keys.into_iter().map(|key| New { key, opened: 0, limit_amount: 0 });
    lock_new(session, new.collect(), now).await
}

async fn lock_new(session: &mut Session<'_>, accounts: Vec<New<'_>>, now: i64) -> sqlx::Result<Books> {
    let keys: Vec<&AccountKey> = accounts.iter().map(|new| new.key).collect();
    let for_update = session.engine.for_update();
    let mut lines = find(session, &keys, for_update).await?;
    let is_missing = |new: &New<'_>| lines.get(new.key).is_none_or(|line| line.opened < new.opened);
    let missing: Vec<New<'_>> = accounts.into_iter().filter(is_missing).collect();
    let mut entries = Vec::new();
    if !missing.is_empty() {
        entries = insert(session, &missing).await?;
        lines = find(session, &keys, for_update).await?;
    }
    Ok(Books::new(lines, entries, now))
}

async fn find(
    session: &mut Session<'_>,
    keys: &[&AccountKey],
    for_update: &str,
) -> sqlx::Result<BTreeMap<AccountKey, Line>> {
    let keys: Vec<Keyed<'_>> = keys.iter().map(|key| Keyed { key }).collect();
    let given = session.engine.given("$1", KEY);
    let sql = format!(
        "SELECT {COLUMNS} FROM {given} JOIN accounts t ON {SAME_KEY} \
         ORDER BY t.tenant_id, t.budget_id, t.period_id{for_update}"
    );
    let rows = session.query(sql).bind(json(&keys)?).fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| Line::read(row).map(|line| (line.key.clone(), line))).collect()
}

/// A key by itself.
#[derive(Debug, Serialize)]
pub(super) struct Keyed<'a> {
    #[serde(flatten, with = "Key")]
    pub(super) key: &'a AccountKey,
}

/// Opens accounts; somebody else may do so at the same time. The entries of those whose limit was set.
async fn insert(session: &mut Session<'_>, accounts: &[New<'_>]) -> sqlx::Result<Vec<Entry>> {
    let given = session.engine.given("$1", &format!("{KEY}, opened bigint, limit_amount bigint"));
    let sql = format!(
        "INSERT INTO accounts (tenant_id, budget_id, period_id, opened, limit_amount, settled, reserved, leased) \
         SELECT tenant_id, budget_id, period_id, opened, limit_amount, 0, 0, 0 FROM {given} WHERE true \
         ORDER BY tenant_id, budget_id, period_id \
         ON CONFLICT (tenant_id, budget_id, period_id) DO UPDATE \
         SET opened = 1, limit_amount = excluded.limit_amount WHERE accounts.opened = 0 AND excluded.opened = 1 \
         RETURNING tenant_id, budget_id, period_id, opened, limit_amount"
    );
    let rows = session.query(sql).bind(json(accounts)?).fetch_all(&mut *session.connection).await?;
    let mut entries = Vec::new();
    for row in &rows {
        if row.try_get::<i64, _>("opened")? == 1 {
            let amount = row.try_get("limit_amount")?;
            entries.push(Entry::new(Kind::Limit, account_key(row)?, amount));
        }
    }
    Ok(entries)
}

/// Writes accounts back.
pub(super) async fn update(session: &mut Session<'_>, lines: &[Line]) -> sqlx::Result<()> {
    let columns = "limit_amount bigint, settled bigint, reserved bigint, leased bigint";
    let given = session.engine.given("$1", &format!("{KEY}, {columns}"));
    let sql = format!(
        "UPDATE accounts AS t SET limit_amount = given.limit_amount, settled = given.settled, \
         reserved = given.reserved, leased = given.leased FROM {given} WHERE {SAME_KEY}"
    );
    session.query(sql).bind(json(lines)?).execute(&mut *session.connection).await?;
    Ok(())
}
