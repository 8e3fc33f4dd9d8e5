//! The files of a spool: each holds entries in order and is named by the position of its first.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use crate::frame::{self, HEADER, Read};

/// A file of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Position of its first entry.
    pub(crate) first: u64,
    pub(crate) path: PathBuf,
}

impl Segment {
    pub(crate) fn new(dir: &Path, first: u64) -> Self {
        Self { first, path: dir.join(format!("{first:020}.log")) }
    }

    /// Every segment of a directory, oldest first.
    pub(crate) fn all(dir: &Path) -> io::Result<Vec<Self>> {
        let mut segments = Vec::new();
        for file in fs::read_dir(dir)? {
            let path = file?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some(first) = name.strip_suffix(".log").and_then(|first| first.parse().ok()) {
                segments.push(Self { first, path });
            }
        }
        segments.sort_unstable_by_key(|segment| segment.first);
        Ok(segments)
    }

    pub(crate) fn create(&self) -> io::Result<File> {
        OpenOptions::new().create_new(true).read(true).write(true).open(&self.path)
    }

    pub(crate) fn open(&self) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).open(&self.path)
    }
}

/// Reads one segment from some byte on.
#[derive(Debug)]
pub(crate) struct Scan {
    file: File,
    /// Where `buffer` ends in the file.
    read_to: u64,
    /// Nothing is read beyond.
    end: u64,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that were taken.
    taken: usize,
    /// Places where something was not an entry.
    pub(crate) damages: u64,
}

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;

impl Scan {
    pub(crate) fn new(file: File, from: u64, end: u64) -> Self {
        Self { file, read_to: from, end, buffer: Vec::new(), taken: 0, damages: 0 }
    }

    /// Goes on where it stopped, up to a later end.
    pub(crate) fn extend(&mut self, end: u64) {
        self.end = self.end.max(end);
    }

    /// Goes on to the end of the file, which is written no more; false where it is there already.
    pub(crate) fn extend_to_file(&mut self) -> io::Result<bool> {
        let end = self.file.metadata()?.len();
        let more = end > self.end;
        self.extend(end);
        Ok(more)
    }

    /// Where the next entry begins.
    pub(crate) fn offset(&self) -> u64 {
        self.read_to - (self.buffer.len() - self.taken) as u64
    }

    /// The next entry's payload; `None` at the end, or where the rest of an entry is missing. What is damaged is passed
    /// over.
    pub(crate) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let go_on = match frame::read(self.buffer.get(self.taken..).unwrap_or_default()) {
                Read::Entry(payload) => {
                    let payload = payload.to_vec();
                    self.taken += HEADER + payload.len();
                    return Ok(Some(payload));
                }
                Read::Cut => self.fill()?,
                Read::Damaged => {
                    self.damages += 1;
                    self.pass_damage()?
                }
            };
            if !go_on {
                return Ok(None);
            }
        }
    }

    /// Looks for the next byte at which an entry stands.
    fn pass_damage(&mut self) -> io::Result<bool> {
        while self.fill()? {}
        let rest = self.buffer.get(self.taken..).unwrap_or_default();
        let next = (1..rest.len())
            .find(|at| matches!(frame::read(rest.get(*at..).unwrap_or_default()), Read::Entry(_)));
        self.taken += next.unwrap_or(rest.len());
        Ok(next.is_some())
    }

    /// Reads on; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let left = usize::try_from(self.end.saturating_sub(self.read_to)).unwrap_or(usize::MAX).min(CHUNK);
        if left == 0 {
            return Ok(false);
        }
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let had = self.buffer.len();
        self.buffer.resize(had + left, 0);
        let read = self.file.read_at(self.buffer.get_mut(had..).unwrap_or_default(), self.read_to)?;
        self.buffer.truncate(had + read);
        self.read_to += read as u64;
        Ok(read > 0)
    }
}
