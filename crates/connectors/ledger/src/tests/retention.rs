//! Tables that an older version made and filled, and books that add up whatever was deleted.

use super::support::{LIMIT, assert_books, grant, now, opening, settlement};
use crate::{SqlLedger, migrations::MIGRATIONS};
use signalbox_contracts::SetClock;
use signalbox_ports::ledger::{Account, Granted, Ledger};
use signalbox_sql::{Migrations, Session};
use signalbox_testkit::{PostgresServer, some_steps};
use sqlx::Row;
use std::{sync::Arc, time::Duration};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Two budgets, and as many settlements of each as are asked for, now.
async fn filled(url: &str, steps: usize, settlements: i64) -> (SqlLedger, Arc<SetClock>) {
    let clock = Arc::new(SetClock::at(now()));
    let ledger = SqlLedger::with_clock(url, clock.clone()).unwrap();
    let tables = Migrations { steps: &MIGRATIONS.steps[..steps], ..MIGRATIONS };
    signalbox_sql::migrate(&ledger.database, &tables).await.unwrap();
    assert!(matches!(ledger.grant(&grant("r", "g", 10_000)).await.unwrap(), Granted::All(_)));
    for number in 0..settlements {
        assert_eq!(ledger.settle(&[settlement("r", &format!("s{number}"), 10)]).await.unwrap(), []);
    }
    (ledger, clock)
}

async fn rows(ledger: &SqlLedger, table: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) AS found FROM {table}");
    let count = ledger.database.read(&sql, |session: &mut Session<'_>, sql: &String| {
        Box::pin(async move {
            let row = session.query(sql.as_str()).fetch_one(&mut *session.connection).await?;
            row.try_get::<i64, _>("found")
        })
    });
    count.await.unwrap()
}

async fn prune(ledger: &SqlLedger, at_once: usize) {
    while ledger.prune(now() + DAY, at_once).await.unwrap().more {}
}

async fn what_was_there_before_the_upgrade_is_known_after_it_and_goes_once_it_is_old(url: &str) {
    let (ledger, clock) = filled(url, 2, 30).await;
    ledger.migrate().await.unwrap();
    assert_eq!(ledger.settle(&[settlement("r", "s7", 10)]).await.unwrap(), []);
    let account = ledger.accounts(&[opening("daily")]).await.unwrap().remove(0);
    assert_eq!((account.settled, account.leased), (300, 9_700), "a repeat is recognized");
    ledger.end_replica("r").await.unwrap();
    clock.set(now() + 2 * DAY);
    prune(&ledger, 7).await;
    assert_books(&ledger).await;
    let [entries, operations, leases] = ["entries", "operations", "leases"];
    let left = [rows(&ledger, entries).await, rows(&ledger, operations).await, rows(&ledger, leases).await];
    assert_eq!(left, [2, 0, 0], "the limits of both budgets");
    let account = ledger.accounts(&[opening("daily")]).await.unwrap().remove(0);
    let Account { limit, settled, reserved, leased, .. } = account;
    assert_eq!((limit, settled, reserved, leased), (LIMIT, 300, 0, 0));
}

async fn a_chunk_given_up_at_any_step_is_deleted_whole_or_not_at_all(url: &str) {
    let (ledger, clock) = filled(url, MIGRATIONS.steps.len(), 60).await;
    clock.set(now() + 2 * DAY);
    let mut given_up = 0;
    for steps in 1..60 {
        let before = rows(&ledger, "entries").await;
        let ended = some_steps(ledger.prune(now() + DAY, 5), steps).await;
        given_up += usize::from(!ended);
        assert_books(&ledger).await;
        let gone = before - rows(&ledger, "entries").await;
        assert!((0..=5).contains(&gone), "{gone} at step {steps}");
    }
    assert!(given_up > 0, "no call was given up");
    prune(&ledger, 5).await;
    assert_books(&ledger).await;
    assert_eq!(rows(&ledger, "entries").await, 2, "the limits of both budgets");
    assert_eq!(rows(&ledger, "operations").await, 0);
}

/// Its operation has no movement to go with, but its own.
async fn a_return_of_nothing_is_forgotten_like_any_other(url: &str) {
    let (ledger, clock) = filled(url, MIGRATIONS.steps.len(), 0).await;
    ledger.give_back("r", "b1", &[("of nobody".to_owned(), 5)]).await.unwrap();
    assert_eq!(rows(&ledger, "operations").await, 2);
    clock.set(now() + 2 * DAY);
    prune(&ledger, 100).await;
    assert_eq!(rows(&ledger, "operations").await, 0);
}

fn file() -> (String, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (format!("sqlite:{}", dir.path().join("ledger.db").display()), dir)
}

#[tokio::test]
async fn a_file_of_the_version_before_is_upgraded_with_its_rows() {
    let (url, _dir) = file();
    what_was_there_before_the_upgrade_is_known_after_it_and_goes_once_it_is_old(&url).await;
}

#[tokio::test]
async fn a_server_of_the_version_before_is_upgraded_with_its_rows() {
    let server = PostgresServer::start().await;
    what_was_there_before_the_upgrade_is_known_after_it_and_goes_once_it_is_old(&server.url()).await;
}

#[tokio::test]
async fn pruning_given_up_in_a_file_loses_nothing() {
    let (url, _dir) = file();
    a_chunk_given_up_at_any_step_is_deleted_whole_or_not_at_all(&url).await;
}

#[tokio::test]
async fn pruning_given_up_on_a_server_loses_nothing() {
    let server = PostgresServer::start().await;
    a_chunk_given_up_at_any_step_is_deleted_whole_or_not_at_all(&server.url()).await;
}

#[tokio::test]
async fn a_return_of_nothing_is_forgotten_in_a_file_and_on_a_server() {
    let (url, _dir) = file();
    a_return_of_nothing_is_forgotten_like_any_other(&url).await;
    let server = PostgresServer::start().await;
    a_return_of_nothing_is_forgotten_like_any_other(&server.url()).await;
}
