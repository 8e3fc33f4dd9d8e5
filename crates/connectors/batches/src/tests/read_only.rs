//! A server that can be read and not written.

use super::support::{now, open, ready, rules};
use signalbox_ports::batches::{BatchStore, BatchStoreError};
use signalbox_testkit::PostgresServer;

#[tokio::test]
async fn a_server_that_cannot_be_written_is_told_from_one_that_can() {
    let mut server = PostgresServer::start().await;
    let store = open(&server.url()).await;
    for _ in 0..2 {
        store.beat(now()).await.unwrap();
    }
    server.set_read_only(true).await;
    assert_eq!(store.jobs(&Default::default()).await.unwrap(), [], "it can be read");
    let told = store.beat(now()).await.unwrap_err();
    assert!(matches!(&told, BatchStoreError::Away(why) if why.contains("read-only")), "{told}");
    server.set_read_only(false).await;
    store.beat(now()).await.unwrap();
    let (job, items) = ready("j", 1);
    store.submit(&job, &items, &rules()).await.unwrap();
}
