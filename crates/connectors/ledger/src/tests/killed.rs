//! PostgreSQL dies while money moves.

use super::support::{LIMIT, assert_books, grant, opening, settlement};
use crate::SqlLedger;
use futures_util::future::join_all;
use signalbox_ports::ledger::{Account, Granted, Ledger, LedgerError};
use signalbox_testkit::{PostgresServer, eventually};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const TASKS: usize = 6;
const EACH: usize = 40;
const KILLS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_booked_twice_or_lost_while_the_server_is_killed_and_restarted() {
    let mut server = PostgresServer::start().await;
    let ledger = SqlLedger::open(&server.url()).unwrap();
    ledger.migrate().await.unwrap();
    let done = Arc::new(AtomicUsize::new(0));
    let tasks =
        (0..TASKS).map(|task| tokio::spawn(spend(ledger.clone(), format!("replica-{task}"), done.clone())));
    let tasks: Vec<_> = tasks.collect();
    for kill in 1..=KILLS {
        let reached = kill * TASKS * EACH / (KILLS + 1);
        eventually("some is done", || async { done.load(Ordering::SeqCst) >= reached }).await;
        server.kill().await;
        server.restart().await;
    }
    let failures: usize = join_all(tasks).await.into_iter().map(Result::unwrap).sum();
    assert!(failures > 0, "nobody was in the middle of something");
    let spent = i64::try_from(TASKS * EACH * 7).unwrap();
    for account in ledger.accounts(&[opening("daily"), opening("monthly")]).await.unwrap() {
        let Account { limit, settled, reserved, leased, .. } = account;
        assert_eq!((limit, settled, reserved, leased), (LIMIT, spent, 0, 0));
    }
    assert_books(&ledger).await;
}

/// Takes ten, spends seven and gives back three, again and again; whatever fails is done again with the same ids. How
/// often something failed.
async fn spend(ledger: SqlLedger, replica: String, done: Arc<AtomicUsize>) -> usize {
    let mut failures = 0;
    for round in 0..EACH {
        let id = format!("{replica} {round}");
        let wish = grant(&replica, &id, 10);
        let settled = [settlement(&replica, &id, 7)];
        let back = ["daily", "monthly"].map(|budget| (format!("{replica} {budget}"), 3));
        let granted = insist(&mut failures, || ledger.grant(&wish)).await;
        assert!(matches!(granted, Granted::All(_)), "{granted:?}");
        assert_eq!(insist(&mut failures, || ledger.settle(&settled)).await, []);
        insist(&mut failures, || ledger.give_back(&replica, &id, &back)).await;
        done.fetch_add(1, Ordering::SeqCst);
    }
    failures
}

/// Until it is known to be done, counting how often it was not.
async fn insist<T, F>(failures: &mut usize, call: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, LedgerError>>,
{
    loop {
        match call().await {
            Ok(done) => return done,
            Err(LedgerError::Away(_)) => *failures += 1,
            Err(other) => panic!("{other}"),
        }
    }
}
