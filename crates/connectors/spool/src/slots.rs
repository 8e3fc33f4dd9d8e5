//! The drafts of accounts that are open: one place in a file for each, written over again and again.

use crate::{
    frame::{self, HEADER, Read},
    segments::named,
};
use signalbox_ports::OpenAccount;
use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Bytes of one place. A draft that does not fit is shortened by its writer.
pub(crate) const SLOT: usize = 4096;
/// The longest draft.
pub(crate) const LONGEST_DRAFT: usize = SLOT - HEADER;

/// The places. Each is written without a lock: it has one owner.
#[derive(Debug)]
pub(crate) struct Slots {
    file: File,
    free: Mutex<Free>,
}

/// A draft that was found, in its place.
pub(crate) type Found = (u32, Vec<u8>);

#[derive(Debug, Default)]
struct Free {
    returned: Vec<u32>,
    /// Places ever given out.
    used: u32,
}

impl Slots {
    /// Opens the file and takes out what a process left there when it died: the drafts with their places, and when the
    /// last was written.
    pub(crate) fn open(path: &Path) -> io::Result<(Self, Vec<Found>, SystemTime)> {
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
        let file = file.map_err(|error| named(path, &error))?;
        let written_at = file.metadata()?.modified()?;
        let drafts = drafts(&file)?;
        Ok((Self { file, free: Mutex::default() }, drafts, written_at))
    }

    /// Gives out no place up to the last of these, which are still needed.
    pub(crate) fn keep(&self, taken: &[u32]) {
        let mut free = self.free();
        free.used = taken.iter().max().map_or(0, |last| last + 1);
        free.returned = (0..free.used).filter(|slot| !taken.contains(slot)).collect();
    }

    /// Forgets the drafts that were found: they are safe elsewhere.
    pub(crate) fn clear(&self) -> io::Result<()> {
        *self.free() = Free::default();
        if self.file.metadata()?.len() > 0 { self.file.set_len(0) } else { Ok(()) }
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accounts that are open.
    pub(crate) fn open_accounts(&self) -> usize {
        let free = self.free();
        free.used as usize - free.returned.len()
    }

    /// Takes a place. A new one is written whole, so that the disk has room for all that it will hold.
    pub(crate) fn take(&self) -> io::Result<OpenAccount> {
        let mut free = self.free();
        if let Some(slot) = free.returned.pop() {
            return Ok(OpenAccount(slot));
        }
        let slot = free.used;
        self.file.write_all_at(&[0; SLOT], offset(slot))?;
        free.used += 1;
        Ok(OpenAccount(slot))
    }

    /// Writes a draft.
    pub(crate) fn write(&self, account: &OpenAccount, draft: &[u8]) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(HEADER + draft.len());
        frame::write(&mut buffer, draft);
        self.file.write_all_at(&buffer, offset(account.0))
    }

    /// Empties a place and gives it back.
    pub(crate) fn give_back(&self, account: &OpenAccount) -> io::Result<()> {
        let emptied = self.file.write_all_at(&[0; HEADER], offset(account.0));
        self.free().returned.push(account.0);
        emptied
    }
}

fn offset(slot: u32) -> u64 {
    u64::from(slot) * SLOT as u64
}

fn drafts(file: &File) -> io::Result<Vec<Found>> {
    let length = file.metadata()?.len();
    let mut drafts = Vec::new();
    let mut buffer = [0; SLOT];
    for slot in (0..u32::MAX).take_while(|slot| offset(*slot) < length) {
        let read = file.read_at(&mut buffer, offset(slot))?;
        if let Read::Entry(draft) = frame::read(buffer.get(..read).unwrap_or_default()) {
            drafts.push((slot, draft.to_vec()));
        }
    }
    Ok(drafts)
}
