//! One policy through one scenario.

use crate::{
    arrivals::Arrivals,
    policies::{Client, Policy, Simple},
    record::{Ask, Outcome, Record},
    scenario::Scenario,
    signalbox::Signalbox,
    world::World,
};
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{runtime, time::sleep_until};
use tokio_util::task::TaskTracker;

/// Lets a policy serve a scenario, and tells what came of it. The same input gives the same record.
pub fn run(scenario: &Arc<Scenario>, policy: Policy) -> io::Result<Record> {
    let runtime = runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    runtime.block_on(async {
        let world = World::new(scenario.clone());
        let client: Arc<dyn Client> = match policy {
            Policy::Signalbox | Policy::Cheap | Policy::BestScore => {
                Arc::new(Signalbox::start(world.clone(), policy)?)
            }
            _ => Arc::new(Simple::new(world.clone(), policy)),
        };
        let targets = tokio::spawn(targets(world.clone(), client.clone()));
        let outcomes = serve(&world, &client).await?;
        Ok(Record {
            policy,
            outcomes,
            seconds: world.seconds(),
            targets: targets.await.map_err(io::Error::other)?,
        })
    })
}

/// Sends every request when it is due, and waits for all to end.
async fn serve(world: &Arc<World>, client: &Arc<dyn Client>) -> io::Result<Vec<Outcome>> {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let tasks = TaskTracker::new();
    let mut changes = world.scenario.price_changes().into_iter().peekable();
    for ask in Arrivals::of(&world.scenario) {
        sleep_until(world.instant(ask.at)).await;
        // Here, where no request is planned meanwhile: reading the file takes real time.
        while changes.next_if(|change| *change <= ask.at).is_some() {
            client.prices_changed().await?;
        }
        tasks.spawn(one(client.clone(), ask, ends.clone()));
    }
    tasks.close();
    tasks.wait().await;
    let mut outcomes = std::mem::take(&mut *ends.lock().unwrap_or_else(PoisonError::into_inner));
    outcomes.sort_unstable_by_key(|outcome: &Outcome| outcome.ask.number);
    Ok(outcomes)
}

/// Looks once a second at the probabilities of the draw.
async fn targets(world: Arc<World>, client: Arc<dyn Client>) -> Vec<Vec<f64>> {
    let mut targets = Vec::new();
    for second in 1..=world.scenario.length.as_secs() {
        sleep_until(world.instant(Duration::from_secs(second))).await;
        targets.push(client.targets().await);
    }
    targets
}

async fn one(client: Arc<dyn Client>, ask: Ask, ends: Arc<Mutex<Vec<Outcome>>>) {
    let outcome = client.ask(ask).await;
    ends.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
}
