//! What admission from memory costs: `cargo bench -p signalbox-budgeting`. The aim is less than 1 µs for a hold and its
//! settlement over two budgets.
#![expect(clippy::print_stdout, reason = "the figures are the output")]

use signalbox_budgeting::wallet::{Grant, Wallet};
use signalbox_types::Money;
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

const ROUNDS: u32 = 100_000;
const BATCHES: usize = 15;

fn main() {
    for (budgets, leases) in [(1, 1), (2, 2), (6, 6), (2, 500)] {
        let nanos = nanos_per_request(budgets, leases);
        println!("{budgets} budgets of {leases:>3}: {nanos:>5} ns per hold and settlement");
    }
}

/// The median of several batches, so that a busy machine does not decide.
fn nanos_per_request(budgets: usize, leases: usize) -> u128 {
    let names: Vec<String> = (0..leases).map(|index| format!("budget-{index}")).collect();
    let now = Instant::now();
    let mut wallet = Wallet::new();
    for name in &names {
        wallet.grant(&grant(name, now), now);
    }
    let names: Vec<&str> = names.iter().rev().take(budgets).map(String::as_str).collect();
    let mut batches: Vec<u128> = (0..BATCHES).map(|_| batch(&mut wallet, &names, now)).collect();
    batches.sort_unstable();
    batches[BATCHES / 2]
}

fn batch(wallet: &mut Wallet, names: &[&str], now: Instant) -> u128 {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        if let Ok(hold) = black_box(&mut *wallet).try_hold(black_box(names), Money::from_nano_eur(1_000), now)
        {
            wallet.settle(hold, Some(Money::from_nano_eur(1)));
        }
    }
    start.elapsed().as_nanos() / u128::from(ROUNDS)
}

fn grant(name: &str, asked_at: Instant) -> Grant<'_> {
    Grant {
        lease_id: name,
        budget_id: name,
        period_id: "2026-11",
        granted: Money::MAX,
        slice: Money::MAX,
        asked_at,
        ttl: Duration::from_secs(60),
        ends_with_period: false,
    }
}
