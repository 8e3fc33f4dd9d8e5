//! The durable local log of accounts: where every one is written first, and kept until it is safe elsewhere.
//!
//! ```text
//! DIR/lock                      held while a process uses the directory
//! DIR/open                      drafts of requests under way, one place each
//! DIR/confirmed                 position up to which the bus has taken entries
//! DIR/confirmed-NAME            the same of another reader
//! DIR/00000000000000000001.log  entries, named by the position of the first
//! DIR/dead                      accounts that cannot be stored, see [`SpoolDeadLetters`]
//! ```
//!
//! A write ends in the operating system's cache, so that the death of the process loses nothing; a loss of power may lose
//! what [`Spool::sync`] has not brought to the disk yet.

mod confirmed;
mod dead;
mod end;
mod frame;
mod metrics;
mod peek;
mod pending;
mod reader;
mod recover;
mod segments;
mod slots;
mod writer;

pub use dead::SpoolDeadLetters;
pub use end::SpoolOutbox;
pub use peek::peek;

use end::End;
use pending::{Pending, Refused};
use signalbox_api::{account::encode_within, v1::UsageEvent};
use signalbox_ports::{Entry, LogFull, OpenAccount, Outbox, Position, UsageLog};
use slots::{LONGEST_DRAFT, Slots};
use std::{
    collections::BTreeSet,
    fs::File,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use writer::{Writer, Written};

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    metrics::register();
}

/// Room kept for each open account, so that it can be closed: far more than an account has.
const ROOM: u64 = 8 << 10;

/// How large a spool may be.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its directory; made where it is missing. No two processes may use one at a time.
    pub dir: PathBuf,
    /// Bytes that may wait. Beyond, no request is accepted any more.
    pub max_bytes: u64,
    /// A new file is begun at this length, so that confirmed ones can be removed.
    pub segment_bytes: u64,
    /// Who reads beside the bus, as [`LEDGER`]: an entry is kept until each of them has confirmed it, too.
    pub readers: &'static [&'static str],
}

/// The reader that settles what budgets are charged.
pub const LEDGER: &str = "ledger";

/// A directory that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process uses it.
    #[error("{dir} is in use by another process; give each its own usage.spool.dir")]
    InUse {
        /// The directory.
        dir: String,
    },
    /// It cannot be read or written.
    #[error("{dir}: {error}")]
    Io {
        /// The directory.
        dir: String,
        /// Why.
        error: io::Error,
    },
}

/// A spool that is open.
#[derive(Debug)]
pub struct Spool {
    options: Options,
    /// Held for its lock.
    _lock: File,
    slots: Slots,
    writer: Mutex<Writer>,
    bus: End,
    others: Vec<(&'static str, Arc<End>)>,
    /// Entries that the disk refused, to be tried again.
    refused: Mutex<Refused>,
    /// Positions of entries that were here before, as others.
    resent: Mutex<BTreeSet<u64>>,
    /// Places at which entries were missing when it was opened.
    gaps: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spool {
    /// Bytes that wait for the slowest reader.
    pub fn waiting_bytes(&self) -> u64 {
        self.ends().map(End::waiting_bytes).max().unwrap_or_default()
    }

    /// The end of a reader beside the bus; `None` unless [`Options::readers`] names it.
    pub fn outbox(self: &Arc<Self>, reader: &str) -> Option<SpoolOutbox> {
        let (_, end) = self.others.iter().find(|(name, _)| *name == reader)?;
        Some(SpoolOutbox { spool: self.clone(), end: end.clone() })
    }

    fn ends(&self) -> impl Iterator<Item = &End> {
        std::iter::once(&self.bus).chain(self.others.iter().map(|(_, end)| &**end))
    }

    /// Position of the last entry; 0 before the first.
    pub fn last(&self) -> Position {
        Position(self.written().next - 1)
    }

    /// Up to where the bus has taken entries; 0 before the first.
    pub fn confirmed(&self) -> Position {
        self.bus.confirmed()
    }

    /// Places at which the files were found damaged or cut, each of one entry or more.
    pub fn damages(&self) -> u64 {
        self.gaps + self.ends().map(End::damages).max().unwrap_or_default()
    }

    /// Brings what was written to the disk, so that a loss of power does not lose it. Blocks.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn sync(&self) -> io::Result<()> {
        // Its own statement: the lock is not held while the disk works.
        let handle = lock(&self.writer).handle()?;
        handle.sync_data()
    }

    /// Whether requests are taken.
    ///
    /// # Errors
    /// Too much waits, or the disk refuses.
    pub fn check(&self) -> Result<(), LogFull> {
        lock(&self.refused).check()?;
        let reserved = self.slots.open_accounts() as u64 * ROOM;
        let used_bytes = self.waiting_bytes();
        if used_bytes + reserved >= self.options.max_bytes {
            return Err(LogFull::Waiting { used_bytes, max_bytes: self.options.max_bytes });
        }
        Ok(())
    }

    fn written(&self) -> Written {
        lock(&self.writer).written()
    }

    fn draft(&self, account: &OpenAccount, draft: &UsageEvent) -> io::Result<()> {
        let written = self.slots.write(account, &encode_within(draft, LONGEST_DRAFT));
        written.inspect_err(|error| tracing::error!(%error, "the draft of an account cannot be written"))
    }

    /// Takes a place and writes a draft there.
    fn begin(&self, draft: &UsageEvent) -> io::Result<OpenAccount> {
        let account = self.slots.take()?;
        if let Err(error) = self.draft(&account, draft) {
            let _emptied_or_cut = self.slots.give_back(&account);
            return Err(error);
        }
        Ok(account)
    }
}

/// What is written of an event that has ended.
fn entry(event: &UsageEvent, draft: Option<OpenAccount>) -> Pending {
    Pending { payload: encode_within(event, frame::LONGEST), again: false, draft }
}

impl UsageLog for Spool {
    fn open(&self, draft: &UsageEvent) -> Result<OpenAccount, LogFull> {
        self.check()?;
        self.begin(draft).map_err(|error| LogFull::Refused { why: error.kind(), accounts: 0 })
    }

    fn revise(&self, account: &OpenAccount, draft: &UsageEvent) {
        let _told = self.draft(account, draft);
    }

    fn close(&self, account: OpenAccount, event: &UsageEvent) {
        self.write_with(entry(event, Some(account)), |refused| {
            // Its place is on the disk already: there it is told should the process die before the disk takes it.
            if let Some(Pending { draft: Some(account), .. }) = refused.last() {
                let _told = self.draft(account, event);
            }
        });
    }

    fn append(&self, event: &UsageEvent) -> Result<(), LogFull> {
        self.check()?;
        self.write(entry(event, None));
        Ok(())
    }
}

/// The end of the bus.
#[async_trait::async_trait]
impl Outbox for Spool {
    fn last(&self) -> Position {
        Self::last(self)
    }

    async fn wait(&self, patience: Duration) {
        self.bus.wait(patience).await;
    }

    fn read(&self, after: Option<Position>, most: usize) -> io::Result<Vec<Entry>> {
        let entries = self.read_at(&self.bus, after, most);
        metrics::damages(self.damages());
        entries
    }

    fn confirm(&self, through: Position) -> io::Result<()> {
        self.confirm_at(&self.bus, through)
    }
}

impl Spool {
    fn read_at(&self, end: &End, after: Option<Position>, most: usize) -> io::Result<Vec<Entry>> {
        let mut entries = end.read(after, most, self.written())?;
        let resent = lock(&self.resent);
        for entry in &mut entries {
            entry.again |= resent.contains(&entry.position.0);
        }
        Ok(entries)
    }

    /// What every reader has confirmed goes.
    fn confirm_at(&self, end: &End, through: Position) -> io::Result<()> {
        let written = end.confirm(through);
        metrics::waiting(self.waiting_bytes());
        let by_all = self.ends().map(|end| end.confirmed().0).min().unwrap_or_default();
        lock(&self.resent).retain(|position| *position > by_all);
        written?;
        recover::remove_confirmed(&self.options.dir, by_all, self.written().segment)
    }
}

#[cfg(test)]
mod tests;
