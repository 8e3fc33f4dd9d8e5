//! An exact hit in one process, from end to end.

use crate::{
    ask::{Asked, ask, exact, past_the_cache},
    direct::Direct,
    field,
    spread::{Spread, ms},
};
use serde_json::json;
use signalbox_api::v1::cache_effect::Outcome;
use signalbox_testkit::{Signalbox, Vendorsim, eventually};
use std::{
    error::Error,
    fmt::Write as _,
    time::{Duration, Instant},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

const QUESTION: &str = "Write a headline about the ferry that runs again between Trieste and Muggia.";
/// Calls that nobody counts, before those that are.
const WARM: usize = 200;

/// Calls of each kind, in turns of this many, so that all meet the same machine.
const TURN: usize = 100;

/// One call at a time on one connection, the answers in the process's own memory.
pub(crate) async fn table(calls: usize) -> Result<String, Box<dyn Error>> {
    let vendors = Vendorsim::serve(Duration::ZERO).await;
    let folder = tempfile::tempdir()?;
    let signalbox = field::serve(&folder, "", &field::config(&vendors, json!({}))).await?;
    let client = signalbox.client();
    eventually("the answer is kept", || async {
        ask(client.clone(), exact(QUESTION)).await.met().0 == Outcome::ExactHit
    })
    .await;
    let mut direct = Direct::connect(vendors.address(), QUESTION).await?;
    let mut times = [(); 4].map(|()| Vec::new());
    for turn in 0..(calls.div_ceil(TURN) + WARM.div_ceil(TURN)) {
        let counts = turn >= WARM.div_ceil(TURN);
        for _ in 0..TURN {
            let hit = took(ask(client.clone(), exact(QUESTION)).await, Outcome::ExactHit)?;
            let floor = floor(&signalbox).await?;
            let began = Instant::now();
            direct.call().await?;
            let direct = began.elapsed();
            let bypass = took(ask(client.clone(), past_the_cache(exact(QUESTION))).await, Outcome::Bypass)?;
            if counts {
                times.iter_mut().zip([floor, hit, direct, bypass]).for_each(|(times, took)| times.push(took));
            }
        }
    }
    Ok(shown(times.map(Spread::of)))
}

fn took(asked: Asked, expected: Outcome) -> Result<Duration, Box<dyn Error>> {
    let outcome = asked.met().0;
    if outcome != expected {
        return Err(format!("{outcome:?} in place of {expected:?}").into());
    }
    Ok(asked.took)
}

/// The least that a call of this process takes.
async fn floor(signalbox: &Signalbox) -> Result<Duration, Box<dyn Error>> {
    let mut health = HealthClient::new(signalbox.channel());
    let began = Instant::now();
    health.check(HealthCheckRequest::default()).await?;
    Ok(began.elapsed())
}

fn shown([floor, hit, direct, bypass]: [Spread; 4]) -> String {
    let mut table =
        "| one call at a time | p50 ms | p99 ms | p50 above the floor, µs |\n| --- | --- | --- | --- |\n"
            .to_owned();
    let rows = [
        ("the floor: a health check of the same process", &floor),
        ("exact hit", &hit),
        ("the vendor, called directly", &direct),
        ("the vendor through Signalbox, past the cache", &bypass),
    ];
    for (what, spread) in rows {
        let above = (spread.median().as_secs_f64() - floor.median().as_secs_f64()) * 1e6;
        let _ = writeln!(table, "| {what} | {} | {} | {above:.0} |", ms(spread.median()), ms(spread.p99()));
    }
    table
}
