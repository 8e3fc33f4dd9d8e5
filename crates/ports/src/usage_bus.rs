//! What brings accounts from the processes that write them to those that store them.

use signalbox_api::v1::{DeadLetter, dead_letter::Reason};
use std::{
    fmt,
    time::{Duration, SystemTime},
};

/// How long a delivery is its receiver's own, from when it was received or last extended; then another one may get it.
pub const HOLD: Duration = Duration::from_secs(30);

/// The reading end of the bus, one for each ingester. Deliveries that are not acknowledged come again.
#[async_trait::async_trait]
pub trait UsageBus: Send + fmt::Debug {
    /// Up to `most` deliveries: as soon as that many are there, else what has come when `patience` is over.
    ///
    /// # Errors
    /// The bus is away.
    async fn receive(&mut self, most: usize, patience: Duration) -> Result<Vec<Delivery>, BusAway>;

    /// These are stored and need not come again.
    ///
    /// # Errors
    /// The bus is away; they come again, marked so.
    async fn acknowledge(&mut self, sequences: &[u64]) -> Result<(), BusAway>;

    /// These are still being worked on: they must not be given to another ingester yet.
    ///
    /// # Errors
    /// The bus is away.
    async fn extend(&mut self, sequences: &[u64]) -> Result<(), BusAway>;

    /// These can neither be stored nor set aside for now. They come again some time later, and hold up no others.
    async fn leave(&mut self, sequences: &[u64]);

    /// Deliveries that wait, those included that were received and not acknowledged, as far as known.
    async fn backlog(&mut self) -> Option<u64>;
}

/// A message of the bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its place in the stream: unique, and greater for later ones.
    pub sequence: u64,
    /// Supposedly an encoded `UsageEvent`.
    pub payload: Vec<u8>,
    /// It may have been stored before: delivered a second time, or published again after a lost confirmation. Only
    /// such a one needs to be looked for in the store.
    pub again: bool,
    /// When the bus took it.
    pub taken_at: SystemTime,
}

/// Where messages go that can never be stored.
#[async_trait::async_trait]
pub trait DeadLetters: Send + Sync + fmt::Debug {
    /// Sets a message aside. Once for each `sequence` of the bus, however often it is called.
    ///
    /// # Errors
    /// The bus is away.
    async fn set_aside(&self, letter: Letter) -> Result<(), BusAway>;

    /// Letters after `after`, oldest first.
    ///
    /// # Errors
    /// The bus is away.
    async fn list(
        &self,
        reason: Option<Reason>,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, Letter)>, BusAway>;

    /// Puts letters on the bus again and removes them from here. How many that were.
    ///
    /// # Errors
    /// The bus is away.
    async fn replay(&self, which: &Chosen) -> Result<u64, BusAway>;

    /// Removes letters for good. How many that were.
    ///
    /// # Errors
    /// The bus is away.
    async fn discard(&self, which: &Chosen) -> Result<u64, BusAway>;
}

/// Which letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// These.
    Sequences(Vec<u64>),
    /// All with this reason.
    Reason(Reason),
}

/// A message that could not be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter {
    /// Its place in the usage stream.
    pub sequence: u64,
    /// Why.
    pub reason: Reason,
    /// What exactly.
    pub detail: String,
    /// Its `event_id`; empty where it could not be read.
    pub event_id: String,
    /// Its tenant; empty where it could not be read.
    pub tenant_id: String,
    /// When it was set aside.
    pub set_aside_at: SystemTime,
    /// The message as it came.
    pub payload: Vec<u8>,
}

impl Letter {
    /// What was kept as protobuf; `kept_at` stands in for a time that was not written.
    pub fn from_proto(letter: DeadLetter, kept_at: SystemTime) -> Self {
        let written = letter.create_time.and_then(|time| time.try_into().ok());
        Self {
            sequence: letter.sequence,
            reason: letter.reason(),
            detail: letter.detail,
            event_id: letter.event_id,
            tenant_id: letter.tenant_id,
            set_aside_at: written.unwrap_or(kept_at),
            payload: letter.payload.into(),
        }
    }
}

impl From<Letter> for DeadLetter {
    fn from(letter: Letter) -> Self {
        Self {
            sequence: letter.sequence,
            reason: letter.reason.into(),
            detail: letter.detail,
            event_id: letter.event_id,
            tenant_id: letter.tenant_id,
            create_time: Some(letter.set_aside_at.into()),
            payload: letter.payload.into(),
        }
    }
}

/// The bus cannot be reached, or refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the bus is away: {0}")]
pub struct BusAway(pub String);
