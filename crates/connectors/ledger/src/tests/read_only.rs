//! A server that can be read and not written.

use crate::SqlLedger;
use futures_util::future::join_all;
use signalbox_ports::{
    ledger::Ledger,
    tenants::{Change, TenantStore},
};
use signalbox_testkit::PostgresServer;
use sqlx::{AnyConnection, Connection as _};

#[tokio::test]
async fn a_server_that_cannot_be_written_is_told_from_one_that_can() {
    let mut server = PostgresServer::start().await;
    let store = SqlLedger::open(&server.url()).unwrap();
    store.migrate().await.unwrap();
    store.announce(&Change::Key { key_id: "k".to_owned() }).await.unwrap();
    store.beat().await.unwrap();
    server.set_read_only(true).await;
    assert_eq!(store.last_change().await.unwrap(), 1, "it can be read");
    let told = store.beat().await.unwrap_err();
    assert!(told.to_string().contains("read-only"), "{told}");
    server.set_read_only(false).await;
    store.beat().await.unwrap();
    assert_eq!(store.last_change().await.unwrap(), 1, "nothing has changed");
}

#[tokio::test]
async fn connections_to_a_server_that_cannot_be_written_are_replaced() {
    let server = PostgresServer::start().await;
    let store = SqlLedger::open(&server.url()).unwrap();
    store.migrate().await.unwrap();
    // What a session is told when it begins stays with it: as with those to the old server after a failover.
    let mut operator = AnyConnection::connect(&server.url()).await.unwrap();
    let mut say = async |sql| sqlx::raw_sql(sql).execute(&mut operator).await.unwrap();
    say("ALTER ROLE signalbox SET default_transaction_read_only = on").await;
    say("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'signalbox'")
        .await;
    for looked in join_all((0..6).map(|_| store.last_change())).await {
        looked.unwrap();
    }
    store.beat().await.unwrap_err();
    say("ALTER ROLE signalbox RESET default_transaction_read_only").await;
    for beaten in join_all((0..6).map(|_| store.beat())).await {
        beaten.unwrap();
    }
}
