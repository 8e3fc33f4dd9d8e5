//! A reading end: how far one reader has come, and what waits for it.

use crate::{Spool, confirmed::Confirmed, lock, reader::Reader, writer::Written};
use signalbox_ports::{Entry, Outbox, Position};
use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;

/// One reader's end. It knows nothing of the others.
#[derive(Debug)]
pub(crate) struct End {
    reader: Mutex<Reader>,
    confirmed: Confirmed,
    waiting_bytes: AtomicU64,
    written: Notify,
}

impl End {
    /// Opens the end of the reader that has this file.
    pub(crate) fn open(dir: &Path, file: &str) -> io::Result<Self> {
        let (confirmed, safe_until) = Confirmed::open(&dir.join(file))?;
        Ok(Self {
            reader: Mutex::new(Reader::new(dir.to_owned(), safe_until)),
            confirmed,
            waiting_bytes: AtomicU64::new(0),
            written: Notify::new(),
        })
    }

    /// Everything up to here may have been read by the process before.
    pub(crate) fn may_have_seen(&self, through: u64) {
        lock(&self.reader).may_have_seen(through);
    }

    /// More bytes wait.
    pub(crate) fn grew(&self, bytes: u64) {
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Wakes its reader.
    pub(crate) fn wake(&self) {
        self.written.notify_one();
    }

    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn confirmed(&self) -> Position {
        lock(&self.reader).confirmed()
    }

    pub(crate) fn damages(&self) -> u64 {
        lock(&self.reader).damages()
    }

    pub(crate) async fn wait(&self, patience: Duration) {
        let _nothing_came = tokio::time::timeout(patience, self.written.notified()).await;
    }

    pub(crate) fn read(
        &self,
        after: Option<Position>,
        most: usize,
        written: Written,
    ) -> io::Result<Vec<Entry>> {
        lock(&self.reader).read(after, most, written)
    }

    pub(crate) fn confirm(&self, through: Position) -> io::Result<()> {
        let bytes = lock(&self.reader).confirm(through.0);
        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.confirmed.write(through.0)
    }
}

/// The end of a reader beside the bus.
#[derive(Debug, Clone)]
pub struct SpoolOutbox {
    pub(crate) spool: Arc<Spool>,
    pub(crate) end: Arc<End>,
}

#[async_trait::async_trait]
impl Outbox for SpoolOutbox {
    fn last(&self) -> Position {
        self.spool.last()
    }

    async fn wait(&self, patience: Duration) {
        self.end.wait(patience).await;
    }

    fn read(&self, after: Option<Position>, most: usize) -> io::Result<Vec<Entry>> {
        self.spool.read_at(&self.end, after, most)
    }

    fn confirm(&self, through: Position) -> io::Result<()> {
        self.spool.confirm_at(&self.end, through)
    }
}
