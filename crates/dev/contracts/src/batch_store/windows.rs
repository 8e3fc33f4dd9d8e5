//! Windows.

use super::{
    Fresh,
    support::{ALL, World, handed, ids, item, items, later, now, target},
};
use signalbox_batching::Fault;
use signalbox_ports::batches::{
    BatchStoreError, Handed, ItemKey, Kind, Lane, NewItem, Pause, Step, Trail, WindowEnd, WindowState,
};

/// But answers and vectors do not mix, nor batches with usual calls.
pub async fn items_of_one_vendor_and_model_travel_together_whosever_they_are(
    fresh: &impl AsyncFn() -> Fresh,
) {
    let world = World::new(fresh).await;
    let vectors = NewItem { kind: Kind::Embed, ..item("v", &["wide"]) };
    let usual = Trail::new(vec![target("wide", Lane::Usual)]).unwrap();
    let usual = NewItem { trail: usual, ..item("u", &["wide"]) };
    let mut given = items(4, "wide");
    given.extend([vectors, usual, item("o", &["openai"])]);
    world.submit("acme", "one", &given).await;
    world.submit("other", "two", &items(2, "wide")).await;
    let (_, windows) = world.job("acme", "one").await;
    let mut sizes: Vec<(u64, u64)> =
        windows.iter().map(|window| (window.items, window.window.level.items)).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [(1, 1), (1, 1), (1, 1), (4, 6)]);
    let mine: Vec<String> = windows.into_iter().map(|window| window.window.window_id).collect();
    let (_, theirs) = world.job("other", "two").await;
    assert!(theirs.len() == 1 && mine.contains(&theirs[0].window.window_id));
}

/// The oldest first.
pub async fn a_full_window_is_due_at_once_and_others_when_they_waited(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(7, "openai")).await;
    for _ in 0..2 {
        let (claim, items) = world.take(now()).await;
        assert_eq!(items.len(), 3);
        world.store.keep(&claim.lease, later(1000)).await.unwrap();
    }
    assert_eq!(world.claim(later(59)).await, None);
    let (claim, items) = world.take(later(60)).await;
    assert_eq!((claim.window.state, ids(&items)), (WindowState::Handing, vec!["i6"]));
    // Usual calls wait for nobody, and large items travel alone.
    let usual = Trail::new(vec![target("ollama", Lane::Usual)]).unwrap();
    let large = NewItem { trail: usual.clone(), request: vec![1; 1000], ..item("large", &["x"]) };
    let small = NewItem { trail: usual, ..item("small", &["x"]) };
    world.submit("acme", "usual", &[small.clone(), large, small]).await;
    let mut taken = Vec::new();
    for _ in 0..3 {
        taken.push(world.take(now()).await.1.len());
    }
    assert_eq!(taken, [1, 1, 1]);
}

/// A twentieth of its time is the most that an item waits.
pub async fn an_item_in_a_hurry_takes_its_window_along(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit_until("acme", "slow", &items(1, "openai"), later(500)).await;
    world.submit_until("acme", "fast", &items(1, "openai"), later(200)).await;
    assert_eq!(world.claim(later(9)).await, None);
    assert_eq!(world.take(later(10)).await.1.len(), 2);
}

/// Nor does one that must wait travel with one that need not.
pub async fn items_whose_time_is_over_at_other_times_travel_apart(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit_until("acme", "slow", &items(1, "openai"), later(7200)).await;
    world.submit_until("acme", "fast", &items(1, "openai"), later(3600)).await;
    let (claim, failed) = world.take(later(60)).await;
    assert_eq!((failed.len(), claim.complete_by), (1, Some(later(7200))));
    let trail = failed[0].trail.after(Fault::Vendor, later(60), later(7200)).unwrap();
    let steps = [(failed[0].key, Step::Go { trail, history: Vec::new() })];
    assert_eq!(world.step(&claim, &steps, later(60)).await, 1);
    world.submit_until("acme", "slow too", &items(1, "openai"), later(7200)).await;
    assert_eq!(world.take(later(60)).await.0.complete_by, Some(later(3600)));
    assert_eq!(world.take(later(70)).await.0.complete_by, Some(later(7200)));
    let waits = &world.job("acme", "slow").await.1[0].window;
    assert_eq!((waits.state, waits.due), (WindowState::Open, later(180)));
}

/// At least one item, however large.
pub async fn a_window_is_read_in_pieces_that_fit(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    let sizes = [10, 10, 50, 5, 5, 5];
    let sized = |(number, size): (usize, &usize)| NewItem {
        request: vec![1; *size],
        ..item(&format!("i{number}"), &["wide"])
    };
    world.submit("acme", "job", &sizes.iter().enumerate().map(sized).collect::<Vec<_>>()).await;
    let claim = world.claim(later(60)).await.unwrap();
    let (mut after, mut pieces) = (None, Vec::new());
    loop {
        let items = world.store.items(&claim.window.window_id, after, 20).await.unwrap();
        let Some(last) = items.last() else { break };
        after = Some(last.key);
        pieces.push(items.len());
    }
    assert_eq!(pieces, [2, 1, 3]);
    let all = world.store.items(&claim.window.window_id, None, ALL).await.unwrap();
    let unknown = ItemKey { job: all[0].key.job, item: 77 };
    let found = world.store.find(&claim.window.window_id, &[all[4].key, unknown, all[1].key]).await.unwrap();
    assert_eq!(found, [all[1].clone(), all[4].clone()]);
    assert_eq!(world.store.find("another", &[all[4].key]).await.unwrap(), []);
}

/// With the vendor's id, notes of items, and when it is looked at again.
pub async fn a_window_goes_from_hand_to_hand_and_says_how_far_it_is(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(3, "openai")).await;
    let (claim, items) = world.take(later(1)).await;
    let counts = async || world.job("acme", "job").await.0.counts;
    assert_eq!((counts().await.queued, counts().await.running), (3, 0));
    let note = (items[1].key, b"tool-1".to_vec());
    let told = Handed { notes: vec![note.clone()], ..handed("batch_1", later(2)) };
    for _ in 0..2 {
        world.store.handed(&claim.lease, &told).await.unwrap();
    }
    assert_eq!((counts().await.queued, counts().await.running), (0, 3));
    assert_eq!(world.store.notes(&claim.window.window_id).await.unwrap(), [note]);
    assert_eq!(world.claim(later(31)).await, None);
    let (asked, items) = world.take(later(32)).await;
    assert_eq!(
        (asked.window.state, asked.maybe_since, asked.unwanted),
        (WindowState::Submitted, None, false)
    );
    assert_eq!(
        (asked.window.vendor_batch_id.as_str(), asked.window.submit_time, asked.window.hand_time),
        ("batch_1", Some(later(2)), Some(later(1)))
    );
    assert_eq!((items[1].note.as_slice(), items[0].note.as_slice()), (b"tool-1".as_slice(), b"".as_slice()));
    let pause =
        Pause { due: later(100), expire_time: Some(later(1000)), cancel_asked: true, not_taken: false };
    world.store.put_back(&asked.lease, &pause).await.unwrap();
    assert_eq!(world.claim(later(99)).await, None);
    let (asked, items) = world.take(later(100)).await;
    assert_eq!((asked.window.expire_time, asked.window.cancel_asked), (Some(later(1000)), true));
    world.succeed(&asked, &items, later(101)).await;
    world.close(&asked, later(102)).await;
    world.close(&asked, later(102)).await;
    let (_, windows) = world.job("acme", "job").await;
    assert_eq!((windows[0].window.state, windows[0].window.end_time), (WindowState::Ended, Some(later(102))));
    assert_eq!((windows[0].items, world.claim(later(100_000)).await), (3, None));
}

/// Nor can it be refused.
pub async fn a_window_cannot_be_over_while_it_has_items(fresh: &impl AsyncFn() -> Fresh) {
    let world = World::new(fresh).await;
    world.submit("acme", "job", &items(3, "openai")).await;
    let (claim, items) = world.take(now()).await;
    let refused = WindowEnd { end_time: now(), refused: Some("VENDOR_REFUSED".to_owned()) };
    world.succeed(&claim, &items[..1], now()).await;
    assert_eq!(world.store.close(&claim.lease, &refused).await, Err(BatchStoreError::ItemsLeft(2)));
    world.succeed(&claim, &items[1..], now()).await;
    world.store.close(&claim.lease, &refused).await.unwrap();
    let (_, windows) = world.job("acme", "job").await;
    let window = &windows[0].window;
    assert_eq!((window.state, window.error_reason.as_str()), (WindowState::Refused, "VENDOR_REFUSED"));
    assert_eq!(world.store.keep(&claim.lease, later(100)).await, Err(BatchStoreError::LeaseLost));
}
