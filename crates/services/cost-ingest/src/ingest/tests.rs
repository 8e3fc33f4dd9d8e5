//! With a store that fails as it is told to, and a bus that says what it was told.

use super::*;
use crate::samples::{NOW, id, sent};
use futures_util::FutureExt;
use prost::Message;
use signalbox_api::v1::{UsageEvent, UsageRow, dead_letter::Reason};
use signalbox_kit::clock::FixedClock;
use signalbox_ports::{
    BusAway, Chosen, Letter,
    usage_store::{
        Batch, Counted, Export, Exported, Inserted, Minute, Page, Query, Requests, StoreFailure, Window,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Mutex, MutexGuard},
    time::SystemTime,
};

/// Every event by its id, and what was asked for.
#[derive(Debug, Default)]
struct Kept {
    events: BTreeMap<String, UsageEvent>,
    tokens: Vec<String>,
    suspects: Vec<usize>,
    /// How many of the next inserts fail as Away; every second of them is stored all the same.
    away: usize,
    /// How long an insert takes.
    slow: Duration,
    /// Refused are batches with one of these, or all of them.
    poison: BTreeSet<String>,
    refuses_all: bool,
}

#[derive(Debug, Default, Clone)]
struct Store(Arc<Mutex<Kept>>);

impl Store {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }
}

fn never<T>() -> Result<T, StoreFailure> {
    Err(StoreFailure::Refused("not asked in these tests".to_owned()))
}

#[async_trait::async_trait]
impl UsageStore for Store {
    async fn migrate(&self) -> Result<(), StoreFailure> {
        Ok(())
    }

    async fn insert(&self, batch: &Batch) -> Result<Inserted, StoreFailure> {
        let slow = self.kept().slow;
        tokio::time::sleep(slow).await;
        let mut kept = self.kept();
        kept.tokens.push(batch.token.clone());
        kept.suspects.push(batch.suspects.len());
        if kept.refuses_all || batch.events.iter().any(|event| kept.poison.contains(&event.event_id)) {
            return Err(StoreFailure::Refused("no such column".to_owned()));
        }
        let is_away = kept.away > 0;
        kept.away = kept.away.saturating_sub(1);
        let mut inserted = Inserted::default();
        for event in batch.events.iter().filter(|_| !is_away || kept_all_the_same(batch)) {
            match kept.events.insert(event.event_id.clone(), event.clone()) {
                None => inserted.stored += 1,
                Some(_) => inserted.repeated += 1,
            }
        }
        if is_away { Err(StoreFailure::Away("connection reset".to_owned())) } else { Ok(inserted) }
    }

    async fn query(&self, _: &Query) -> Result<Page<UsageRow>, StoreFailure> {
        never()
    }

    async fn requests(&self, _: &Requests) -> Result<Page<Counted>, StoreFailure> {
        never()
    }

    async fn export(&self, _: &Export) -> Result<Exported, StoreFailure> {
        never()
    }

    async fn close_months(&self, _: SystemTime) -> Result<Option<SystemTime>, StoreFailure> {
        never()
    }

    async fn minutes(&self, _: Window) -> Result<Vec<Minute>, StoreFailure> {
        never()
    }
}

/// A batch without suspects is a first try: its connection breaks after it was stored.
fn kept_all_the_same(batch: &Batch) -> bool {
    batch.suspects.is_empty()
}

/// What the bus was told.
#[derive(Debug, Default)]
struct Told {
    waiting: VecDeque<Delivery>,
    acknowledged: Vec<u64>,
    extended: Vec<usize>,
    left: BTreeSet<u64>,
    unreachable: bool,
}

#[derive(Debug, Default, Clone)]
struct Bus(Arc<Mutex<Told>>);

impl Bus {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap()
    }

    fn put(&self, sequence: u64, payload: Vec<u8>, again: bool) {
        self.told().waiting.push_back(Delivery { sequence, payload, again, taken_at: *NOW });
    }

    fn put_events(&self, events: impl IntoIterator<Item = u64>) {
        for number in events {
            self.put(number, sent(&format!("e{number}")).encode_to_vec(), false);
        }
    }
}

#[async_trait::async_trait]
impl UsageBus for Bus {
    async fn receive(&mut self, most: usize, patience: Duration) -> Result<Vec<Delivery>, BusAway> {
        let received: Vec<_> = {
            let mut told = self.told();
            let count = most.min(told.waiting.len());
            told.waiting.drain(..count).collect()
        };
        if received.is_empty() {
            tokio::time::sleep(patience).await;
        }
        Ok(received)
    }

    async fn acknowledge(&mut self, sequences: &[u64]) -> Result<(), BusAway> {
        self.told().acknowledged.extend(sequences);
        Ok(())
    }

    async fn extend(&mut self, sequences: &[u64]) -> Result<(), BusAway> {
        let mut told = self.told();
        told.extended.push(sequences.len());
        if told.unreachable { Err(BusAway("gone".to_owned())) } else { Ok(()) }
    }

    async fn leave(&mut self, sequences: &[u64]) {
        self.told().left.extend(sequences);
    }

    async fn backlog(&mut self) -> Option<u64> {
        Some(self.told().waiting.len() as u64)
    }
}

#[derive(Debug, Default, Clone)]
struct Letters(Arc<Mutex<(Vec<Letter>, usize)>>);

#[async_trait::async_trait]
impl DeadLetters for Letters {
    async fn set_aside(&self, letter: Letter) -> Result<(), BusAway> {
        let (letters, away) = &mut *self.0.lock().unwrap();
        if *away > 0 {
            *away -= 1;
            return Err(BusAway("disk full".to_owned()));
        }
        letters.push(letter);
        Ok(())
    }

    async fn list(&self, _: Option<Reason>, _: u64, _: usize) -> Result<Vec<(u64, Letter)>, BusAway> {
        Ok(Vec::new())
    }

    async fn replay(&self, _: &Chosen) -> Result<u64, BusAway> {
        Ok(0)
    }

    async fn discard(&self, _: &Chosen) -> Result<u64, BusAway> {
        Ok(0)
    }
}

#[derive(Debug, Default)]
struct World {
    bus: Bus,
    store: Store,
    letters: Letters,
    progress: Progress,
}

impl World {
    fn ingester(&self, batch_events: usize) -> Ingester {
        Ingester {
            bus: Box::new(self.bus.clone()),
            letters: Arc::new(self.letters.clone()),
            store: Arc::new(self.store.clone()),
            tail: Some(Tail::new(100)),
            progress: self.progress.clone(),
            clock: Arc::new(FixedClock(*NOW)),
            options: IngestOptions { batch_events, batch_interval: Duration::from_secs(1) },
        }
    }

    /// Works for so long, by the paused clock.
    async fn work(&self, batch_events: usize, seconds: u64) {
        let drain = CancellationToken::new();
        let working = tokio::spawn(self.ingester(batch_events).run(drain.clone()));
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        drain.cancel();
        working.await.unwrap();
    }

    fn stored(&self) -> usize {
        self.store.kept().events.len()
    }

    fn acknowledged(&self) -> Vec<u64> {
        let mut acknowledged = self.bus.told().acknowledged.clone();
        acknowledged.sort_unstable();
        acknowledged
    }

    fn reasons(&self) -> Vec<(u64, Reason)> {
        self.letters.0.lock().unwrap().0.iter().map(|letter| (letter.sequence, letter.reason)).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_stored_is_acknowledged_and_then_all_is_told_to_be_complete() {
    let world = World::default();
    world.bus.put_events(1..=25);
    world.work(10, 2).await;
    assert_eq!((world.stored(), world.acknowledged()), (25, (1..=25).collect()));
    assert_eq!(world.store.kept().tokens.len(), 3);
    assert!(world.progress.complete_until().unwrap() < *NOW);
}

#[tokio::test(start_paused = true)]
async fn bad_messages_are_set_aside_with_their_reason_and_hold_up_nothing() {
    let world = World::default();
    world.bus.put(1, b"\xff\xff".to_vec(), false);
    world.bus.put_events(2..=3);
    world.bus.put(4, UsageEvent { schema_version: 9, ..sent("e4") }.encode_to_vec(), false);
    world.bus.put(5, UsageEvent { lane: 99, ..sent("e5") }.encode_to_vec(), false);
    world.bus.put(6, UsageEvent { end_time: None, ..sent("e6") }.encode_to_vec(), false);
    world.work(10, 5).await;
    assert_eq!((world.stored(), world.acknowledged()), (2, (1..=6).collect()));
    let reasons = [
        (1, Reason::Malformed),
        (4, Reason::FutureVersion),
        (5, Reason::UnknownEnum),
        (6, Reason::InvalidValue),
    ];
    assert_eq!(world.reasons(), reasons);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_set_aside_stays_on_the_bus_and_holds_up_nothing() {
    let world = World::default();
    world.letters.0.lock().unwrap().1 = usize::MAX;
    for sequence in [1, 3, 5, 7, 9] {
        world.bus.put(sequence, b"\xff\xff".to_vec(), false);
        world.bus.put_events([sequence + 1]);
    }
    world.work(4, 5).await;
    assert_eq!((world.stored(), world.acknowledged()), (5, vec![2, 4, 6, 8, 10]));
    assert_eq!(world.bus.told().left, [1, 3, 5, 7, 9].into());
    assert!(world.progress.complete_until().is_some());
    // There is room for letters again, and they come again.
    world.letters.0.lock().unwrap().1 = 0;
    for sequence in [1, 3, 5, 7, 9] {
        world.bus.put(sequence, b"\xff\xff".to_vec(), true);
    }
    world.work(10, 5).await;
    assert_eq!((world.reasons().len(), world.acknowledged()), (5, (1..=10).collect()));
}

#[tokio::test(start_paused = true)]
async fn an_event_that_comes_twice_is_stored_once() {
    let world = World::default();
    world.bus.put_events([1, 2]);
    world.bus.put(3, sent("e1").encode_to_vec(), true);
    world.work(10, 2).await;
    assert_eq!((world.stored(), world.acknowledged()), (2, vec![1, 2, 3]));
    assert_eq!(world.store.kept().suspects, [1], "one of its copies may be stored");
    world.bus.put(4, sent("e2").encode_to_vec(), true);
    world.work(10, 2).await;
    assert_eq!(world.store.kept().suspects, [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn after_a_lost_answer_the_same_batch_is_given_again_and_all_of_it_is_suspected() {
    let world = World::default();
    world.bus.put_events(1..=5);
    world.store.kept().away = 6;
    world.work(10, 60).await;
    let kept = world.store.kept();
    assert_eq!(kept.events.len(), 5);
    assert_eq!(kept.suspects, [0, 5, 5, 5, 5, 5, 5]);
    assert!(kept.tokens.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", kept.tokens);
    drop(kept);
    assert_eq!(world.acknowledged(), (1..=5).collect::<Vec<_>>());
    assert!(world.bus.told().extended.len() >= 6, "it says that it is working");
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_nothing_more_is_received() {
    let world = World::default();
    world.bus.put_events(1..=100);
    world.store.kept().away = usize::MAX;
    world.work(10, 300).await;
    assert_eq!(world.bus.told().waiting.len(), 90);
    assert_eq!(world.acknowledged(), Vec::<u64>::new(), "what is not known to be stored comes again");
}

/// What an operator sees.
fn shown(gauge: &str) -> Option<f64> {
    let text = signalbox_kit::telemetry::metrics::text();
    text.lines().find_map(|line| line.strip_prefix(gauge)?.trim().parse().ok())
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_what_waits_is_seen_to_grow_older_and_more() {
    let world = World::default();
    let ago = |seconds: u64| Some((*NOW - Duration::from_secs(seconds)).into());
    let old = UsageEvent { start_time: ago(401), end_time: ago(400), ..sent("e1") };
    world.bus.put(1, old.encode_to_vec(), false);
    world.bus.put_events(2..=3);
    world.store.kept().away = 6;
    let drain = CancellationToken::new();
    let working = tokio::spawn(world.ingester(2).run(drain.clone()));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(shown("signalbox_usage_ingest_lag_seconds "), Some(400.0));
    assert_eq!(
        (shown("signalbox_usage_backlog "), shown("signalbox_usage_store_away ")),
        (Some(1.0), Some(1.0))
    );
    assert!(world.progress.store_away().unwrap().1.contains("connection reset"));
    world.bus.put_events(4..=6);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(shown("signalbox_usage_backlog "), Some(4.0));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!((world.stored(), world.progress.store_away()), (6, None));
    assert_eq!(shown("signalbox_usage_ingest_lag_seconds "), Some(0.0));
    drain.cancel();
    working.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_may_have_gone_to_another_is_let_go() {
    let world = World::default();
    world.bus.put_events(1..=5);
    world.store.kept().away = usize::MAX;
    world.bus.told().unreachable = true;
    world.work(10, 15).await;
    let tries = world.store.kept().tokens.len();
    world.work(10, 600).await;
    assert_eq!(world.acknowledged(), Vec::<u64>::new());
    assert_eq!(world.store.kept().tokens.len(), tries, "it is not touched again");
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_does_not_lose_the_batch_to_another_ingester() {
    let world = World::default();
    world.bus.put_events(1..=64);
    world.store.kept().slow = Duration::from_secs(4);
    world.store.kept().poison = [id("e7"), id("e40")].into();
    world.work(100, 300).await;
    assert_eq!(world.stored(), 62);
    assert!(world.bus.told().extended.len() > 10);
}

#[tokio::test(start_paused = true)]
async fn what_the_store_refuses_is_found_and_the_rest_is_stored() {
    let world = World::default();
    world.bus.put_events(1..=1_000);
    world.store.kept().poison = ["e1", "e500", "e501", "e1000"].map(id).into();
    world.work(10_000, 5).await;
    assert_eq!((world.stored(), world.acknowledged()), (996, (1..=1_000).collect()));
    let mut refused = world.reasons();
    refused.sort_unstable_by_key(|(sequence, _)| *sequence);
    assert_eq!(refused, [1, 500, 501, 1_000].map(|sequence| (sequence, Reason::StoreRefused)));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_everything_is_waited_for_and_nothing_is_set_aside() {
    let world = World::default();
    world.bus.put_events(1..=1_000);
    world.store.kept().refuses_all = true;
    let drain = CancellationToken::new();
    let working = tokio::spawn(world.ingester(10_000).run(drain.clone()));
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!((world.stored(), world.reasons(), world.acknowledged()), (0, vec![], vec![]));
    world.store.kept().refuses_all = false;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(world.stored(), 1_000);
    drain.cancel();
    working.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lone_event_that_is_refused_again_and_again_blocks_nobody_for_ever() {
    let world = World::default();
    world.bus.put_events([1]);
    world.store.kept().poison = [id("e1")].into();
    world.work(10, 30).await;
    assert_eq!((world.reasons(), world.acknowledged()), (vec![(1, Reason::StoreRefused)], vec![1]));
    assert_eq!(world.store.kept().tokens.len(), 5);
}

#[test]
fn a_token_names_the_events_and_not_only_their_places() {
    let held = |id: &str| batch::Held { sequence: 1, again: false, payload: Vec::new(), event: sent(id) };
    let token = |id: &str| batch::batch(&[held(id)], batch::Suspects::Again).token;
    assert_eq!(token("e1"), token("e1"));
    assert_ne!(token("e1"), token("e2"), "a stream made anew begins at 1 again");
}

#[tokio::test(start_paused = true)]
async fn watchers_see_what_is_stored_and_not_what_was_there_before() {
    let world = World::default();
    let ingester = world.ingester(10);
    let tail = ingester.tail.clone().unwrap();
    let mut seen = std::pin::pin!(tail.follow(signalbox_api::v1::UsageFilter::default()).unwrap());
    world.bus.put_events([1]);
    let drain = CancellationToken::new();
    let working = tokio::spawn(ingester.run(drain.clone()));
    let mut next = async || futures_util::StreamExt::next(&mut seen).await.unwrap().event.unwrap().event_id;
    assert_eq!(next().await, id("e1"));
    world.bus.put(2, sent("e1").encode_to_vec(), true);
    tokio::time::sleep(Duration::from_secs(2)).await;
    world.bus.put_events([3]);
    assert_eq!(next().await, id("e3"));
    assert!(next().now_or_never().is_none());
    drain.cancel();
    working.await.unwrap();
}
