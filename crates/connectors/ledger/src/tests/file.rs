//! The ledger in a file.

use super::support::{LIMIT, opening};
use crate::{OpenError, SqlLedger};
use signalbox_ports::{ledger::Ledger, tenants::TenantStore};
use sqlx::{Connection as _, SqliteConnection};
use std::fs;

#[tokio::test]
async fn what_tries_whether_a_file_can_be_written_writes_it() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("ledger.db").display());
    let ledger = SqlLedger::open(&url).unwrap();
    ledger.migrate().await.unwrap();
    let mut other = SqliteConnection::connect(&url).await.unwrap();
    // Another one with each change that somebody else has written.
    let mut version =
        async || sqlx::query_scalar::<_, i64>("PRAGMA data_version").fetch_one(&mut other).await.unwrap();
    let before = version().await;
    ledger.beat().await.unwrap();
    assert_ne!(version().await, before);
}

#[tokio::test]
async fn any_name_is_a_files_and_its_folder_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made/where missing/100%?#ä.db");
    for url in [format!("sqlite:{}", path.display()), format!("sqlite://{}", path.display())] {
        let ledger = SqlLedger::open(&url).unwrap();
        ledger.migrate().await.unwrap();
        assert_eq!(ledger.accounts(&[opening("daily")]).await.unwrap()[0].limit, LIMIT);
        assert_eq!(ledger.place(), path.display().to_string());
    }
    assert!(path.is_file());
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let error = SqlLedger::open(&format!("sqlite:{}/file/ledger.db", dir.path().display())).unwrap_err();
    assert!(matches!(&error, OpenError::Folder { path, .. } if path.ends_with("/file")), "{error}");
}

#[tokio::test]
async fn what_is_no_database_is_refused_by_name_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("letter.txt");
    let letter = "Dear Sir or Madam, ".repeat(100);
    fs::write(&path, &letter).unwrap();
    let error = SqlLedger::open(&format!("sqlite:{}", path.display())).unwrap().migrate().await.unwrap_err();
    assert!(error.to_string().contains("letter.txt"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), letter);
}
