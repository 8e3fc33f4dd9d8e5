//! What a plan costs: `cargo bench -p signalbox-routing`. The aim is less than 5 µs for 20 candidates.
#![expect(clippy::print_stdout, reason = "the figures are the output")]

use signalbox_routing::{
    Candidate, Chance, Demand, Latency, Load, Needs, Observed, Offer, Pace, Quality, Rules, Standing, Tally,
    plan,
};
use signalbox_types::{Capabilities, ModelFacts, ModelRef, Money};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const ROUNDS: u32 = 20_000;
const BATCHES: usize = 15;

fn main() {
    for count in [1, 5, 20, 100] {
        let nanos = nanos_per_plan(count);
        println!("{count:>4} candidates: {nanos:>6} ns per plan");
    }
}

/// The median of several batches, so that a busy machine does not decide.
fn nanos_per_plan(count: usize) -> u128 {
    let names: Vec<ModelRef> =
        (0..count).map(|index| ModelRef::new(format!("vendor-{index}"), "model")).collect();
    let facts = ModelFacts { context_window: 200_000, ..ModelFacts::default() };
    let candidates: Vec<Candidate<'_>> =
        names.iter().zip(1..).map(|(name, salt)| candidate(name, &facts, salt)).collect();
    let needs = Needs { capabilities: Capabilities::NONE, prompt_tokens: 1_000, answer_tokens: 500 };
    let demand = Demand {
        time_left: Some(Duration::from_secs(30)),
        first_output_ceiling: Some(Duration::from_secs(5)),
        stream: true,
        ..Demand::new(needs)
    };
    let mut batches: Vec<u128> = (0..BATCHES).map(|_| batch(&demand, &candidates)).collect();
    batches.sort_unstable();
    batches[BATCHES / 2]
}

fn batch(demand: &Demand<'_>, candidates: &[Candidate<'_>]) -> u128 {
    let rules = Rules::default();
    let mut chance = Chance::of("bench");
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(plan(black_box(demand), black_box(candidates), &rules, 3, || chance.unit()));
    }
    start.elapsed().as_nanos() / u128::from(ROUNDS)
}

fn candidate<'a>(model: &'a ModelRef, facts: &'a ModelFacts, salt: u32) -> Candidate<'a> {
    let vary = |most: u32| salt * 7_919 % most;
    let offer = Offer {
        model,
        facts: Some(facts),
        configured: true,
        served: true,
        held_for: None,
        standing: [Standing::Preferred, Standing::Secondary, Standing::LastResort][vary(3) as usize],
    };
    let micros = |most| Duration::from_micros(u64::from(1 + vary(most)));
    let pace = Pace { first_token: micros(800_000), between_tokens: micros(20_000) };
    let observed = Observed {
        p50: micros(20_000),
        p95: micros(40_000),
        p99: micros(90_000),
        pace,
        samples: 100.0,
        first_token_p99: micros(2_000_000),
        streams: 100.0,
    };
    let health = Tally { good: f64::from(90 + vary(10)), all: 100.0 };
    Candidate {
        cost: Some(Money::from_nano_eur(i64::from(100_000 + vary(900_000)))),
        ceiling: Some(Money::from_nano_eur(2_000_000)),
        latency: Latency { observed, prior: Some(pace) },
        health,
        quality: Quality { prior: Some(0.9), passed: health },
        quota_left: Some(f64::from(vary(100)) / 100.0),
        load: Load { peak: Some(micros(30_000)), in_flight: vary(20) },
        ..Candidate::new(offer)
    }
}
