//! PostgreSQL dies while jobs come in and end.

use super::support::{LEASE, now, open, ready, rules};
use crate::SqlBatches;
use signalbox_ports::batches::{
    BatchStore, BatchStoreError, ItemEnd, JobQuery, JobState, Outcome, Spent, Step, WindowEnd,
};
use signalbox_testkit::{PostgresServer, eventually};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const JOBS: usize = 40;
const KILLS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_done_twice_while_the_server_is_killed_and_restarted() {
    let mut server = PostgresServer::start().await;
    let store = open(&server.url()).await;
    let done = Arc::new(AtomicUsize::new(0));
    let submitting = tokio::spawn(submit(store.clone()));
    let working = tokio::spawn(work(store.clone(), done.clone()));
    for kill in 1..=KILLS {
        let reached = kill * JOBS / (KILLS + 1);
        eventually("some is done", || async { done.load(Ordering::SeqCst) >= reached }).await;
        server.kill().await;
        server.restart().await;
    }
    let failures = submitting.await.unwrap() + working.await.unwrap();
    assert!(failures > 0, "nobody was in the middle of something");
    let query = JobQuery { states: vec![JobState::Ended], most: 1000, ..JobQuery::default() };
    let jobs = store.jobs(&query).await.unwrap();
    assert_eq!(jobs.len(), JOBS);
    assert!(jobs.iter().all(|job| (job.counts.succeeded, job.cost.nano_eur) == (5, 35)));
    assert_eq!(store.untold(1000).await.unwrap().len(), JOBS * 5);
}

/// Hands in jobs, each again until it is known to be kept. How often something failed.
async fn submit(store: SqlBatches) -> usize {
    let (mut failures, rules) = (0, rules());
    for number in 0..JOBS {
        let (job, items) = ready(&format!("j{number}"), 5);
        insist(&mut failures, || store.submit(&job, &items, &rules)).await;
    }
    failures
}

/// Ends all items of all jobs. How often something failed.
async fn work(store: SqlBatches, done: Arc<AtomicUsize>) -> usize {
    let (mut failures, mut time, rules) = (0, now(), rules());
    while done.load(Ordering::SeqCst) < JOBS {
        // A claim whose answer was lost is nobody's until its lease is over.
        time += LEASE;
        let claimed = insist(&mut failures, || store.claim("p", time, LEASE)).await;
        let Some(claim) = claimed else {
            tokio::task::yield_now().await;
            continue;
        };
        let items = insist(&mut failures, || store.items(&claim.window.window_id, None, 1 << 20)).await;
        let end = |key| (key, Step::End(end()));
        let ends: Vec<_> = items.iter().map(|item| end(item.key)).collect();
        insist(&mut failures, || store.step(&claim.lease, &ends, now(), &rules)).await;
        let over = WindowEnd { end_time: now(), refused: None };
        insist(&mut failures, || store.close(&claim.lease, &over)).await;
        done.fetch_add(1, Ordering::SeqCst);
    }
    failures
}

fn end() -> ItemEnd {
    ItemEnd {
        outcome: Outcome::Succeeded,
        result: b"result".to_vec(),
        event: b"event".to_vec(),
        cost: Spent { nano_eur: 7, unknown: false },
    }
}

/// Until it is known to be done, counting how often it was not.
async fn insist<T, F>(failures: &mut usize, call: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, BatchStoreError>>,
{
    loop {
        match call().await {
            Ok(done) => return done,
            Err(BatchStoreError::Away(_)) => *failures += 1,
            Err(other) => panic!("{other}"),
        }
    }
}
