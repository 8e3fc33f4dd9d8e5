//! Where the account of every request is written first.

use signalbox_api::v1::UsageEvent;
use signalbox_types::{ErrorReason, Failure};
use std::{fmt, io, time::Duration};

/// The local log of accounts: what is in it survives the death of the process.
///
/// Every call writes to the operating system's cache and returns; none waits for a disk, a network or another
/// process, so that the bus being away costs a request nothing.
pub trait UsageLog: Send + Sync + fmt::Debug {
    /// Opens the account of a request that is about to be worked on. `draft` is what is told of it should the process
    /// die before it is closed.
    ///
    /// # Errors
    /// The log is full, or cannot be written: the request must be refused, for it could not be accounted for.
    fn open(&self, draft: &UsageEvent) -> Result<OpenAccount, LogFull>;

    /// Replaces the draft, as when a vendor call begins that will cost something.
    fn revise(&self, account: &OpenAccount, draft: &UsageEvent);

    /// The request has ended, one way or another. There is always room for an account that was opened.
    fn close(&self, account: OpenAccount, event: &UsageEvent);

    /// A whole account at once, of something that cost and was no request.
    ///
    /// # Errors
    /// The log is full.
    fn append(&self, event: &UsageEvent) -> Result<(), LogFull>;
}

/// An account that must be closed. Its number is the log's own.
#[derive(Debug)]
#[must_use = "an account that is not closed is told as one whose process died"]
pub struct OpenAccount(pub u32);

/// The log takes no more for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LogFull {
    /// Too much waits to be taken from it.
    #[error("the local usage log is full ({used_bytes} of {max_bytes} bytes wait to be taken)")]
    Waiting {
        /// Bytes that wait to be taken.
        used_bytes: u64,
        /// Bytes that may wait.
        max_bytes: u64,
    },
    /// The disk does not take what is written.
    #[error("the local usage log cannot be written ({why}); {accounts} accounts wait in memory for the disk")]
    Refused {
        /// What the disk says.
        why: io::ErrorKind,
        /// Accounts that it refused and that are tried again.
        accounts: usize,
    },
}

impl From<LogFull> for Failure {
    /// What a caller is told, whom the inside of a deployment does not concern.
    fn from(_: LogFull) -> Self {
        let message = "no requests are taken for now, since none could be accounted for; try again later";
        Self::new(ErrorReason::Unavailable, message)
    }
}

/// Keeps nothing, for a simulation whose money is nobody's.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl UsageLog for NoLog {
    fn open(&self, _: &UsageEvent) -> Result<OpenAccount, LogFull> {
        Ok(OpenAccount(0))
    }

    fn revise(&self, _: &OpenAccount, _: &UsageEvent) {}

    fn close(&self, _: OpenAccount, _: &UsageEvent) {}

    fn append(&self, _: &UsageEvent) -> Result<(), LogFull> {
        Ok(())
    }
}

/// A reading end of a local log: entries in the order they were written, each until it is confirmed. A log may have
/// several, which know nothing of each other.
#[async_trait::async_trait]
pub trait Outbox: Send + Sync + fmt::Debug {
    /// Where the newest entry is; 0 before the first.
    fn last(&self) -> Position;

    /// Returns when there is something to read, or after `patience`.
    async fn wait(&self, patience: Duration);

    /// Up to `most` entries after `after` (from the oldest unconfirmed one for `None`).
    ///
    /// # Errors
    /// The disk cannot be read. An entry that is damaged is skipped, counted and logged, never an error.
    fn read(&self, after: Option<Position>, most: usize) -> io::Result<Vec<Entry>>;

    /// Everything up to and including `through` is safe elsewhere and may be forgotten.
    ///
    /// # Errors
    /// The disk cannot be written; the entries will be read again after a restart.
    fn confirm(&self, through: Position) -> io::Result<()>;
}

/// Where an entry is in a local log. Later ones are greater, also after a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

/// One entry of a local log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub position: Position,
    /// An encoded [`UsageEvent`].
    pub payload: Vec<u8>,
    /// It may have been read before, by this process or by the one before it.
    pub again: bool,
}
