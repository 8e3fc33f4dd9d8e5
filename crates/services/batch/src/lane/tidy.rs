//! What must be looked after by the clock: items whose time is over, results that need not be kept, figures.

use super::{Workplace, end};
use crate::{Dependencies, failure::of_store, metrics, stored::Known};
use signalbox_ports::batches::{BatchStoreError, WaitingQuery};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Items or jobs that are dealt with at once.
const AT_ONCE: usize = 100;
/// How often figures are shown.
const FIGURES: Duration = Duration::from_secs(5);
/// How often results are removed.
const REMOVAL: Duration = Duration::from_secs(60);

pub(super) async fn run(place: Arc<Workplace>, stop: CancellationToken) {
    let dependencies = &place.dependencies;
    let (mut figures, mut removal) = (None, None);
    while !stop.is_cancelled() {
        let mut done = end_waiting(dependencies, None).await;
        if done.is_ok() && is_due(&mut figures, FIGURES) {
            done = show(dependencies).await;
        }
        if done.is_ok() && is_due(&mut removal, REMOVAL) {
            done = remove(dependencies).await;
        }
        if let Err(error) = done {
            let _told = of_store(&error);
        }
        let _stopped = stop.run_until_cancelled(sleep(dependencies.options.idle)).await;
    }
}

fn is_due(last: &mut Option<Instant>, every: Duration) -> bool {
    let due = last.is_none_or(|last| last.elapsed() >= every);
    if due {
        *last = Some(Instant::now());
    }
    due
}

/// Ends items that wait for a window and that nobody waits for any more: of one job, or of all.
pub(crate) async fn end_waiting(
    dependencies: &Dependencies,
    job: Option<i64>,
) -> Result<(), BatchStoreError> {
    let Dependencies { store, clock, options, followers, .. } = dependencies;
    loop {
        let now = clock.now();
        let items = store.waiting(&WaitingQuery { job, now, most: AT_ONCE }).await?;
        let mut ends = Vec::with_capacity(items.len());
        for item in &items {
            if let Some(how) = end::unwanted(item, now) {
                ends.push((item.key, end::given_up(item, &Known::of(item), how, now)));
            }
        }
        let ended = if ends.is_empty() { 0 } else { store.end_waiting(&ends, now, &options.rules).await? };
        if ended > 0 {
            ends.iter().for_each(|(_, end)| metrics::ended(end.outcome));
            followers.wake();
        }
        // Where none of them could be ended, others deal with them.
        if items.len() < AT_ONCE || ended == 0 {
            return Ok(());
        }
    }
}

async fn show(dependencies: &Dependencies) -> Result<(), BatchStoreError> {
    let now = dependencies.clock.now();
    metrics::show(&dependencies.store.gauges(now).await?, now);
    Ok(())
}

async fn remove(dependencies: &Dependencies) -> Result<(), BatchStoreError> {
    while dependencies.store.remove_expired(dependencies.clock.now(), AT_ONCE).await? == AT_ONCE as u64 {}
    Ok(())
}
