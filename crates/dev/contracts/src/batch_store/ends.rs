//! Ends of items, and where they go on.

use super::{
    Fresh,
    support::{World, end, ids, item, items, later, now, rules},
};
use signalbox_batching::Fault;
use signalbox_ports::batches::{Counts, Item, ItemEnd, ItemKey, JobState, Outcome, Spent, Step, WindowState};

fn ends(items: &[Item], outcome: Outcome) -> Vec<(ItemKey, Step)> {
    items.iter().map(|item| (item.key, Step::End(end(item, outcome)))).collect()
}

/// Whatever else is said of it later; and the last one ends its job.
pub async fn an_item_ends_once_and_leaves_a_result_and_an_account(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(3, "openai")).await;
    let (claim, items) = world.hand(now()).await;
    let mut first = ends(&items[..2], Outcome::Succeeded);
    first.extend(ends(&items[..1], Outcome::Failed));
    assert_eq!(world.step(&claim, &first, later(5)).await, 2);
    assert_eq!(world.step(&claim, &ends(&items[..2], Outcome::Failed), later(6)).await, 0);
    let job = world.job("acme", "job").await.0;
    assert_eq!((job.state, job.cost), (JobState::Running, Spent { nano_eur: 3, unknown: false }));
    assert_eq!(job.counts, Counts { total: 3, running: 1, succeeded: 2, ..Counts::default() });
    let left = world.store.items(&claim.window.window_id, None, 1).await.unwrap();
    assert_eq!(ids(&left), ["i2"]);
    let unknown = ItemEnd { cost: Spent { nano_eur: 0, unknown: true }, ..end(&items[2], Outcome::Expired) };
    assert_eq!(world.step(&claim, &[(items[2].key, Step::End(unknown))], later(7)).await, 1);
    let job = world.job("acme", "job").await.0;
    assert_eq!((job.state, job.cost), (JobState::Ended, Spent { nano_eur: 3, unknown: true }));
    assert_eq!((job.end_time, job.expire_time), (Some(later(7)), Some(later(3607))));
    assert_eq!(job.counts, Counts { total: 3, succeeded: 2, expired: 1, ..Counts::default() });
    let untold = world.store.untold(10).await.unwrap();
    let events: Vec<&[u8]> = untold.iter().map(|untold| untold.event.as_slice()).collect();
    let expected: Vec<Vec<u8>> = items.iter().map(|item| end(item, Outcome::Succeeded).event).collect();
    assert_eq!(events, expected);
}

/// With its history, and without what was noted of it; its old window does not count it any more.
pub async fn an_item_goes_on_to_a_window_of_its_next_target(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let given = ["a", "b", "c"].map(|id| item(id, &["openai", "gemini"]));
    world.submit("acme", "job", &given).await;
    let (claim, items) = world.hand(now()).await;
    let trail = items[0].trail.after(Fault::Vendor, now(), later(1)).unwrap();
    let steps = [(items[0].key, Step::Go { trail: trail.clone(), history: b"tried".to_vec() })];
    assert_eq!(world.step(&claim, &steps, later(10)).await, 1);
    assert_eq!(world.step(&claim, &steps, later(10)).await, 0);
    world.succeed(&claim, &items[1..], later(11)).await;
    world.close(&claim, later(12)).await;
    let (job, windows) = world.job("acme", "job").await;
    assert_eq!(job.counts, Counts { total: 3, queued: 1, succeeded: 2, ..Counts::default() });
    let shares: Vec<_> = windows.iter().map(|window| (window.window.state, window.items)).collect();
    assert_eq!(shares, [(WindowState::Ended, 2), (WindowState::Open, 1)]);
    assert_eq!(world.claim(later(69)).await, None);
    let (next, moved) = world.take(later(70)).await;
    assert_eq!(next.window.key.target.vendor, "gemini");
    assert_eq!((&moved[0].trail, moved[0].history.as_slice()), (&trail, b"tried".as_slice()));
    assert_eq!((&moved[0].request, moved[0].key), (&items[0].request, items[0].key));
    // Nothing is left of it where it was.
    let late = ends(&items[..1], Outcome::Succeeded);
    assert_eq!(world.store.step(&claim.lease, &late, now(), &rules()).await.unwrap(), 0);
    world.succeed(&next, &moved, later(80)).await;
    assert_eq!(world.job("acme", "job").await.0.state, JobState::Ended);
}

/// As they came, by whatever window.
pub async fn results_come_in_their_order_and_from_any_place(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(6, "openai")).await;
    let (first, of_first) = world.take(now()).await;
    let (second, of_second) = world.take(now()).await;
    let none = world.results("acme", "job", 0).await;
    assert_eq!((none.results, none.ended), (vec![], false));
    world.succeed(&second, &of_second[2..], later(1)).await;
    world.step(&first, &ends(&of_first[1..2], Outcome::Failed), later(2)).await;
    let some = world.results("acme", "job", 0).await;
    let told: Vec<_> = some
        .results
        .iter()
        .map(|result| (result.sequence, result.item_id.as_str(), result.outcome, result.end_time))
        .collect();
    assert_eq!(told, [(1, "i5", Outcome::Succeeded, later(1)), (2, "i1", Outcome::Failed, later(2))]);
    assert_eq!(some.results[1].result, b"result of i1");
    world.succeed(&second, &of_second[..2], later(3)).await;
    world.step(&first, &ends(&of_first, Outcome::Failed), later(4)).await;
    let page = world.store.results("acme", "job", 2, 3).await.unwrap().unwrap();
    let ids: Vec<&str> = page.results.iter().map(|result| result.item_id.as_str()).collect();
    assert_eq!((ids, page.ended), (vec!["i3", "i4", "i0"], true));
    let rest = world.results("acme", "job", 5).await;
    assert_eq!((rest.results.len(), rest.results[0].sequence, rest.ended), (1, 6, true));
}
