//! Entries on their way to the disk. One that it refuses is kept, and tried again until it is taken.

use crate::{Spool, end::End, lock, metrics};
use signalbox_ports::{LogFull, OpenAccount};
use std::{collections::VecDeque, io};

/// An entry that is to be written.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) payload: Vec<u8>,
    /// It was here before.
    pub(crate) again: bool,
    /// The place of its draft, which is kept until the entry is on the disk: it tells the account should the process die.
    pub(crate) draft: Option<OpenAccount>,
}

/// What the disk refused, in order.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    waiting: VecDeque<Pending>,
    why: Option<io::ErrorKind>,
}

impl Refused {
    pub(crate) fn check(&self) -> Result<(), LogFull> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        Err(LogFull::Refused { why: self.why.unwrap_or(io::ErrorKind::Other), accounts: self.waiting.len() })
    }

    /// The last that was refused.
    pub(crate) fn last(&self) -> Option<&Pending> {
        self.waiting.back()
    }

    /// Once, for it may go on for hours.
    fn tell(&mut self, error: &io::Error) {
        if self.why.replace(error.kind()) != Some(error.kind()) {
            tracing::error!(%error, "the usage spool cannot be written; no request is taken until it can");
        }
    }

    fn fine(&mut self) {
        if self.why.take().is_some() {
            tracing::info!("the usage spool can be written again; what the disk had refused is in it");
        }
    }
}

impl Spool {
    /// Writes an entry. Whether the disk has it.
    pub(crate) fn write(&self, entry: Pending) -> bool {
        self.write_with(entry, |_| {})
    }

    /// The same; `refused` is done before anybody else can try again.
    pub(crate) fn write_with(&self, entry: Pending, refused: impl FnOnce(&Refused)) -> bool {
        let mut waiting = lock(&self.refused);
        waiting.waiting.push_back(entry);
        let written = self.write_out(&mut waiting);
        if !written {
            refused(&waiting);
        }
        drop(waiting);
        self.wrote();
        written
    }

    /// Tries again to write what the disk refused. How many entries are left. Blocks.
    pub fn retry(&self) -> usize {
        let mut refused = lock(&self.refused);
        if refused.waiting.is_empty() {
            return 0;
        }
        self.write_out(&mut refused);
        let left = refused.waiting.len();
        drop(refused);
        self.wrote();
        left
    }

    /// Writes entries in order until the disk refuses one.
    fn write_out(&self, refused: &mut Refused) -> bool {
        let mut writer = lock(&self.writer);
        while let Some(entry) = refused.waiting.front() {
            let position = writer.written().next;
            match writer.append(&entry.payload) {
                Ok(bytes) => {
                    if entry.again {
                        lock(&self.resent).insert(position);
                    }
                    self.ends().for_each(|end| end.grew(bytes));
                }
                Err(error) => {
                    refused.tell(&error);
                    break;
                }
            }
            if let Some(Pending { draft: Some(account), .. }) = refused.waiting.pop_front() {
                self.forget(&account);
            }
        }
        metrics::refused(refused.waiting.len());
        let written = refused.waiting.is_empty();
        if written {
            refused.fine();
        }
        written
    }

    /// The account is an entry now.
    fn forget(&self, account: &OpenAccount) {
        if let Err(error) = self.slots.give_back(account) {
            tracing::error!(%error, "the draft of an account that was closed cannot be removed");
        }
    }

    fn wrote(&self) {
        metrics::waiting(self.waiting_bytes());
        self.ends().for_each(End::wake);
    }
}
