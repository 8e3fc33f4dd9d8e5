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
mod reader;
mod recover;
mod segments;
mod slots;
mod writer;

pub use dead::SpoolDeadLetters;
pub use end::SpoolOutbox;
pub use peek::peek;

use end::End;
use prost::Message;
use signalbox_api::v1::UsageEvent;
use signalbox_ports::{Entry, LogFull, OpenAccount, Outbox, Position, UsageLog};
use slots::{LONGEST_DRAFT, Slots};
use std::{
    collections::{BTreeSet, VecDeque},
    fs::File,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use writer::{Writer, Written};

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
    refused: Mutex<VecDeque<(Vec<u8>, bool)>>,
    /// Positions of entries that were here before, as others.
    resent: Mutex<BTreeSet<u64>>,
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

    /// Places at which the files were found damaged, each of one entry or more.
    pub fn damages(&self) -> u64 {
        self.ends().map(End::damages).max().unwrap_or_default()
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

    fn full(&self) -> Result<(), LogFull> {
        let reserved = self.slots.open_accounts() as u64 * ROOM;
        let used_bytes = self.waiting_bytes();
        let refusing = !lock(&self.refused).is_empty();
        if refusing || used_bytes + reserved >= self.options.max_bytes {
            return Err(LogFull { used_bytes, max_bytes: self.options.max_bytes });
        }
        Ok(())
    }

    /// Writes an entry, after those that the disk refused before. One that it refuses is kept in memory. `again`: it was
    /// here before. Whether the disk has it.
    fn write(&self, payload: Vec<u8>, again: bool) -> bool {
        let mut refused = lock(&self.refused);
        refused.push_back((payload, again));
        let mut writer = lock(&self.writer);
        while let Some((payload, again)) = refused.front() {
            let position = writer.written().next;
            match writer.append(payload) {
                Ok(bytes) => {
                    if *again {
                        lock(&self.resent).insert(position);
                    }
                    self.ends().for_each(|end| end.grew(bytes));
                }
                Err(error) => {
                    tracing::error!(%error, "the usage spool cannot be written; new requests are refused until it can");
                    break;
                }
            }
            refused.pop_front();
        }
        drop(writer);
        metrics::refused(refused.len());
        let written = refused.is_empty();
        drop(refused);
        metrics::waiting(self.waiting_bytes());
        self.ends().for_each(End::wake);
        written
    }

    fn written(&self) -> Written {
        lock(&self.writer).written()
    }

    fn draft(&self, account: &OpenAccount, draft: &UsageEvent) {
        let bytes = fitting(draft);
        if let Err(error) = self.slots.write(account, &bytes) {
            tracing::error!(%error, "the draft of an account cannot be written");
        }
    }
}

/// A draft in its place's length: without the record of the decision where it does not fit, in the worst case with its
/// names only.
fn fitting(draft: &UsageEvent) -> Vec<u8> {
    let bytes = draft.encode_to_vec();
    if bytes.len() <= LONGEST_DRAFT {
        return bytes;
    }
    let shorter = UsageEvent { decision: None, route_reason: String::new(), ..draft.clone() };
    let bytes = shorter.encode_to_vec();
    if bytes.len() <= LONGEST_DRAFT {
        return bytes;
    }
    UsageEvent { reference: String::new(), attempts: Vec::new(), ..shorter }.encode_to_vec()
}

impl UsageLog for Spool {
    fn open(&self, draft: &UsageEvent) -> Result<OpenAccount, LogFull> {
        self.full()?;
        let account = self.slots.take();
        self.draft(&account, draft);
        Ok(account)
    }

    fn revise(&self, account: &OpenAccount, draft: &UsageEvent) {
        self.draft(account, draft);
    }

    fn close(&self, account: OpenAccount, event: &UsageEvent) {
        self.write(event.encode_to_vec(), false);
        if let Err(error) = self.slots.give_back(&account) {
            tracing::error!(%error, "the draft of an account that was closed cannot be removed");
        }
    }

    fn append(&self, event: &UsageEvent) -> Result<(), LogFull> {
        self.full()?;
        self.write(event.encode_to_vec(), false);
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
