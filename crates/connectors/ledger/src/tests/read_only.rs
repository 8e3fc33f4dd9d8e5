//! A server that can be read and not written.

use crate::SqlLedger;
use signalbox_ports::{
    ledger::Ledger,
    tenants::{Change, TenantStore},
};
use signalbox_testkit::PostgresServer;

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
