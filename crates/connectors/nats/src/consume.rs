//! From the stream to an ingester: the `cost-ingest` consumer, which all ingesters share.
//!
//! Acknowledgements are sent in bulk and not confirmed one by one: one that is lost only means that the message comes
//! again, marked so, and is found in the store. Messages are asked for when they are received for, never ahead, so that
//! one ingester does not sit on what another could store.

mod held;
mod place;
mod pull;
mod twice;

use crate::{Nats, StreamError, StreamOptions, metrics, stream::ensure, subjects::AGAIN};
use async_nats::jetstream::Context;
use bytes::Bytes;
use held::Held;
use pull::{Pulled, Puller};
use signalbox_ports::{BusAway, Delivery, HOLD, UsageBus};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use twice::Twice;

/// How long the servers may take to answer.
const PATIENCE: Duration = Duration::from_secs(4);
/// The pause after a failure, so that whoever asks on and on does not do so in vain all the time.
const PAUSE: Duration = Duration::from_millis(500);

const ACK: Bytes = Bytes::from_static(b"+ACK");
const IN_PROGRESS: Bytes = Bytes::from_static(b"+WPI");

/// How an ingester reads.
#[derive(Debug, Clone)]
pub struct ConsumerOptions {
    /// The streams, made where they are missing.
    pub streams: StreamOptions,
    /// Most messages that all ingesters together may have received and not acknowledged: some batches for each.
    pub max_ack_pending: usize,
    /// How long a message is an ingester's own.
    pub ack_wait: Duration,
}

impl Default for ConsumerOptions {
    fn default() -> Self {
        Self { streams: StreamOptions::default(), max_ack_pending: 100_000, ack_wait: HOLD }
    }
}

/// An ingester's end of the stream. Makes what is missing when it is first used, and again when it is lost.
#[derive(Debug)]
pub struct UsageConsumer {
    nats: Nats,
    context: Context,
    options: ConsumerOptions,
    puller: Option<Puller>,
    held: Held,
    twice: Twice,
}

impl UsageConsumer {
    /// Must be called inside the runtime that is to carry it.
    pub fn new(nats: Nats, options: ConsumerOptions) -> Self {
        let context = nats.jetstream(PATIENCE, 16);
        let twice = Twice::new(options.streams.duplicate_window);
        let held = Held::default();
        Self { nats, context, options, puller: None, held, twice }
    }

    /// Makes or checks the streams and the consumer. [`UsageBus::receive`] does so by itself.
    ///
    /// # Errors
    /// Somebody has made them otherwise, or the servers do not answer.
    pub async fn prepare(&mut self) -> Result<(), StreamError> {
        self.puller().await.map(drop)
    }

    async fn puller(&mut self) -> Result<&mut Puller, StreamError> {
        let puller = match self.puller.take() {
            Some(puller) => puller,
            None => {
                let streams = &self.options.streams;
                for wanted in [streams.usage(), streams.dead()] {
                    ensure(&self.context, &wanted, streams).await?;
                }
                Puller::start(&self.nats, &self.context, &self.options).await?
            }
        };
        Ok(self.puller.insert(puller))
    }

    async fn pull(&mut self, most: usize, end: Instant) -> Result<Pulled, BusAway> {
        if !self.nats.is_connected() {
            return Err(BusAway("NATS is not connected".to_owned()));
        }
        let puller = self.puller().await.map_err(|error| BusAway(error.to_string()))?;
        let pulled = puller.pull(most, end).await;
        if pulled.lost {
            self.puller = None;
        }
        match pulled.problem {
            Some(problem) if pulled.messages.is_empty() => Err(BusAway(problem)),
            _ => Ok(pulled),
        }
    }

    /// Takes what can be taken of messages, and keeps back what must wait.
    async fn take(&mut self, pulled: Pulled) -> Result<Vec<Delivery>, BusAway> {
        let mut deliveries = Vec::with_capacity(pulled.messages.len());
        for (message, place) in pulled.messages {
            let resent = message.headers.as_ref().is_some_and(|headers| headers.get(AGAIN).is_some());
            self.held.insert(place.sequence, place.reply);
            let delivery = Delivery {
                sequence: place.sequence,
                payload: message.payload.into(),
                again: resent || place.delivered > 1,
                taken_at: place.taken_at,
            };
            if resent {
                self.twice.keep(delivery);
            } else {
                deliveries.push(delivery);
            }
        }
        if !self.twice.is_empty() {
            let extend = self.twice.take_due(self.options.ack_wait / 3);
            self.held.touch(&extend);
            self.send(&extend, &IN_PROGRESS).await?;
            deliveries.extend(self.twice.release(&self.context).await);
        }
        metrics::held_back(self.twice.len());
        Ok(deliveries)
    }

    async fn send(&self, sequences: &[u64], what: &Bytes) -> Result<(), BusAway> {
        if !self.nats.is_connected() {
            return Err(BusAway("NATS is not connected".to_owned()));
        }
        let client = self.nats.client();
        let sending = async {
            for reply in sequences.iter().filter_map(|sequence| self.held.reply(*sequence)) {
                client.publish(reply, what.clone()).await.map_err(|error| BusAway(error.to_string()))?;
            }
            client.flush().await.map_err(|error| BusAway(error.to_string()))
        };
        timeout(PATIENCE, sending).await.map_err(|_| BusAway("NATS does not take messages".to_owned()))?
    }
}

#[async_trait::async_trait]
impl UsageBus for UsageConsumer {
    async fn receive(&mut self, most: usize, patience: Duration) -> Result<Vec<Delivery>, BusAway> {
        let end = Instant::now() + patience;
        self.held.forget_older_than(self.options.ack_wait * 10);
        let received = match self.pull(most, end).await {
            Ok(pulled) => self.take(pulled).await,
            Err(away) => Err(away),
        };
        if received.is_err() {
            sleep(PAUSE.min(patience)).await;
        }
        received
    }

    async fn acknowledge(&mut self, sequences: &[u64]) -> Result<(), BusAway> {
        self.send(sequences, &ACK).await?;
        self.held.remove(sequences);
        Ok(())
    }

    async fn extend(&mut self, sequences: &[u64]) -> Result<(), BusAway> {
        self.held.touch(sequences);
        self.send(sequences, &IN_PROGRESS).await
    }

    async fn backlog(&mut self) -> Option<u64> {
        self.puller.as_ref()?.pending().await
    }
}
