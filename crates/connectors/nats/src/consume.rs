//! From the stream to an ingester: the `cost-ingest` consumer, which all ingesters share.
//!
//! Messages are asked for when they are received for, never ahead, so that one ingester does not sit on what another
//! could store. Acknowledgements are sent in bulk and not confirmed: one that is lost only means that the message comes
//! again, marked so, and is found in the store. That a message is still wanted is confirmed, for whoever cannot be sure of
//! that must not go on storing it.

mod epoch;
mod held;
mod kept;
mod misnamed;
mod place;
mod pull;
mod turn;
mod waiting;

use crate::{
    Nats, StreamError, StreamOptions, metrics,
    stream::ensure,
    subjects::{AGAIN, MESSAGE_ID, Stamp, USAGE_STREAM},
};
use async_nats::{Request, Subject, jetstream::Context};
use bytes::Bytes;
use epoch::Epoch;
use held::Held;
use kept::{Kept, Waiting};
use misnamed::Misnamed;
use pull::{Pulled, Puller};
use signalbox_kit::{Clock, SystemClock};
use signalbox_ports::{BusAway, Delivery, HOLD, UsageBus};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, sleep, timeout};
use waiting::{Oldest, tidy};

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
    /// How long a message is an ingester's own, from when it was received or last extended.
    pub ack_wait: Duration,
    /// Tells since when servers remember.
    pub clock: Arc<dyn Clock>,
}

impl Default for ConsumerOptions {
    fn default() -> Self {
        let (streams, clock) = (StreamOptions::default(), Arc::new(SystemClock));
        Self { streams, max_ack_pending: 50_000, ack_wait: HOLD, clock }
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
    kept: Kept,
    oldest: Oldest,
    epoch: Option<Epoch>,
    /// How many epochs this ingester has seen.
    epochs: u64,
}

impl UsageConsumer {
    /// Must be called inside the runtime that is to carry it.
    pub fn new(nats: Nats, options: ConsumerOptions) -> Self {
        let context = nats.jetstream(PATIENCE, 16);
        let kept = Kept::new(options.streams.duplicate_window, options.ack_wait);
        let (held, oldest) = (Held::default(), Oldest::default());
        Self { nats, context, options, puller: None, held, kept, oldest, epoch: None, epochs: 0 }
    }

    /// Makes or checks the streams and the consumer. [`UsageBus::receive`] does so by itself.
    ///
    /// # Errors
    /// Somebody has made them otherwise, or the servers do not answer.
    pub async fn prepare(&mut self) -> Result<(), StreamError> {
        if self.puller.is_some() {
            return Ok(());
        }
        let streams = &self.options.streams;
        for wanted in [streams.usage(), streams.dead()] {
            Box::pin(ensure(&self.context, &wanted, streams)).await?;
        }
        let puller = Box::pin(Puller::start(&self.nats, &self.context, &self.options)).await?;
        // What comes from here on need not be doubted.
        let away = |away: BusAway| StreamError::Away { stream: USAGE_STREAM.to_owned(), error: away.0 };
        self.look(&puller).await.map_err(away)?;
        self.puller = Some(puller);
        Ok(())
    }

    async fn prepared(&mut self) -> Result<(), BusAway> {
        Box::pin(self.prepare()).await.map_err(|error| BusAway(error.to_string()))
    }

    async fn pull(&mut self, most: usize, end: Instant) -> Result<Pulled, BusAway> {
        self.connected()?;
        self.prepared().await?;
        // Looked at now, so that it is not the first events after a quiet time that are doubted.
        self.epoch().await?;
        self.prepared().await?;
        let Some(puller) = &mut self.puller else { return Err(lost()) };
        let pulled = puller.pull(most, end).await;
        let nothing = pulled.messages.is_empty();
        if pulled.lost && nothing {
            self.puller = None;
        }
        match pulled.problem {
            Some(problem) if nothing => Err(BusAway(problem)),
            _ => Ok(pulled),
        }
    }

    /// Takes what can be taken of messages, and keeps back what must wait.
    async fn take(&mut self, pulled: Pulled) -> Result<Vec<Delivery>, BusAway> {
        if pulled.messages.is_empty() && self.kept.len() == 0 {
            return Ok(Vec::new());
        }
        let asked_in = self.epochs;
        let epoch = self.epoch().await?;
        if self.epochs != asked_in {
            // Nobody knows which servers they are of. They come again.
            return Ok(Vec::new());
        }
        self.extend_kept().await;
        let mut older = self.kept.sequences();
        older.extend(pulled.messages.iter().take(pulled.late).map(|(_, place)| place.sequence));
        let (waiting, misnamed) = self.hold(&epoch, pulled);
        self.kept.keep(waiting);
        self.put_right(misnamed).await;
        let oldest = if self.kept.has_resent() { self.oldest_waiting().await } else { None };
        let released = self.kept.release(&epoch, self.options.clock.now(), oldest);
        metrics::held_back(self.kept.len());
        Ok(self.surely_ours(released, older).await)
    }

    fn hold(&mut self, epoch: &Epoch, pulled: Pulled) -> (Vec<Waiting>, Vec<Misnamed>) {
        let mut waiting = Vec::with_capacity(pulled.messages.len());
        let mut misnamed = Vec::new();
        for (message, place) in pulled.messages {
            let header = |name| message.headers.as_ref().and_then(|headers| headers.get(name));
            let resent = header(AGAIN).is_some();
            let stamp = Stamp::of(&message.payload);
            self.held.insert(place.sequence, place.reply, self.epochs);
            if let Some(Stamp { event_id, .. }) = &stamp
                && !resent
                && header(MESSAGE_ID).is_none_or(|id| id.as_str() != event_id)
            {
                misnamed.push(Misnamed { sequence: place.sequence, payload: message.payload });
                continue;
            }
            let ended = stamp.and_then(|stamp| stamp.ended);
            let resent = resent || !self.kept.is_known(ended, place.taken_at);
            let delivery = Delivery {
                sequence: place.sequence,
                payload: message.payload.into(),
                again: resent || place.delivered > 1 || epoch.doubts(place.sequence),
                taken_at: place.taken_at,
            };
            waiting.push(Waiting { delivery, resent });
        }
        waiting.sort_by_key(|waiting| waiting.delivery.sequence);
        (waiting, misnamed)
    }

    /// Puts events on the bus once more, by their ids. Where that fails they come again by themselves.
    async fn put_right(&mut self, misnamed: Vec<Misnamed>) {
        let named = misnamed::put_right(&self.context, misnamed).await;
        if let Err(away) = self.acknowledge(&named).await {
            tracing::debug!(error = %away, "what was put on the bus by its id comes again without it");
        }
    }

    async fn oldest_waiting(&mut self) -> Option<SystemTime> {
        let info = self.puller.as_ref()?.info().await.ok()?;
        self.oldest.taken_at(&self.context, &info).await
    }

    /// From time to time.
    async fn tidy(&mut self) {
        let (Some(puller), Some(epoch)) = (&self.puller, &self.epoch) else { return };
        if self.oldest.is_due()
            && let Ok(info) = puller.info().await
        {
            tidy(&self.context, &info, epoch.through()).await;
        }
    }

    /// Whoever receives counts from when it asked, so those that came before are extended now, or left to come again.
    async fn surely_ours(&mut self, mut released: Vec<Delivery>, mut older: Vec<u64>) -> Vec<Delivery> {
        older.sort_unstable();
        let is_older = |delivery: &Delivery| older.binary_search(&delivery.sequence).is_ok();
        let sequences: Vec<_> = released.iter().filter(|one| is_older(one)).map(|one| one.sequence).collect();
        if !sequences.is_empty() && self.extend_held(&sequences).await.is_err() {
            released.retain(|delivery| !is_older(delivery));
        }
        released
    }

    async fn extend_kept(&mut self) {
        let due = self.kept.due();
        if due.is_empty() {
            return;
        }
        match self.extend_held(&due).await {
            Ok(()) => self.kept.extended(),
            Err(_) => self.kept.clear(),
        }
    }

    async fn extend_held(&mut self, sequences: &[u64]) -> Result<(), BusAway> {
        let mut replies = self.held.replies(sequences);
        let Some(last) = replies.pop() else { return Ok(()) };
        self.tell(&replies, &IN_PROGRESS).await?;
        // They are taken in order: an answer to the last one is one to all.
        let request = Request::new().payload(IN_PROGRESS).timeout(Some(PATIENCE));
        let confirmed = self.nats.client().send_request(last, request).await;
        confirmed.map_err(|error| BusAway(error.to_string()))?;
        self.held.touch(sequences);
        Ok(())
    }

    fn connected(&self) -> Result<(), BusAway> {
        let connected = self.nats.is_connected();
        connected.then_some(()).ok_or_else(|| BusAway("NATS is not connected".to_owned()))
    }

    /// Tells the servers something of messages, and that it has gone out.
    async fn tell(&self, replies: &[Subject], what: &Bytes) -> Result<(), BusAway> {
        self.connected()?;
        let client = self.nats.client();
        let sending = async {
            for reply in replies {
                let sent = client.publish(reply.clone(), what.clone()).await;
                sent.map_err(|error| BusAway(error.to_string()))?;
            }
            client.flush().await.map_err(|error| BusAway(error.to_string()))
        };
        timeout(PATIENCE, sending).await.map_err(|_| BusAway("NATS does not take messages".to_owned()))?
    }
}

fn lost() -> BusAway {
    BusAway("the consumer was lost".to_owned())
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
        self.tidy().await;
        if received.is_err() {
            sleep(PAUSE.min(patience)).await;
        }
        received
    }

    async fn acknowledge(&mut self, sequences: &[u64]) -> Result<(), BusAway> {
        self.connected()?;
        self.epoch().await?;
        // What was received before may have been lost with a server, and its number given to another message.
        let of_now = self.held.of(sequences, self.epochs);
        self.tell(&self.held.replies(&of_now), &ACK).await?;
        self.held.remove(sequences);
        Ok(())
    }

    async fn extend(&mut self, sequences: &[u64]) -> Result<(), BusAway> {
        self.connected()?;
        self.epoch().await?;
        if self.held.of(sequences, self.epochs).len() < sequences.len() {
            return Err(BusAway("some of the messages may have been given to another ingester".to_owned()));
        }
        self.extend_held(sequences).await
    }

    async fn leave(&mut self, sequences: &[u64]) {
        self.oldest.leave(sequences);
    }

    async fn backlog(&mut self) -> Option<u64> {
        let info = self.puller.as_ref()?.info().await.ok()?;
        Some(info.num_pending + u64::try_from(info.num_ack_pending).unwrap_or_default())
    }
}
