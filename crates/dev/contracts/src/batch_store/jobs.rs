//! Jobs.

use super::{
    Fresh,
    support::{ALL, World, end, item, items, later, new_job, now, rules},
};
use signalbox_ports::batches::{
    Counts, JobQuery, JobState, Kind, NewItem, Outcome, Spent, Step, Submitted, WindowState,
};

/// With windows, counts, and what the service wanted to know of it.
pub async fn a_job_is_kept_with_everything_and_a_second_of_its_id_changes_nothing(
    fresh: &impl AsyncFn() -> Fresh,
) {
    let world = World::new(fresh).await;
    let vectors = NewItem { kind: Kind::Embed, request: vec![0, 255, 7], ..item("v", &["openai"]) };
    let given = [item("a", &["openai", "gemini"]), vectors.clone(), item("b", &["gemini"])];
    let job = world.submit("acme", "night", &given).await;
    let new = new_job("acme", "night");
    assert_eq!((&job.details, job.reserved, job.state), (&new.details, new.reserved, JobState::Running));
    assert_eq!((job.create_time, job.complete_by), (new.create_time, new.complete_by));
    assert_eq!((job.end_time, job.expire_time, job.cost), (None, None, Spent::default()));
    assert_eq!(job.counts, Counts { total: 3, queued: 3, ..Counts::default() });
    let again = world.store.submit(&new, &items(5, "openai"), &rules()).await.unwrap();
    assert_eq!(again, Submitted::Exists(job.clone()));
    let (found, windows) = world.job("acme", "night").await;
    assert_eq!(found, job);
    assert_eq!(windows.iter().map(|window| window.items).sum::<u64>(), 3);
    assert!(windows.iter().all(|window| window.window.state == WindowState::Open));
    let mut kept = Vec::new();
    for window in windows {
        for item in world.store.items(&window.window.window_id, None, ALL).await.unwrap() {
            assert_eq!((item.kind, item.trail.target()), (window.window.key.kind, &window.window.key.target));
            assert_eq!((item.job.number, &item.job.details), (job.number, &new.details));
            kept.push((item.key.item, item.item_id, item.trail, item.request, item.kind));
        }
    }
    kept.sort_by_key(|item| item.0);
    for ((number, id, trail, request, kind), given) in kept.into_iter().zip(given) {
        assert_eq!(
            (id, trail, request, kind),
            (given.item_id, given.trail, given.request, given.kind),
            "{number}"
        );
    }
}

/// However it is asked for.
pub async fn a_job_is_its_tenants_alone(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "night", &items(1, "openai")).await;
    assert_eq!(world.store.job("other", "night").await.unwrap(), None);
    assert_eq!(world.store.cancel("other", "night", now()).await.unwrap(), None);
    assert_eq!(world.store.results("other", "night", 0, 10).await.unwrap(), None);
    let query = JobQuery { tenant_id: Some("other".to_owned()), most: 10, ..JobQuery::default() };
    assert_eq!(world.store.jobs(&query).await.unwrap(), []);
    let theirs = world.submit("other", "night", &items(2, "openai")).await;
    assert_eq!((theirs.tenant_id.as_str(), theirs.counts.total), ("other", 2));
    assert_eq!(world.job("acme", "night").await.0.counts.total, 1);
    // Both are in one window, and each sees its own items only.
    let (_, windows) = world.job("other", "night").await;
    assert_eq!((windows[0].items, windows[0].window.level.items), (2, 3));
    let (claim, items) = world.take(later(61)).await;
    let ends: Vec<_> =
        items.iter().map(|item| (item.key, Step::End(end(item, Outcome::Succeeded)))).collect();
    world.step(&claim, &ends, later(70)).await;
    assert_eq!(world.results("acme", "night", 0).await.results.len(), 1);
    assert_eq!(world.results("other", "night", 0).await.results.len(), 2);
    assert_eq!(world.job("acme", "night").await.0.cost.nano_eur, 1);
    assert_eq!(world.job("other", "night").await.0.cost.nano_eur, 3);
}

/// And no page tells one twice.
pub async fn jobs_are_listed_newest_first_by_pages_tenants_and_states(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    for number in 0..5 {
        world.submit(["acme", "other"][number % 2], &format!("j{number}"), &items(1, "openai")).await;
    }
    world.store.cancel("acme", "j2", now()).await.unwrap();
    let ids = async |query: JobQuery| {
        let jobs = world.store.jobs(&query).await.unwrap();
        (jobs.iter().map(|job| job.job_id.clone()).collect::<Vec<_>>(), jobs.last().map(|job| job.number))
    };
    let all = JobQuery { most: 2, ..JobQuery::default() };
    let (first, before) = ids(all.clone()).await;
    assert_eq!(first, ["j4", "j3"]);
    let (second, before) = ids(JobQuery { before, ..all.clone() }).await;
    assert_eq!(second, ["j2", "j1"]);
    assert_eq!(ids(JobQuery { before, ..all.clone() }).await.0, ["j0"]);
    let of_acme = JobQuery { tenant_id: Some("acme".to_owned()), most: 10, ..JobQuery::default() };
    assert_eq!(ids(of_acme.clone()).await.0, ["j4", "j2", "j0"]);
    let cancelling = JobQuery { states: vec![JobState::Cancelling, JobState::Ended], ..of_acme };
    assert_eq!(ids(cancelling).await.0, ["j2"]);
}
