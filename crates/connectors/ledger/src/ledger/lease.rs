//! Leases: what a replica may spend of an account.

use super::account::{KEY, Keyed, SAME_KEY};
use crate::stored::{Key, account_key, json, time};
use serde::Serialize;
use signalbox_ports::ledger::{AccountKey, LeaseState};
use signalbox_sql::Session;
use sqlx::{Row, any::AnyRow};
use std::collections::BTreeMap;

/// What has become of a lease, as it is stored.
pub(super) mod state {
    /// Its replica spends from it.
    pub(in super::super) const ALIVE: i64 = 0;
    /// Its replica is lost: what is outstanding is held.
    pub(in super::super) const ORPHANED: i64 = 1;
    /// What was outstanding is booked as spent.
    pub(in super::super) const WRITTEN_OFF: i64 = 2;
    /// All of it is accounted for.
    pub(in super::super) const ENDED: i64 = 3;
}

const COLUMNS: &str = "t.lease_id, t.replica_id, t.tenant_id, t.budget_id, t.period_id, t.state, t.granted, \
                       t.returned, t.settled, t.written_off, t.expires_at, t.orphaned_at";

/// A lease as it is stored.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Lease {
    pub(super) lease_id: String,
    pub(super) replica_id: String,
    #[serde(flatten, with = "Key")]
    pub(super) account: AccountKey,
    pub(super) state: i64,
    pub(super) granted: i64,
    pub(super) returned: i64,
    pub(super) settled: i64,
    pub(super) written_off: i64,
    pub(super) expires_at: i64,
    pub(super) orphaned_at: i64,
}

impl Lease {
    /// One that holds nothing yet.
    pub(super) fn new(lease_id: String, replica_id: String, account: AccountKey, expires_at: i64) -> Self {
        Self {
            lease_id,
            replica_id,
            account,
            state: state::ALIVE,
            granted: 0,
            returned: 0,
            settled: 0,
            written_off: 0,
            expires_at,
            orphaned_at: 0,
        }
    }

    /// What has neither come back nor been settled; nothing where more was settled than granted.
    pub(super) fn outstanding(&self) -> i64 {
        (self.granted - self.returned - self.settled - self.written_off).max(0)
    }

    pub(super) fn told(&self) -> LeaseState {
        LeaseState {
            lease_id: self.lease_id.clone(),
            account: self.account.clone(),
            replica_id: self.replica_id.clone(),
            granted: self.granted,
            outstanding: self.outstanding(),
            expires_at: time(self.expires_at),
        }
    }

    fn read(row: &AnyRow) -> sqlx::Result<Self> {
        Ok(Self {
            lease_id: row.try_get("lease_id")?,
            replica_id: row.try_get("replica_id")?,
            account: account_key(row)?,
            state: row.try_get("state")?,
            granted: row.try_get("granted")?,
            returned: row.try_get("returned")?,
            settled: row.try_get("settled")?,
            written_off: row.try_get("written_off")?,
            expires_at: row.try_get("expires_at")?,
            orphaned_at: row.try_get("orphaned_at")?,
        })
    }
}

#[derive(Debug, Serialize)]
struct Named<'a> {
    lease_id: &'a str,
}

/// The leases with these ids, by id, locked.
pub(super) async fn lock(
    session: &mut Session<'_>,
    lease_ids: impl Iterator<Item = &str>,
) -> sqlx::Result<BTreeMap<String, Lease>> {
    let for_update = session.engine.for_update();
    by_id(session, lease_ids, for_update).await
}

/// The leases with these ids, by id, as they are now.
pub(super) async fn look(
    session: &mut Session<'_>,
    lease_ids: impl Iterator<Item = &str>,
) -> sqlx::Result<BTreeMap<String, Lease>> {
    by_id(session, lease_ids, "").await
}

async fn by_id(
    session: &mut Session<'_>,
    lease_ids: impl Iterator<Item = &str>,
    for_update: &str,
) -> sqlx::Result<BTreeMap<String, Lease>> {
    let names: Vec<Named<'_>> = lease_ids.map(|lease_id| Named { lease_id }).collect();
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let given = session.engine.given("$1", "lease_id text");
    let sql = format!(
        "SELECT {COLUMNS} FROM {given} JOIN leases t ON t.lease_id = given.lease_id \
         ORDER BY t.lease_id{for_update}"
    );
    let rows = session.query(sql).bind(json(&names)?).fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| Lease::read(row).map(|lease| (lease.lease_id.clone(), lease))).collect()
}

/// The leases of accounts that live, of all replicas.
pub(super) async fn alive(
    session: &mut Session<'_>,
    accounts: impl Iterator<Item = &AccountKey>,
) -> sqlx::Result<Vec<Lease>> {
    let keys: Vec<Keyed<'_>> = accounts.map(|key| Keyed { key }).collect();
    let given = session.engine.given("$1", KEY);
    let sql = format!(
        "SELECT {COLUMNS} FROM {given} JOIN leases t ON {SAME_KEY} AND t.state = 0 ORDER BY t.lease_id"
    );
    let rows = session.query(sql).bind(json(&keys)?).fetch_all(&mut *session.connection).await?;
    rows.iter().map(Lease::read).collect()
}

/// The leases of a replica that hold something, or may.
pub(super) async fn of_replica(session: &mut Session<'_>, replica_id: &str) -> sqlx::Result<Vec<Lease>> {
    let sql =
        format!("SELECT {COLUMNS} FROM leases t WHERE t.replica_id = $1 AND t.state < 3 ORDER BY t.lease_id");
    let rows = session.query(sql).bind(replica_id.to_owned()).fetch_all(&mut *session.connection).await?;
    rows.iter().map(Lease::read).collect()
}

/// Leases in a state, of those whose `time` is before `end`, the earliest first.
pub(super) async fn due(
    session: &mut Session<'_>,
    (state, time): (i64, &str),
    end: i64,
    most: i64,
) -> sqlx::Result<Vec<Lease>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM leases t WHERE t.state = {state} AND t.{time} < $1 ORDER BY t.{time} LIMIT $2"
    );
    let rows = session.query(sql).bind(end).bind(most).fetch_all(&mut *session.connection).await?;
    rows.iter().map(Lease::read).collect()
}

/// Who holds an account.
pub(super) async fn holders(
    session: &mut Session<'_>,
    key: &AccountKey,
    now: i64,
) -> sqlx::Result<Vec<LeaseState>> {
    let alive = alive(session, std::iter::once(key)).await?;
    Ok(alive.iter().filter(|lease| lease.expires_at > now).map(Lease::told).collect())
}

/// How many replicas hold a lease.
pub(super) async fn replicas(session: &mut Session<'_>, now: i64) -> sqlx::Result<u32> {
    let sql = "SELECT COUNT(DISTINCT replica_id) AS replicas FROM leases WHERE state = 0 AND expires_at > $1";
    let row = session.query(sql.to_owned()).bind(now).fetch_one(&mut *session.connection).await?;
    Ok(u32::try_from(row.try_get::<i64, _>("replicas")?).unwrap_or(u32::MAX))
}

/// Who wants which leases to live on.
#[derive(Debug)]
pub(super) struct Renewal<'a> {
    pub(super) replica_id: &'a str,
    pub(super) lease_ids: &'a [String],
    pub(super) now: i64,
    pub(super) expires_at: i64,
}

/// Leases live on. No money moves, so that their accounts need no lock.
pub(super) async fn renew(session: &mut Session<'_>, ask: &Renewal<'_>) -> sqlx::Result<Vec<LeaseState>> {
    let mut leases = lock(session, ask.lease_ids.iter().map(String::as_str)).await?;
    leases.retain(|_, lease| {
        lease.replica_id == ask.replica_id && lease.state == state::ALIVE && lease.expires_at > ask.now
    });
    for lease in leases.values_mut() {
        lease.expires_at = lease.expires_at.max(ask.expires_at);
    }
    save(session, &leases.values().cloned().collect::<Vec<_>>()).await?;
    let in_order = ask.lease_ids.iter().filter_map(|lease_id| leases.get(lease_id));
    Ok(in_order.map(Lease::told).collect())
}

/// Writes leases, new ones or such that are locked.
pub(super) async fn save(session: &mut Session<'_>, leases: &[Lease]) -> sqlx::Result<()> {
    if leases.is_empty() {
        return Ok(());
    }
    let columns = format!(
        "lease_id text, replica_id text, {KEY}, state bigint, granted bigint, returned bigint, settled bigint, \
         written_off bigint, expires_at bigint, orphaned_at bigint"
    );
    let given = session.engine.given("$1", &columns);
    let sql = format!(
        "INSERT INTO leases (lease_id, replica_id, tenant_id, budget_id, period_id, state, granted, returned, \
         settled, written_off, expires_at, orphaned_at) \
         SELECT lease_id, replica_id, tenant_id, budget_id, period_id, state, granted, returned, settled, \
         written_off, expires_at, orphaned_at FROM {given} WHERE true \
         ON CONFLICT (lease_id) DO UPDATE SET state = excluded.state, granted = excluded.granted, \
         returned = excluded.returned, settled = excluded.settled, written_off = excluded.written_off, \
         expires_at = excluded.expires_at, orphaned_at = excluded.orphaned_at"
    );
    session.query(sql).bind(json(leases)?).execute(&mut *session.connection).await?;
    Ok(())
}
