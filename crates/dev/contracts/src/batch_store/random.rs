//! Anything, in any order.

use super::{
    Fresh,
    support::{ALL, LEASE, World, end, handed, item, later, new_job, now, rules},
};
use crate::random::Random;
use signalbox_batching::Fault;
use signalbox_ports::batches::{
    BatchStoreError, Claim, Item, ItemKey, JobQuery, JobState, NewItem, NewJob, Outcome, Pause, Step,
    Submitted, WindowEnd,
};
use std::collections::{BTreeMap, BTreeSet};

const STEPS: u64 = 250;
const TENANTS: [&str; 2] = ["acme", "other"];

/// What happens to a store, and what is known of it.
struct Life {
    world: World,
    random: Random,
    /// Seconds that have passed.
    passed: u64,
    submitted: BTreeMap<(String, String), u64>,
    /// Claims of processes that stood still.
    stale: Vec<(Claim, Vec<Item>)>,
    ended: u64,
}

/// Processes die and come back, vendors refuse, jobs are cancelled and run out of time.
pub async fn whatever_happens_in_whatever_order_each_item_ends_once(fresh: &impl AsyncFn() -> Fresh) {
    let mut life = Life {
        world: World::new(fresh).await,
        random: Random::new(20_261_130, 0),
        passed: 0,
        submitted: BTreeMap::new(),
        stale: Vec::new(),
        ended: 0,
    };
    for step in 0..STEPS {
        match life.random.below(100) {
            0..10 => life.submit(step).await,
            10..14 => life.cancel().await,
            14..22 => life.end_waiting().await,
            22..30 => life.wake_up().await,
            _ => life.work().await,
        }
        life.passed += life.random.below(20);
    }
    while life.is_anything_left().await {
        life.passed += 31;
        life.end_waiting().await;
        life.work().await;
    }
    life.check().await;
}

impl Life {
    async fn submit(&mut self, number: u64) {
        let job = format!("j{}", number / 4);
        let tenant = *self.random.pick(&TENANTS);
        let count = 1 + self.random.below(8);
        let vendors = ["openai", "gemini", "wide"];
        let mut any = || {
            let first = *self.random.pick(&vendors);
            let second = *self.random.pick(&vendors);
            [first, second]
        };
        let items: Vec<NewItem> = (0..count).map(|number| item(&format!("i{number}"), &any())).collect();
        let seconds = self.random.logarithmic(200, 100_000);
        let (create_time, complete_by) = (later(self.passed), later(self.passed + seconds));
        let new = NewJob { create_time, complete_by, ..new_job(tenant, &job) };
        let known = self.submitted.contains_key(&(tenant.to_owned(), job.clone()));
        let submitted = self.world.store.submit(&new, &items, &rules()).await.unwrap();
        assert_eq!(matches!(submitted, Submitted::Exists(_)), known);
        self.submitted.entry((tenant.to_owned(), job)).or_insert(count);
    }

    async fn cancel(&mut self) {
        let names: Vec<_> = self.submitted.keys().cloned().collect();
        if names.is_empty() {
            return;
        }
        let (tenant, job) = self.random.pick(&names);
        self.world.store.cancel(tenant, job, later(self.passed)).await.unwrap().unwrap();
    }

    async fn end_waiting(&mut self) {
        let now = later(self.passed);
        let ends: Vec<_> = self.world.waiting(now).await;
        let ends: Vec<_> = ends.iter().map(|item| (item.key, end(item, Outcome::Cancelled))).collect();
        self.ended += self.world.store.end_waiting(&ends, now, &rules()).await.unwrap();
    }

    /// A process does something with a window, or stands still.
    async fn work(&mut self) {
        let now = later(self.passed);
        let Some(claim) = self.world.store.claim("p", now, LEASE).await.unwrap() else { return };
        let items = self.world.store.items(&claim.window.window_id, None, ALL).await.unwrap();
        match self.random.below(10) {
            0..2 => self.stale.push((claim, items)),
            2..4 => {
                let pause = Pause {
                    due: later(self.passed + 10),
                    expire_time: None,
                    cancel_asked: false,
                    not_taken: false,
                };
                self.world.store.put_back(&claim.lease, &pause).await.unwrap();
            }
            4..6 if claim.window.submit_time.is_none() => {
                self.world.store.handed(&claim.lease, &handed("vb", now)).await.unwrap();
            }
            // It dies in the middle.
            6 => {
                let some = &items[..items.len() / 2];
                self.finish(&claim, some).await;
                self.stale.push((claim, items));
            }
            _ => {
                self.finish(&claim, &items).await;
                let end = WindowEnd { end_time: now, refused: None };
                self.world.store.close(&claim.lease, &end).await.unwrap();
            }
        }
    }

    /// Items end, or go on.
    async fn finish(&mut self, claim: &Claim, items: &[Item]) {
        let now = later(self.passed);
        let mut steps: Vec<(ItemKey, Step)> = Vec::new();
        for item in items {
            let next = if self.random.percent(40) {
                item.trail.after(Fault::Vendor, now, item.job.complete_by)
            } else {
                None
            };
            steps.push(match next {
                Some(trail) => (item.key, Step::Go { trail, history: b"again".to_vec() }),
                None => (item.key, Step::End(end(item, Outcome::Succeeded))),
            });
        }
        assert_eq!(self.world.step(claim, &steps, now).await, items.len() as u64);
        self.ended += steps.iter().filter(|(_, step)| matches!(step, Step::End(_))).count() as u64;
    }

    /// A process that stood still goes on as if nothing had happened. It still holds its window, or is told that not.
    async fn wake_up(&mut self) {
        let Some((claim, items)) = self.stale.pop() else { return };
        let ends: Vec<_> =
            items.iter().map(|item| (item.key, Step::End(end(item, Outcome::Failed)))).collect();
        match self.world.store.step(&claim.lease, &ends, later(self.passed), &rules()).await {
            Ok(ended) => self.ended += ended,
            Err(error) => assert_eq!(error, BatchStoreError::LeaseLost),
        }
    }

    async fn is_anything_left(&self) -> bool {
        let states = vec![JobState::Running, JobState::Cancelling];
        let query = JobQuery { states, most: 1, ..JobQuery::default() };
        !self.world.store.jobs(&query).await.unwrap().is_empty()
    }

    async fn check(&self) {
        assert_eq!(self.ended, self.submitted.values().sum::<u64>());
        let mut events = BTreeSet::new();
        for untold in self.world.store.untold(100_000).await.unwrap() {
            assert!(events.insert(untold.event));
        }
        assert_eq!(events.len() as u64, self.ended);
        for ((tenant, job), total) in &self.submitted {
            let found = self.world.job(tenant, job).await.0;
            let counts = found.counts;
            assert_eq!((counts.total, counts.queued, counts.running), (*total, 0, 0));
            let ended = counts.succeeded + counts.failed + counts.cancelled + counts.expired;
            assert_eq!(ended, *total);
            let results = self.world.results(tenant, job, 0).await.results;
            let ids: BTreeSet<&str> = results.iter().map(|result| result.item_id.as_str()).collect();
            assert_eq!(ids.len() as u64, *total);
            let sequences: Vec<u64> = results.iter().map(|result| result.sequence).collect();
            assert_eq!(sequences, (1..=*total).collect::<Vec<_>>());
            assert_eq!(found.cost.nano_eur.unsigned_abs(), total * (total + 1) / 2);
        }
        let gauges = self.world.store.gauges(now()).await.unwrap();
        assert_eq!((gauges.queued, gauges.running, gauges.windows), (0, 0, vec![]));
    }
}
