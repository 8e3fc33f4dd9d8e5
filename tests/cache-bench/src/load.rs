//! Requests at a constant rate, whatever becomes of those before.

use crate::{
    ask::{Asked, ask},
    spread::Spread,
};
use signalbox_api::v1::{GenerateRequest, cache_effect::Outcome};
use signalbox_testkit::Client;
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

/// What came of them.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: usize,
    pub(crate) failed: usize,
    /// Lookups that the cache did not answer in time, or at all.
    pub(crate) silent: usize,
    pub(crate) times: Spread,
}

/// A number that no request of this run had before.
pub(crate) fn fresh() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// Asks at a rate, each time something new.
pub(crate) async fn load(
    client: &Client,
    lasts: Duration,
    rate: u64,
    request: impl Fn(u64) -> GenerateRequest,
) -> Seen {
    let began = Instant::now();
    let mut under_way = JoinSet::new();
    let mut asked = Vec::new();
    for at in 0.. {
        let due = began + Duration::from_secs(at) / u32::try_from(rate.max(1)).unwrap_or(u32::MAX);
        if due >= began + lasts {
            break;
        }
        sleep_until(due).await;
        let request = request(fresh());
        under_way.spawn(ask(client.clone(), request));
        while let Some(Ok(done)) = under_way.try_join_next() {
            asked.push(done);
        }
    }
    asked.extend(under_way.join_all().await);
    Seen::of(asked)
}

impl Seen {
    fn of(asked: Vec<Asked>) -> Self {
        let count = |is: &dyn Fn(&Asked) -> bool| asked.iter().filter(|asked| is(asked)).count();
        Self {
            requests: asked.len(),
            failed: count(&|asked| asked.answer.is_err()),
            silent: count(&|asked| {
                matches!(asked.met(), (Outcome::Miss, "timeout" | "unavailable" | "store"))
            }),
            times: Spread::of(asked.iter().map(|asked| asked.took).collect()),
        }
    }
}
