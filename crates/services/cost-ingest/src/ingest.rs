//! The loop: from the bus, checked, to the store, and only then acknowledged.

mod aside;
mod batch;
mod deliver;
mod hold;
mod pause;
mod sort;

#[cfg(test)]
mod tests;

use crate::{metrics, progress::Progress, tail::Tail};
use aside::Aside;
use hold::Hold;
pub(crate) use pause::Backoff;
use pause::Reach;
use signalbox_kit::Clock;
use signalbox_ports::{DeadLetters, Delivery, UsageBus, usage_store::UsageStore};
use sort::sort;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How an ingester works.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// Most events stored at once.
    pub batch_events: usize,
    /// How long to wait for that many.
    pub batch_interval: Duration,
}

/// What an ingester works with. Several may share one bus and one store.
#[derive(Debug)]
pub struct Ingester {
    /// Where accounts come from.
    pub bus: Box<dyn UsageBus>,
    /// Where those go that can never be stored.
    pub letters: Arc<dyn DeadLetters>,
    /// Where the others go.
    pub store: Arc<dyn UsageStore>,
    /// Who watches; none where they are told by somebody else.
    pub tail: Option<Tail>,
    /// What is told of how far it is.
    pub progress: Progress,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// How it works.
    pub options: IngestOptions,
}

/// The batch was let go: what is not acknowledged of it comes again.
#[derive(Debug)]
struct LetGo;

impl Ingester {
    /// Works until `drain` is cancelled; the batch at hand is finished.
    pub async fn run(mut self, drain: CancellationToken) {
        let (mut reach, mut backoff) = (Reach::new("the usage bus"), Backoff::default());
        let mut aside = Aside::default();
        while !drain.is_cancelled() {
            let (asked, since) = (self.clock.now(), Instant::now());
            match self.bus.receive(self.options.batch_events, self.options.batch_interval).await {
                Ok(deliveries) => {
                    reach.is_there();
                    backoff = Backoff::default();
                    let all = deliveries.len() < self.options.batch_events;
                    let done = self.work_off(deliveries, since, &mut aside, &drain).await.is_ok();
                    if all && done {
                        self.progress.caught_up(asked);
                    }
                    if !done && drain.is_cancelled() {
                        return;
                    }
                    self.report().await;
                }
                Err(away) => {
                    reach.is_away(&away.0);
                    let _drained = drain.run_until_cancelled(backoff.pause()).await;
                }
            }
        }
        // What the last requests have left. Where it cannot be stored now it stays where it is.
        let since = Instant::now();
        if let Ok(last) = self.bus.receive(self.options.batch_events, Duration::ZERO).await {
            let _left = self.work_off(last, since, &mut aside, &drain).await;
        }
    }

    /// Stores what is good, sets aside what is not, and acknowledges all of it. What is bad holds up nothing good.
    async fn work_off(
        &mut self,
        deliveries: Vec<Delivery>,
        since: Instant,
        aside: &mut Aside,
        drain: &CancellationToken,
    ) -> Result<(), LetGo> {
        if deliveries.is_empty() {
            metrics::lag(Duration::ZERO);
            self.look_again().await;
            return Ok(());
        }
        let mut hold = Hold::new(&deliveries, since, self.clock.clone());
        let sorted = sort(deliveries, self.clock.now());
        metrics::repeated(sorted.twice.len());
        let mut letters = sorted.letters;
        letters.extend(self.store(sorted.good, &mut hold, drain).await?);
        self.set_aside(letters, aside, &mut hold).await;
        self.acknowledge(&sorted.twice, &mut hold).await;
        Ok(())
    }

    /// What kept a store from being reached may have gone to another ingester: then nothing is left to find it by.
    async fn look_again(&mut self) {
        if self.progress.store_away().is_some() && self.store.time().await.is_ok() {
            self.progress.store_is_there();
        }
    }

    /// What cannot be acknowledged comes again, and is found to be stored.
    async fn acknowledge(&mut self, sequences: &[u64], hold: &mut Hold) {
        hold.done(sequences);
        if sequences.is_empty() {
            return;
        }
        if let Err(away) = self.bus.acknowledge(sequences).await {
            tracing::warn!(error = %away, count = sequences.len(), "stored, but not acknowledged: they come again");
        }
    }

    async fn report(&mut self) {
        if let Some(backlog) = self.bus.backlog().await {
            metrics::backlog(backlog);
        }
    }
}
