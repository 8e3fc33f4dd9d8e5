//! Waiting for something to become true.

use std::{future::Future, time::Duration};
use tokio::time::{Instant, sleep};

/// How long is waited in all. Generous: a busy machine is no failure.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits until `holds`; panics with `what` when it takes too long.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    eventually_some(what, || {
        let holds = holds();
        async { holds.await.then_some(()) }
    })
    .await;
}

/// Waits for a value; panics with `what` when it takes too long.
pub async fn eventually_some<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "not within {} s: {what}", PATIENCE.as_secs());
        sleep(LOOK_EVERY).await;
    }
}
