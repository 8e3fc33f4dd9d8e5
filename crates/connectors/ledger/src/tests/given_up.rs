//! Callers leave in the middle of a call.

use super::support::{assert_books, grant, opening, settlement};
use crate::SqlLedger;
use signalbox_ports::ledger::{Granted, Ledger};
use signalbox_testkit::{PostgresServer, some_steps};

async fn a_call_given_up_at_any_step_is_done_whole_or_not_at_all(url: &str) {
    let ledger = SqlLedger::open(url).unwrap();
    ledger.migrate().await.unwrap();
    assert!(matches!(ledger.grant(&grant("r", "g", 10_000)).await.unwrap(), Granted::All(_)));
    for steps in 1..60 {
        let settled = [settlement("r", &format!("s{steps}"), 10)];
        let ended = some_steps(ledger.settle(&settled), steps).await;
        assert_books(&ledger).await;
        let account = ledger.accounts(&[opening("daily")]).await.unwrap().remove(0);
        let before = i64::try_from(steps).unwrap() * 10 - 10;
        assert!(
            account.settled == before + 10 || !ended && account.settled == before,
            "{steps}: {account:?}"
        );
        assert_eq!(ledger.settle(&settled).await.unwrap(), []);
        let account = ledger.accounts(&[opening("daily")]).await.unwrap().remove(0);
        assert_eq!((account.settled, account.leased), (before + 10, 10_000 - before - 10));
    }
}

#[tokio::test]
async fn in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("ledger.db").display());
    a_call_given_up_at_any_step_is_done_whole_or_not_at_all(&url).await;
}

#[tokio::test]
async fn on_a_server() {
    let server = PostgresServer::start().await;
    a_call_given_up_at_any_step_is_done_whole_or_not_at_all(&server.url()).await;
}
