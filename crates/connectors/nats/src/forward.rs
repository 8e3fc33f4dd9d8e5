//! From the local log to the stream.
//!
//! Entries are read and sent in order, and confirmed up to the first that the stream has not acknowledged. When anything
//! fails, all of these are read and sent once more, marked as sent again; the stream knows their ids for a while, and
//! whoever stores them looks for those that are marked.

mod backoff;
mod trouble;
mod window;

use crate::{
    Nats, StreamOptions, metrics,
    stream::ensure,
    subjects::{AGAIN, Route, Stamp},
};
use async_nats::jetstream::{Context, message::PublishMessage};
use backoff::Backoff;
use signalbox_kit::Clock;
use signalbox_ports::{Entry, Outbox};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use trouble::{Lasting, Trouble};
use window::{Acked, Window, fitting};

/// How long nothing at all may be acknowledged before everything is tried once more. A cluster that lost a stream's leader
/// takes some five seconds to choose another.
const SILENCE: Duration = Duration::from_secs(2);
/// The same for what is tried then, and for questions.
const RETRY_SILENCE: Duration = Duration::from_secs(1);
/// How long one acknowledgement may take while others come.
const ACK_PATIENCE: Duration = Duration::from_secs(15);
/// Most entries that are sent and not acknowledged after a failure, until one is.
const FEW: usize = 16;
/// How long what is left may take once the process is told to end.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);
/// How long entries are gathered after some were sent. Servers that get many at once write, copy and deliver them at once,
/// which costs them a fraction. One that comes after a quiet time is sent without delay.
const GATHER: Duration = Duration::from_millis(50);
/// How long to wait for entries before looking whether some came unnoticed.
const IDLE: Duration = Duration::from_secs(1);
/// How often the connection is looked at, and what was acknowledged confirmed at the latest.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Confirming costs a little file work, so it is done for that many at once.
const CONFIRM_EVERY: usize = 256;

/// How entries are sent.
#[derive(Debug, Clone)]
pub struct ForwarderOptions {
    /// Most entries that are sent and not acknowledged.
    pub in_flight: usize,
    /// The streams, made where they are missing.
    pub streams: StreamOptions,
    /// Tells how old entries are.
    pub clock: Arc<dyn Clock>,
    /// Where chance for the pauses comes from.
    pub seed: u64,
}

/// Sends what is in a local log to the stream. One for each log.
pub struct Forwarder {
    nats: Nats,
    outbox: Arc<dyn Outbox>,
    options: ForwarderOptions,
    /// For questions.
    asking: Context,
    /// For entries.
    sending: Context,
    window: Window,
    /// When something was acknowledged last, or nothing was under way.
    progress: Instant,
    backoff: Backoff,
    troubled: Option<Lasting>,
    /// When the oldest request ended whose account is not safe yet.
    oldest: Option<SystemTime>,
}

/// Whether the log has entries that were not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    /// None that is known of.
    No,
    /// Some, and others may join them.
    Gathers,
    /// Some that are sent as soon as they may be.
    Waits,
}

impl fmt::Debug for Forwarder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forwarder").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Forwarder {
    /// Must be called inside the runtime that is to carry it.
    pub fn new(nats: Nats, outbox: Arc<dyn Outbox>, options: ForwarderOptions) -> Self {
        let asking = nats.jetstream(RETRY_SILENCE, FEW);
        let sending = nats.jetstream(ACK_PATIENCE, options.in_flight.saturating_mul(8));
        let backoff = Backoff::new(options.seed);
        let window = Window::default();
        Self {
            nats,
            outbox,
            options,
            asking,
            sending,
            window,
            progress: Instant::now(),
            backoff,
            troubled: None,
            oldest: None,
        }
    }

    /// Runs until `drain` is cancelled, then sends what is left, for a few seconds at most. What it cannot send is still in
    /// the log at the next start.
    pub async fn run(mut self, drain: CancellationToken) {
        let given_up = async {
            drain.cancelled().await;
            sleep(LAST_ATTEMPT).await;
        };
        tokio::select! {
            sent = self.until_drained(&drain) => if sent {
                return;
            },
            () = given_up => {}
        }
        tracing::warn!("accounts are left in the spool; they are sent at the next start");
    }

    /// Whether everything was sent.
    async fn until_drained(&mut self, drain: &CancellationToken) -> bool {
        loop {
            let last = drain.is_cancelled();
            let Err(trouble) = self.forward(drain).await else { return true };
            let trouble = self.confirm().err().unwrap_or(trouble);
            self.window = Window::default();
            metrics::unacked(0);
            self.look_for_oldest();
            self.tell(&trouble);
            if last {
                return false;
            }
            let pause = self.backoff.next();
            drain.run_until_cancelled(sleep(pause)).await;
        }
    }

    /// Sends until something fails, or everything is sent and the process is to end.
    async fn forward(&mut self, drain: &CancellationToken) -> Result<(), Trouble> {
        self.prepare().await?;
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut more, mut gathered) = (More::Waits, Instant::now());
        loop {
            if more == More::Waits || drain.is_cancelled() {
                more = if self.fill().await? { More::No } else { More::Waits };
                gathered = Instant::now() + GATHER;
            }
            if self.window.is_empty() && more == More::No {
                self.oldest = None;
                self.show_age();
                self.fine();
                if drain.is_cancelled() {
                    return Ok(());
                }
            }
            tokio::select! {
                acked = self.window.acked(), if !self.window.is_empty() => self.acked(acked)?,
                () = self.outbox.wait(IDLE), if more == More::No => more = More::Gathers,
                () = sleep_until(gathered), if more == More::Gathers => more = More::Waits,
                () = drain.cancelled(), if !drain.is_cancelled() => {}
                _ = look.tick() => self.look()?,
            }
        }
    }

    async fn prepare(&mut self) -> Result<(), Trouble> {
        if !self.nats.is_connected() {
            return Err(Trouble::Away);
        }
        let streams = &self.options.streams;
        for wanted in [streams.usage(), streams.dead()] {
            Box::pin(ensure(&self.asking, &wanted, streams)).await?;
        }
        Ok(())
    }

    /// Sends what there is and what may be under way. Whether there was no more.
    async fn fill(&mut self) -> Result<bool, Trouble> {
        loop {
            let most = if self.troubled.is_some() { FEW } else { self.options.in_flight };
            let room = most.saturating_sub(self.window.len());
            if room < most.div_ceil(4) {
                return Ok(false);
            }
            let entries = self.outbox.read(self.window.last(), room)?;
            let caught_up = entries.len() < room;
            for entry in entries {
                self.send(entry).await?;
            }
            metrics::unacked(self.window.len());
            if caught_up {
                return Ok(true);
            }
        }
    }

    async fn send(&mut self, entry: Entry) -> Result<(), Trouble> {
        let limit = self.nats.client().server_info().max_payload;
        let payload = fitting(entry.payload, limit);
        let route = Route::of(&payload);
        let id = route
            .event_id
            .unwrap_or_else(|| format!("unreadable-{}-{:08x}", entry.position.0, crc32fast::hash(&payload)));
        let mut message = PublishMessage::build().payload(payload.into()).message_id(id);
        if entry.again {
            message = message.header(AGAIN, "1");
        }
        if self.window.is_empty() {
            self.progress = Instant::now();
        }
        let ack = self.sending.send_publish(route.subject, message).await?;
        self.window.push(entry.position, route.ended, ack);
        Ok(())
    }

    fn acked(&mut self, acked: Acked) -> Result<(), Trouble> {
        metrics::forwarded(acked.new, acked.repeats);
        metrics::unacked(self.window.len());
        if acked.new + acked.repeats > 0 {
            self.progress = Instant::now();
            self.fine();
        }
        if acked.failure.is_some() || self.window.is_empty() || self.window.unconfirmed() >= CONFIRM_EVERY {
            self.confirm()?;
        }
        acked.failure.map_or(Ok(()), |failure| Err(failure.into()))
    }

    fn confirm(&mut self) -> Result<(), Trouble> {
        if let Some(through) = self.window.take_confirmable() {
            self.outbox.confirm(through)?;
        }
        Ok(())
    }

    /// From time to time.
    fn look(&mut self) -> Result<(), Trouble> {
        self.confirm()?;
        self.oldest = self.window.oldest().or(self.oldest);
        self.show_age();
        // What was sent over a connection that is lost is never acknowledged.
        if !self.nats.is_connected() {
            return Err(Trouble::Away);
        }
        let patience = if self.troubled.is_some() { RETRY_SILENCE } else { SILENCE };
        let silent = !self.window.is_empty() && self.progress.elapsed() > patience;
        if silent { Err(Trouble::Silence) } else { Ok(()) }
    }

    /// What waits while nothing can be sent, so that it is seen for how long.
    fn look_for_oldest(&mut self) {
        if self.oldest.is_none()
            && let Ok(entries) = self.outbox.read(None, 1)
        {
            self.oldest = entries.first().and_then(|entry| Stamp::of(&entry.payload)?.ended);
        }
    }

    fn show_age(&self) {
        let age = self.oldest.and_then(|ended| self.options.clock.now().duration_since(ended).ok());
        metrics::behind(age.unwrap_or_default());
    }

    /// Something is acknowledged, or there is nothing to send.
    fn fine(&mut self) {
        self.backoff.reset();
        if self.troubled.take().is_some_and(|lasting| lasting.is_told()) {
            tracing::info!("accounts reach the bus again");
        }
    }

    /// Once for each kind, for it may go on for hours; and not at all when it is soon over, as at the start.
    fn tell(&mut self, trouble: &Trouble) {
        metrics::failed(trouble.reason());
        self.show_age();
        if self.troubled.get_or_insert_with(Lasting::from_now).is_news(trouble) {
            tracing::warn!(%trouble, "accounts do not reach the bus; they wait in the spool");
        } else {
            tracing::debug!(%trouble, "accounts wait in the spool");
        }
    }
}
