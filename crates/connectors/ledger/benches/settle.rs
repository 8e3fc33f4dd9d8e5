//! How many settlements a second a ledger books, and how long grants take, on a real PostgreSQL that forces every
//! commit to the disk, and in a SQLite file.
//!
//! `cargo bench --package signalbox-ledger --bench settle`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark tells its figures")]

use futures_util::future::join_all;
use signalbox_api::v1::{Settlement, UsageCharge};
use signalbox_ledger::SqlLedger;
use signalbox_ports::ledger::{AccountKey, GrantAsk, Granted, Ledger, Opening, SliceAsk};
use signalbox_testkit::PostgresServer;
use std::{
    sync::Arc,
    time::{Duration, Instant, UNIX_EPOCH},
};

/// As a router's settler sends them.
const BATCH: usize = 100;
const SETTLERS: usize = 4;
const FOR: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", folder.path().join("ledger.db").display());
    let server = PostgresServer::with(&["fsync=on", "full_page_writes=on"]).await;
    println!("| ledger | tenants | settlements/s, batches of {BATCH}, {SETTLERS} settlers | median grant |");
    println!("|---|---|---|---|");
    for (name, url) in [("PostgreSQL, fsync", server.url()), ("SQLite, FULL", file)] {
        let ledger = Arc::new(SqlLedger::open(&url).unwrap());
        ledger.migrate().await.unwrap();
        for tenants in [1, 200] {
            let grant = grants(&ledger, tenants).await;
            let settled = settlements(&ledger, tenants).await;
            println!("| {name} | {tenants} | {settled:.0} | {grant:?} |");
        }
    }
}

fn budgets(tenant: usize) -> impl Iterator<Item = AccountKey> {
    ["daily", "monthly"].into_iter().map(move |budget| AccountKey {
        tenant_id: format!("tenant-{tenant}"),
        budget_id: budget.to_owned(),
        period_id: "2026-11".to_owned(),
    })
}

/// Every settler takes leases of two budgets of every tenant. The median time of a grant.
async fn grants(ledger: &Arc<SqlLedger>, tenants: usize) -> Duration {
    let mut times = Vec::new();
    for (tenant, settler) in
        (0..tenants).flat_map(|tenant| (0..SETTLERS).map(move |settler| (tenant, settler)))
    {
        let slice = |key: AccountKey| SliceAsk {
            lease_id: format!("lease {settler} {} {}", key.tenant_id, key.budget_id),
            account: Opening { key, limit: i64::MAX / 4, hard: true },
            needed: 1,
            wanted: 1_000_000_000,
        };
        let ask = GrantAsk {
            replica_id: format!("replica-{settler}"),
            grant_id: format!("{tenants} {tenant} {settler}"),
            accounts: budgets(tenant).map(slice).collect(),
            now: UNIX_EPOCH + Duration::from_secs(1_800_000_000),
            expires_at: UNIX_EPOCH + Duration::from_secs(1_800_000_060),
        };
        let start = Instant::now();
        assert!(matches!(ledger.grant(&ask).await.unwrap(), Granted::All(_)));
        times.push(start.elapsed());
    }
    times.sort();
    times[times.len() / 2]
}

async fn settlements(ledger: &Arc<SqlLedger>, tenants: usize) -> f64 {
    let start = Instant::now();
    let settlers = (0..SETTLERS).map(|settler| tokio::spawn(settle(ledger.clone(), settler, tenants, start)));
    let booked: usize = join_all(settlers).await.into_iter().map(Result::unwrap).sum();
    booked as f64 / start.elapsed().as_secs_f64()
}

async fn settle(ledger: Arc<SqlLedger>, settler: usize, tenants: usize, start: Instant) -> usize {
    let mut booked = 0;
    while start.elapsed() < FOR {
        let batch: Vec<_> =
            (booked..booked + BATCH).map(|number| settlement(settler, number, tenants)).collect();
        assert_eq!(ledger.settle(&batch).await.unwrap(), []);
        booked += BATCH;
    }
    booked
}

fn settlement(settler: usize, number: usize, tenants: usize) -> Settlement {
    let id = format!("0193{tenants:04}-{settler:04}-7000-8000-{number:012}");
    let tenant = number.wrapping_mul(7919) % tenants;
    let charge = |key: AccountKey| UsageCharge {
        lease_id: format!("lease {settler} {} {}", key.tenant_id, key.budget_id),
        budget_id: key.budget_id,
        period_id: key.period_id,
        ..UsageCharge::default()
    };
    Settlement {
        tenant_id: format!("tenant-{tenant}"),
        charges: budgets(tenant).map(charge).collect(),
        request_id: id.clone(),
        settlement_id: id,
        amount_nano_eur: 1_234,
        ..Settlement::default()
    }
}
