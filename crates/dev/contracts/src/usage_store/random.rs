//! Anything, in any order.

use super::{
    Fresh,
    support::{INTERVALS, Pair, batch, dimensions, everything, requests, spread},
};
use crate::{calendar, random::Random};
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use signalbox_api::v1::{UsageDimension, UsageEvent, UsageFilter, usage_event::Outcome};
use signalbox_kit::Clock;
use signalbox_ports::usage_store::{Export, Query, Window};
use std::{sync::Arc, time::Duration};

const CASES: usize = 6;
const EVENTS: u64 = 80;

/// What is done to a store.
#[derive(Debug, Clone)]
enum Step {
    /// These events, by number; whether they are suspected or not, those that were given before are.
    Insert(Vec<u64>),
    /// The same batch as before once more.
    Repeat,
    /// Months before this day of 2026 are closed.
    Close(u8),
}

fn steps() -> impl Strategy<Value = (Vec<Step>, u64)> {
    let insert = prop::collection::hash_set(0..EVENTS, 0..40);
    let step = prop_oneof![
        6 => insert.prop_map(|numbers| Step::Insert(numbers.into_iter().collect())),
        1 => Just(Step::Repeat),
        1 => (20..100_u8).prop_map(Step::Close),
    ];
    (prop::collection::vec(step, 1..8), any::<u64>())
}

/// Every query gets the answer of a plain list of events, exact in counts and sums.
pub async fn any_batches_in_any_order_with_repeats_give_the_models_answers(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for _ in 0..CASES {
        let mut tree = steps().new_tree(&mut runner).expect("no filter to exhaust");
        let Some(mut failure) = failure(fresh, tree.current()).await else { continue };
        let mut smallest = tree.current();
        let mut simpler = tree.simplify();
        while simpler {
            simpler = match self::failure(fresh, tree.current()).await {
                Some(smaller) => {
                    (failure, smallest) = (smaller, tree.current());
                    tree.simplify()
                }
                None => tree.complicate(),
            };
        }
        panic!("{smallest:?}: {failure}");
    }
}

async fn failure(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
    (steps, seed): (Vec<Step>, u64),
) -> Option<String> {
    let mut pair = Pair::new(fresh).await;
    let mut given: Vec<u64> = Vec::new();
    let mut last: Vec<UsageEvent> = Vec::new();
    for step in steps {
        let now = pair.clock.now();
        pair.clock.set(now + Duration::from_secs(3601));
        match step {
            Step::Insert(numbers) => {
                last = numbers.iter().map(|number| spread(EVENTS).event(*number)).collect();
                let suspects: Vec<_> = numbers.iter().filter(|number| given.contains(number)).collect();
                let suspects: Vec<_> =
                    suspects.into_iter().map(|number| spread(EVENTS).event(*number)).collect();
                given.extend(numbers);
                pair.insert(&last, &suspects).await;
            }
            Step::Repeat => {
                pair.store.insert(&batch(&last, &last)).await.unwrap();
            }
            Step::Close(day) => {
                let before = calendar::at(2026, 1, 1, 0, 0) + Duration::from_secs(u64::from(day) * 86_400);
                pair.close_months(before).await;
            }
        }
    }
    pair.assert_requests(&requests(everything(), 50)).await;
    pair.assert_minutes(everything()).await;
    let march = Window { start: calendar::at(2026, 3, 1, 0, 0), end: calendar::at(2026, 4, 1, 0, 0) };
    pair.assert_export(&Export { month: march, tenant_id: String::new() }).await;
    let mut random = Random::new(seed, 0);
    for _ in 0..25 {
        let difference = pair.difference(&any_query(&mut random)).await;
        if difference.is_some() {
            return difference;
        }
    }
    None
}

fn any_query(random: &mut Random) -> Query {
    let dimensions: Vec<UsageDimension> = dimensions().collect();
    let mut group_by: Vec<UsageDimension> = (0..random.below(4)).map(|_| *random.pick(&dimensions)).collect();
    group_by.sort();
    group_by.dedup();
    let start = calendar::at(2026, 1, 1, 0, 0) + Duration::from_secs(random.below(90 * 24) * 3600);
    let ragged = Duration::from_micros(if random.percent(50) { random.below(3_600_000_000) } else { 0 });
    let end = start + ragged + Duration::from_secs(3600 * random.below(100 * 24));
    let mut filter = UsageFilter::default();
    if random.percent(30) {
        filter.tenant_ids = vec!["acme".to_owned(), "hooli".to_owned()];
    }
    if random.percent(20) {
        filter.outcomes = vec![Outcome::Succeeded as i32];
    }
    if random.percent(10) {
        filter.references = vec![format!("article-{}", random.below(20)), String::new()];
    }
    let limit = 1 + random.below(200) as usize;
    let offset = if random.percent(20) { random.below(10) as usize } else { 0 };
    let window = Window { start: start + ragged, end };
    Query { window, filter, group_by, interval: *random.pick(&INTERVALS), limit, offset }
}
