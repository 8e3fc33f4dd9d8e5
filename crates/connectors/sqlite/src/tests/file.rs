//! The file itself.

use super::{open, usage};
use crate::{Database, OpenError};
use futures_util::future::join_all;
use signalbox_contracts::events;
use signalbox_ports::usage_store::{Batch, Inserted, StoreFailure, UsageStore};
use sqlx::Connection;
use std::{fs, path::Path, time::SystemTime};

fn batch(count: usize) -> Batch {
    Batch { token: "t".to_owned(), events: events(1, 100).take(count).collect(), suspects: Vec::new() }
}

async fn refusal(path: &Path) -> OpenError {
    Database::open(path).await.unwrap_err()
}

#[tokio::test]
async fn what_was_stored_is_there_when_the_file_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made/where/missing/usage.db");
    usage(&open(&path).await).insert(&batch(10)).await.unwrap();
    let again = usage(&open(&path).await).insert(&batch(12)).await.unwrap();
    assert_eq!(again, Inserted { stored: 2, repeated: 10 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_processes_may_make_one_file_at_once_and_write_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = &dir.path().join("usage.db");
    let stored = join_all((0..6).map(|_| async move {
        let inserted = usage(&open(path).await).insert(&batch(50)).await.unwrap();
        inserted.stored
    }));
    assert_eq!(stored.await.into_iter().sum::<usize>(), 50, "each event is new to one of them only");
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused_by_name_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("letter.txt");
    let letter = "Dear Sir or Madam, ".repeat(100);
    fs::write(&path, &letter).unwrap();
    let error = refusal(&path).await;
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert!(
        error.to_string().contains("letter.txt") && error.to_string().contains("move it away"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), letter);
}

#[tokio::test]
async fn another_programs_database_is_refused_by_name_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("music.db");
    let options = format!("sqlite://{}?mode=rwc", path.display());
    let mut other = sqlx::SqliteConnection::connect(&options).await.unwrap();
    sqlx::query("CREATE TABLE songs (name TEXT)").execute(&mut other).await.unwrap();
    let error = refusal(&path).await.to_string();
    assert!(error.contains("music.db is another program's database") && error.contains("`songs`"), "{error}");
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut other).await.unwrap();
    assert_eq!(tables, 1);
}

#[tokio::test]
async fn a_damaged_file_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("usage.db");
    let database = open(&path).await;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut *database.writer().await.unwrap())
        .await
        .unwrap();
    drop(database);
    let mut bytes = fs::read(&path).unwrap();
    bytes.iter_mut().skip(100).take(4_000).for_each(|byte| *byte = 0xA5);
    fs::write(&path, bytes).unwrap();
    let error = refusal(&path).await.to_string();
    assert!(error.contains("usage.db") && error.contains("restore it from a backup"), "{error}");
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("usage.db");
    let database = open(&path).await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (99, 'from the future', true, x'00', 0)";
    sqlx::query(newer).execute(&mut *database.writer().await.unwrap()).await.unwrap();
    drop(database);
    let error = refusal(&path).await;
    assert!(matches!(error, OpenError::TooNew { version: 99, .. }), "{error}");
    assert!(error.to_string().contains("newer Signalbox"), "{error}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let error = refusal(&dir.path().join("file/usage.db")).await.to_string();
    assert!(error.contains("file/usage.db"), "{error}");
}

#[tokio::test]
async fn a_batch_that_is_broken_off_is_not_there_in_part() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("usage.db");
    let database = open(&path).await;
    let store = usage(&database);
    // Another process writes; ours waits for it and is given up.
    let options = format!("sqlite://{}", path.display());
    let mut other = sqlx::SqliteConnection::connect(&options).await.unwrap();
    let blocking = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let all = batch(50);
    assert!(futures_util::poll!(store.insert(&all)).is_pending());
    blocking.rollback().await.unwrap();
    assert_eq!(store.insert(&all).await.unwrap(), Inserted { stored: 50, repeated: 0 });
}

async fn run(database: &Database, sql: &'static str) {
    sqlx::raw_sql(sql).execute(&mut *database.writer().await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_file_that_may_not_grow_takes_what_comes_once_it_may() {
    let dir = tempfile::tempdir().unwrap();
    let database = open(&dir.path().join("usage.db")).await;
    let store = usage(&database);
    for _ in 0..2 {
        run(&database, "PRAGMA max_page_count = 1").await;
        let failure = store.insert(&batch(100)).await.unwrap_err();
        assert!(matches!(&failure, StoreFailure::Away(why) if why.contains("full")), "{failure:?}");
    }
    run(&database, "PRAGMA max_page_count = 100000").await;
    assert_eq!(store.insert(&batch(100)).await.unwrap(), Inserted { stored: 100, repeated: 0 });
}

#[tokio::test]
async fn after_sqlite_has_rolled_back_by_itself_as_on_a_full_disk_the_next_batch_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let database = open(&dir.path().join("usage.db")).await;
    let store = usage(&database);
    let full =
        "CREATE TRIGGER full BEFORE INSERT ON usage_events BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END";
    for _ in 0..3 {
        run(&database, full).await;
        let failure = store.insert(&batch(100)).await.unwrap_err();
        assert!(failure.to_string().contains("disk is full"), "{failure:?}");
        store.close_months(SystemTime::UNIX_EPOCH).await.unwrap();
        run(&database, "DROP TRIGGER full").await;
    }
    assert_eq!(store.insert(&batch(100)).await.unwrap(), Inserted { stored: 100, repeated: 0 });
}
