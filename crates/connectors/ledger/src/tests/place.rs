//! Where a ledger is, told to everybody; its password, told to nobody.

use super::support::opening;
use crate::{OpenError, SqlLedger};
use signalbox_ports::{
    ledger::{Ledger, LedgerError},
    tenants::TenantStore,
};
use signalbox_testkit::PostgresServer;

fn assert_no_secret(told: &str) {
    for secret in [PostgresServer::PASSWORD, PostgresServer::USER, "other-secret", "other%2Dsecret"] {
        assert!(!told.contains(secret), "{told}");
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_named_without_user_and_password() {
    let mut server = PostgresServer::start().await;
    let ledger = SqlLedger::open(&server.url()).unwrap();
    ledger.migrate().await.unwrap();
    server.kill().await;
    let Err(LedgerError::Away(away)) = ledger.accounts(&[opening("daily")]).await else {
        panic!("it answers")
    };
    assert!(away.contains(&format!("127.0.0.1:{}/postgres", server.port())), "{away}");
    let store = ledger.has_keys().await.unwrap_err().to_string();
    for told in [away, store, format!("{ledger:?}"), ledger.place().to_owned()] {
        assert_no_secret(&told);
    }
    server.restart().await;
    assert!(!ledger.has_keys().await.unwrap());
}

#[tokio::test]
async fn a_wrong_password_is_not_told_either() {
    let server = PostgresServer::start().await;
    for password in ["other-secret", "other%2Dsecret"] {
        let ledger = SqlLedger::open(&server.url().replace(PostgresServer::PASSWORD, password)).unwrap();
        let away = ledger.migrate().await.unwrap_err().to_string();
        assert!(away.contains("password authentication failed"), "{away}");
        assert_no_secret(&away.replace("for user \"signalbox\"", ""));
    }
}

#[test]
fn a_url_that_cannot_be_read_is_refused_without_repeating_it() {
    for url in
        ["postgres://signalbox:other-secret@host:port/db", "postgres://signalbox:other-secret@[host/db"]
    {
        let error = SqlLedger::open(url).unwrap_err();
        assert!(matches!(error, OpenError::Unreadable(_)), "{error:?}");
        assert_no_secret(&format!("{error} {error:?}"));
    }
    for url in ["mysql://signalbox:other-secret@host/db", "other-secret", ""] {
        assert_eq!(SqlLedger::open(url).unwrap_err(), OpenError::Scheme);
    }
}

#[test]
fn a_url_whose_options_would_be_ignored_or_that_trusts_a_file_that_is_not_there_is_refused() {
    for (query, expected) in [
        ("sslmod=verify-full", "did you mean `sslmode`?"),
        ("sslmode=verify", "none of disable"),
        ("sslrootcert=/etc/ca.crt", "nobody looks at"),
        ("sslmode=verify-full&sslrootcert=/no/such/ca.crt", "/no/such/ca.crt: cannot be read"),
    ] {
        let error = SqlLedger::open(&format!("postgres://me:other-secret@host/db?{query}")).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_no_secret(&format!("{error} {error:?}"));
    }
}

#[tokio::test]
async fn tables_of_a_newer_version_are_refused_with_what_to_do() {
    let server = PostgresServer::start().await;
    let ledger = SqlLedger::open(&server.url()).unwrap();
    ledger.migrate().await.unwrap();
    let newer = "INSERT INTO ledger_migrations (version, description, success, checksum, execution_time) \
                 VALUES (99, 'from the future', true, '\\x00', 0)";
    let written = ledger.database.run(newer, |session, sql| {
        Box::pin(async move { session.query(sql).execute(&mut *session.connection).await })
    });
    written.await.unwrap();
    let error = ledger.migrate().await.unwrap_err().to_string();
    assert!(error.contains("newer Signalbox") && error.contains("99"), "{error}");
}
