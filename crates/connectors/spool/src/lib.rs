//! The durable local log of accounts: where every one is written first, and kept until it is safe elsewhere.
//!
//! ```text
//! DIR/lock                      held while a process uses the directory
//! DIR/open                      drafts of requests under way, one place each
//! DIR/confirmed                 position up to which entries are safe elsewhere
//! DIR/00000000000000000001.log  entries, named by the position of the first
//! DIR/dead                      accounts that cannot be stored, see [`SpoolDeadLetters`]
//! ```
//!
//! A write ends in the operating system's cache, so that the death of the process loses nothing; a loss of power may lose
//! what [`Spool::sync`] has not brought to the disk yet.

mod confirmed;
mod dead;
mod frame;
mod metrics;
mod peek;
mod reader;
mod recover;
mod segments;
mod slots;
mod writer;

pub use dead::SpoolDeadLetters;
pub use peek::peek;

use confirmed::Confirmed;
use prost::Message;
use reader::Reader;
use signalbox_api::v1::UsageEvent;
use signalbox_ports::{Entry, LogFull, OpenAccount, Outbox, Position, UsageLog};
use slots::{LONGEST_DRAFT, Slots};
use std::{
    collections::{BTreeSet, VecDeque},
    fs::File,
    io,
    path::PathBuf,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;
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
}

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
    reader: Mutex<Reader>,
    confirmed: Confirmed,
    /// Entries that the disk refused, to be tried again.
    refused: Mutex<VecDeque<(Vec<u8>, bool)>>,
    /// Positions of entries that were here before, as others.
    resent: Mutex<BTreeSet<u64>>,
    waiting_bytes: AtomicU64,
    written: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spool {
    /// Bytes that wait for the bus.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes.load(Ordering::Relaxed)
    }

    /// Position of the last entry; 0 before the first.
    pub fn last(&self) -> Position {
        Position(self.written().next - 1)
    }

    /// Up to where entries are safe elsewhere; 0 before the first.
    pub fn confirmed(&self) -> Position {
        lock(&self.reader).confirmed()
    }

    /// Places at which the files were found damaged, each of one entry or more.
    pub fn damages(&self) -> u64 {
        lock(&self.reader).damages()
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
                    self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed)
                }
                Err(error) => {
                    tracing::error!(%error, "the usage spool cannot be written; new requests are refused until it can");
                    break;
                }
            };
            refused.pop_front();
        }
        drop(writer);
        metrics::refused(refused.len());
        let written = refused.is_empty();
        drop(refused);
        metrics::waiting(self.waiting_bytes());
        self.written.notify_one();
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

#[async_trait::async_trait]
impl Outbox for Spool {
    async fn wait(&self, patience: Duration) {
        let _nothing_came = tokio::time::timeout(patience, self.written.notified()).await;
    }

    fn read(&self, after: Option<Position>, most: usize) -> io::Result<Vec<Entry>> {
        let written = self.written();
        let mut reader = lock(&self.reader);
        let entries = reader.read(after, most, written);
        metrics::damages(reader.damages());
        drop(reader);
        let (mut entries, resent) = (entries?, lock(&self.resent));
        for entry in &mut entries {
            entry.again |= resent.contains(&entry.position.0);
        }
        Ok(entries)
    }

    fn confirm(&self, through: Position) -> io::Result<()> {
        let bytes = lock(&self.reader).confirm(through.0);
        lock(&self.resent).retain(|position| *position > through.0);
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        metrics::waiting(self.waiting_bytes());
        self.confirmed.write(through.0)?;
        recover::remove_confirmed(&self.options.dir, through.0, self.written().segment)
    }
}

#[cfg(test)]
mod tests;
