//! The writing end: the last segment.

use crate::{
    frame,
    segments::{Scan, Segment},
};
use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// Appends entries. Each is written by one call, so that the death of the process leaves it whole or cut, never mixed.
#[derive(Debug)]
pub(crate) struct Writer {
    dir: PathBuf,
    /// A new segment is begun at this length.
    rotate_at: u64,
    segment: Segment,
    file: File,
    length: u64,
    /// Position of the next entry.
    next: u64,
    buffer: Vec<u8>,
}

/// How far the entries reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    /// First position of the last segment.
    pub(crate) segment: u64,
    /// Length of the last segment.
    pub(crate) length: u64,
    /// Position of the next entry.
    pub(crate) next: u64,
}

impl Writer {
    /// Goes on after the last whole entry. `at_least`: the next position is not below this.
    pub(crate) fn open(dir: &Path, at_least: u64, rotate_at: u64) -> io::Result<Self> {
        let Some(segment) = Segment::all(dir)?.pop() else {
            return Self::begin(dir, at_least.max(1), rotate_at);
        };
        let file = segment.open()?;
        let mut scan = Scan::new(file.try_clone()?, 0, file.metadata()?.len());
        while scan.next()?.is_some() {}
        let next = segment.first + scan.passed;
        if next < at_least {
            return Self::begin(dir, at_least, rotate_at);
        }
        let length = scan.offset();
        if file.metadata()?.len() > length {
            // A cut entry at the end was never told to be written.
            file.set_len(length)?;
        }
        Ok(Self { dir: dir.to_owned(), rotate_at, segment, file, length, next, buffer: Vec::new() })
    }

    fn begin(dir: &Path, first: u64, rotate_at: u64) -> io::Result<Self> {
        let segment = Segment::new(dir, first);
        let file = segment.create()?;
        Ok(Self { dir: dir.to_owned(), rotate_at, segment, file, length: 0, next: first, buffer: Vec::new() })
    }

    pub(crate) fn written(&self) -> Written {
        Written { segment: self.segment.first, length: self.length, next: self.next }
    }

    /// Writes one entry; returns its length on the disk. On an error nothing has been written.
    pub(crate) fn append(&mut self, payload: &[u8]) -> io::Result<u64> {
        if payload.is_empty() || payload.len() > frame::LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an entry must have 1 byte to 16 MiB"));
        }
        if self.length >= self.rotate_at {
            self.rotate()?;
        }
        self.buffer.clear();
        frame::write(&mut self.buffer, payload);
        if let Err(error) = self.file.write_all_at(&self.buffer, self.length) {
            // What was written of it would stand before the next one.
            let _stays_cut = self.file.set_len(self.length);
            return Err(error);
        }
        let written = self.buffer.len() as u64;
        self.length += written;
        self.next += 1;
        Ok(written)
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        let next = Self::begin(&self.dir, self.next, self.rotate_at)?;
        *self = Self { buffer: std::mem::take(&mut self.buffer), ..next };
        Ok(())
    }

    /// A second handle of the last segment, to bring it to the disk without holding up writers.
    pub(crate) fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}
