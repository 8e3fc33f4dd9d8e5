//! Many processes at once, and much at once.

use super::{
    Fresh,
    support::{ALL, LEASE, World, end, handed, item, items, later, new_job, now, rules},
};
use futures_util::future::join_all;
use signalbox_batching::Fault;
use signalbox_ports::batches::{
    BatchStore, JobQuery, JobState, NewItem, Outcome, Step, Submitted, WaitingQuery, WindowEnd,
};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// Jobs of processes that stand in each other's way.
const JOBS: usize = 10;

/// No window is taken by two.
pub async fn many_processes_share_the_windows_and_end_each_item_once(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    for number in 0..4 {
        world.submit(["acme", "other"][number % 2], &format!("j{number}"), &items(15, "openai")).await;
    }
    let processes: Vec<Arc<dyn BatchStore>> = (0..4).map(|_| (world.another)()).collect();
    let workers = processes.iter().enumerate().map(|(number, store)| {
        let store = store.clone();
        tokio::spawn(async move { work(&*store, &format!("p{number}")).await })
    });
    let taken: Vec<String> = join_all(workers).await.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!((taken.len(), taken.iter().collect::<BTreeSet<_>>().len()), (20, 20));
    for number in 0..4 {
        let (tenant, job) = (["acme", "other"][number % 2], format!("j{number}"));
        let found = world.job(tenant, &job).await.0;
        assert_eq!((found.state, found.counts.succeeded, found.cost.nano_eur), (JobState::Ended, 15, 120));
        let results = world.results(tenant, &job, 0).await.results;
        let ids: BTreeSet<&str> = results.iter().map(|result| result.item_id.as_str()).collect();
        assert_eq!((ids.len(), results.last().unwrap().sequence), (15, 15));
    }
    assert_eq!(world.store.untold(1000).await.unwrap().len(), 60);
}

/// Takes and ends windows while there are any.
async fn work(store: &dyn BatchStore, owner: &str) -> Vec<String> {
    let mut taken = Vec::new();
    while let Some(claim) = store.claim(owner, later(60), LEASE).await.unwrap() {
        let items = store.items(&claim.window.window_id, None, ALL).await.unwrap();
        for item in items {
            let steps = [(item.key, Step::End(end(&item, Outcome::Succeeded)))];
            assert_eq!(store.step(&claim.lease, &steps, later(61), &rules()).await.unwrap(), 1);
        }
        let end = WindowEnd { end_time: later(62), refused: None };
        store.close(&claim.lease, &end).await.unwrap();
        taken.push(claim.window.window_id);
    }
    taken
}

/// Each locks what the others want, and all come to their end.
pub async fn processes_that_send_items_on_and_cancel_jobs_stand_in_nobodys_way(
    fresh: &impl AsyncFn() -> Fresh,
) {
    let world = World::new(fresh).await;
    let given: Vec<NewItem> =
        (0..12).map(|number| item(&format!("i{number}"), &["openai", "gemini"])).collect();
    for number in 0..JOBS {
        world.submit("acme", &format!("j{number}"), &given).await;
    }
    let processes: Vec<Arc<dyn BatchStore>> = (0..3).map(|_| (world.another)()).collect();
    let workers = processes.iter().enumerate().map(|(number, store)| {
        let store = store.clone();
        tokio::spawn(async move { live(&*store, number).await })
    });
    let ended: u64 = join_all(workers).await.into_iter().map(Result::unwrap).sum();
    assert_eq!(ended, 12 * JOBS as u64);
    for number in 0..JOBS {
        let job = world.job("acme", &format!("j{number}")).await.0;
        assert_eq!((job.state, job.counts.succeeded + job.counts.cancelled), (JobState::Ended, 12));
        assert_eq!(world.results("acme", &job.job_id, 0).await.results.len(), 12);
    }
}

/// Sends on what it can, ends the rest, cancels a job now and then, until all have ended. How many items it ended.
async fn live(store: &dyn BatchStore, process: usize) -> u64 {
    let states = vec![JobState::Running, JobState::Cancelling];
    let at_work = JobQuery { states, most: 1, ..JobQuery::default() };
    let (mut ended, mut round) = (0, process);
    while !store.jobs(&at_work).await.unwrap().is_empty() {
        round += 1;
        if round % 4 == 0 {
            store.cancel("acme", &format!("j{}", round % JOBS), later(5)).await.unwrap();
        }
        let waiting = store.waiting(&WaitingQuery { job: None, now: now(), most: 5 }).await.unwrap();
        let ends: Vec<_> = waiting.iter().map(|item| (item.key, end(item, Outcome::Cancelled))).collect();
        ended += store.end_waiting(&ends, later(5), &rules()).await.unwrap();
        let Some(claim) = store.claim("p", later(1000), LEASE).await.unwrap() else { continue };
        let items = store.items(&claim.window.window_id, None, ALL).await.unwrap();
        let (mut steps, mut ending) = (Vec::new(), 0);
        for item in &items {
            match item.trail.after(Fault::Target, now(), item.job.complete_by) {
                Some(trail) => steps.push((item.key, Step::Go { trail, history: Vec::new() })),
                None => {
                    ending += 1;
                    steps.push((item.key, Step::End(end(item, Outcome::Succeeded))));
                }
            }
        }
        assert_eq!(store.step(&claim.lease, &steps, later(10), &rules()).await.unwrap(), items.len() as u64);
        ended += ending;
        let end = WindowEnd { end_time: later(11), refused: None };
        store.close(&claim.lease, &end).await.unwrap();
    }
    ended
}

/// Also two of one id: one of them is new.
pub async fn many_jobs_handed_in_at_once_are_all_kept(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let processes: Vec<Arc<dyn BatchStore>> = (0..3).map(|_| (world.another)()).collect();
    let submits = (0..24).map(|number| {
        let store = processes[number % 3].clone();
        let job = new_job("acme", &format!("j{}", number / 2));
        tokio::spawn(async move { store.submit(&job, &items(7, "openai"), &rules()).await.unwrap() })
    });
    let submitted: Vec<Submitted> = join_all(submits).await.into_iter().map(Result::unwrap).collect();
    let new = submitted.iter().filter(|submitted| matches!(submitted, Submitted::New(_))).count();
    assert_eq!(new, 12);
    let mut found = 0;
    while let Some(claim) = world.claim(later(60)).await {
        let items = world.store.items(&claim.window.window_id, None, ALL).await.unwrap();
        assert!((1..=3).contains(&items.len()));
        found += items.len();
    }
    assert_eq!(found, 12 * 7);
}

/// And are read, handed over and ended as fast.
pub async fn fifty_thousand_items_are_handed_in_within_seconds(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let mut many = items(50_000, "wide");
    for item in &mut many {
        item.request.resize(500, b'x');
    }
    let begun = Instant::now();
    world.submit("acme", "large", &many).await;
    let submitted = begun.elapsed();
    let claim = world.claim(now()).await.unwrap();
    let (mut after, mut read) = (None, 0);
    loop {
        let items = world.store.items(&claim.window.window_id, after, 1 << 20).await.unwrap();
        let Some(last) = items.last() else { break };
        after = Some(last.key);
        read += items.len();
    }
    assert_eq!(read, 50_000);
    world.store.handed(&claim.lease, &handed("vb", now())).await.unwrap();
    for _ in 0..5 {
        let items = world.store.items(&claim.window.window_id, None, 500 * 1000).await.unwrap();
        world.succeed(&claim, &items, later(1)).await;
    }
    assert_eq!(world.job("acme", "large").await.0.counts.succeeded, 5000);
    assert!(submitted < Duration::from_secs(20), "it took {submitted:?}");
}
