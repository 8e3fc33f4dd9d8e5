//! Deliveries that are worked on, for how long they are still ours, and for how long they have waited.

use super::{LetGo, pause::Backoff};
use crate::metrics;
use signalbox_kit::Clock;
use signalbox_ports::{Delivery, HOLD, UsageBus};
use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The longest that an insert takes until it has landed or never will, whether it is heard to end or not: it may be given
/// up after half of that, and the store may only then begin to work on it.
const INSERT: Duration = Duration::from_secs(20);
/// How often what is worked on is said to be.
const EXTEND_EVERY: Duration = Duration::from_secs(5);

/// What is held of a batch. When it may have gone to another ingester it must not be touched any more: both would look
/// for its events in the store, both would find none, and both would store them.
#[derive(Debug)]
pub(super) struct Hold {
    sequences: Vec<u64>,
    /// When it was ours for sure.
    since: Instant,
    /// When the bus was last told, or was not reached.
    told: Instant,
    /// When the oldest request ended whose account is offered to the store.
    oldest: Option<SystemTime>,
    clock: Arc<dyn Clock>,
}

impl Hold {
    /// `since`: when they were asked for, which was before the first of them came.
    pub(super) fn new(deliveries: &[Delivery], since: Instant, clock: Arc<dyn Clock>) -> Self {
        let sequences = deliveries.iter().map(|delivery| delivery.sequence).collect();
        Self { sequences, since, told: since, oldest: None, clock }
    }

    /// What is offered to the store now has waited since then.
    pub(super) fn waits_since(&mut self, oldest: Option<SystemTime>) {
        self.oldest = oldest;
    }

    /// These are no longer worked on.
    pub(super) fn done(&mut self, sequences: &[u64]) {
        let mut done = sequences.to_vec();
        done.sort_unstable();
        self.sequences.retain(|sequence| done.binary_search(sequence).is_err());
    }

    /// Works, and says so from time to time.
    pub(super) async fn during<T>(&mut self, bus: &mut dyn UsageBus, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                () = sleep_until(self.told + EXTEND_EVERY) => self.extend(bus).await,
                ended = &mut work => return ended,
            }
        }
    }

    /// Waits before the next try, and keeps what is held; or lets it go where it is no longer surely ours, or the process
    /// is to end.
    pub(super) async fn pause(
        &mut self,
        bus: &mut dyn UsageBus,
        backoff: &mut Backoff,
        drain: &CancellationToken,
    ) -> Result<(), LetGo> {
        if drain.run_until_cancelled(backoff.pause()).await.is_none() {
            tracing::info!("draining: what could not be stored yet stays on the bus");
            return Err(LetGo);
        }
        self.extend(bus).await;
        self.ours()
    }

    /// Makes sure that there is time for another insert.
    pub(super) async fn renew(&mut self, bus: &mut dyn UsageBus) -> Result<(), LetGo> {
        if !self.is_ours() {
            self.extend(bus).await;
        }
        self.ours()
    }

    fn ours(&self) -> Result<(), LetGo> {
        if self.is_ours() {
            return Ok(());
        }
        tracing::warn!("the bus could not be told in time that a batch is worked on: it comes again");
        Err(LetGo)
    }

    /// Whether an insert that begins now is over while nobody else has what is held.
    fn is_ours(&self) -> bool {
        self.since.elapsed() + INSERT < HOLD
    }

    async fn extend(&mut self, bus: &mut dyn UsageBus) {
        let now = Instant::now();
        self.told = now;
        match bus.extend(&self.sequences).await {
            Ok(()) => self.since = now,
            Err(away) => tracing::debug!(error = %away, "the bus cannot be told that a batch is worked on"),
        }
        self.report(bus).await;
    }

    /// While the store keeps it waiting, operators see how old the oldest gets and how many there are.
    async fn report(&self, bus: &mut dyn UsageBus) {
        if let Some(age) = self.oldest.and_then(|oldest| self.clock.now().duration_since(oldest).ok()) {
            metrics::lag(age);
        }
        if let Some(backlog) = bus.backlog().await {
            metrics::backlog(backlog);
        }
    }
}
