//! Callers leave in the middle of a call.

use super::support::{LEASE, now, open, ready, rules};
use crate::SqlBatches;
use signalbox_ports::batches::{BatchStore, ItemEnd, JobState, Outcome, Spent, Step};
use signalbox_testkit::{PostgresServer, some_steps};

/// Handed in by one who leaves, and ended by one who leaves: each is done whole or not at all, and once.
async fn a_call_given_up_at_any_step_is_done_whole_or_not_at_all(store: &SqlBatches) {
    for steps in 1..50 {
        let (job, items) = ready(&format!("j{steps}"), 5);
        let submitted = some_steps(store.submit(&job, &items, &rules()), steps).await;
        let found = store.job("acme", &job.job_id).await.unwrap();
        assert!(found.is_some() || !submitted, "{steps}");
        assert!(found.is_none_or(|(job, _)| job.counts.queued == 5), "{steps}");
        store.submit(&job, &items, &rules()).await.unwrap();
        let claim = store.claim("p", now(), LEASE).await.unwrap().unwrap();
        let items = store.items(&claim.window.window_id, None, 1 << 20).await.unwrap();
        let end = ItemEnd {
            outcome: Outcome::Succeeded,
            result: b"result".to_vec(),
            event: b"event".to_vec(),
            cost: Spent { nano_eur: 7, unknown: false },
        };
        let ends: Vec<_> = items.iter().map(|item| (item.key, Step::End(end.clone()))).collect();
        let ended = some_steps(store.step(&claim.lease, &ends, now(), &rules()), steps).await;
        let done = store.job("acme", &job.job_id).await.unwrap().unwrap().0;
        assert!(done.state == JobState::Ended || !ended, "{steps}");
        assert!([(0, 0), (5, 35)].contains(&(done.counts.succeeded, done.cost.nano_eur)), "{steps} {done:?}");
        store.step(&claim.lease, &ends, now(), &rules()).await.unwrap();
        let done = store.job("acme", &job.job_id).await.unwrap().unwrap().0;
        assert_eq!((done.state, done.counts.succeeded, done.cost.nano_eur), (JobState::Ended, 5, 35));
        assert_eq!(store.results("acme", &job.job_id, 0, 10).await.unwrap().unwrap().results.len(), 5);
        assert_eq!(store.untold(1000).await.unwrap().len(), 5 * steps);
    }
}

#[tokio::test]
async fn in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("batches.db").display());
    a_call_given_up_at_any_step_is_done_whole_or_not_at_all(&open(&url).await).await;
}

#[tokio::test]
async fn on_a_server() {
    let server = PostgresServer::start().await;
    a_call_given_up_at_any_step_is_done_whole_or_not_at_all(&open(&server.url()).await).await;
}
