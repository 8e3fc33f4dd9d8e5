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
        let opened = OpenOptions::new().create_new(true).read(true).write(true).open(&self.path);
        opened.map_err(|error| named(&self.path, &error))
    }

    pub(crate) fn open(&self) -> io::Result<File> {
        let opened = OpenOptions::new().read(true).write(true).open(&self.path);
        opened.map_err(|error| named(&self.path, &error))
    }
}

/// An error that says which file it is about.
pub(crate) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// What was passed over since it was no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Damage {
    /// Places in the file.
    pub(crate) places: u64,
    pub(crate) bytes: u64,
    /// Entries that stood there, as far as can be told: at least one in each place.
    pub(crate) entries: u64,
    /// Places where that cannot be told: entries after them may be taken for those before.
    pub(crate) unsure: u64,
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
    /// Entries that were passed, the damaged ones too.
    pub(crate) passed: u64,
    pub(crate) damage: Damage,
}

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;

impl Scan {
    pub(crate) fn new(file: File, from: u64, end: u64) -> Self {
        let (buffer, damage) = (Vec::new(), Damage::default());
        Self { file, read_to: from, end, buffer, taken: 0, passed: 0, damage }
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
                    self.passed += 1;
                    return Ok(Some(payload));
                }
                Read::Cut => self.fill()?,
                Read::Damaged => self.pass_damage()?,
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
        let bytes = next.unwrap_or(rest.len());
        let told = entries_in(rest.get(..bytes).unwrap_or_default());
        let entries = told.unwrap_or(1);
        self.damage.unsure += u64::from(told.is_none());
        self.damage.places += 1;
        self.damage.bytes += bytes as u64;
        self.damage.entries += entries;
        self.passed += entries;
        self.taken += bytes;
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

/// How many entries damaged bytes were, where their lengths lead to the end. Positions count on it, so that what follows
/// damage keeps its own.
fn entries_in(mut bytes: &[u8]) -> Option<u64> {
    let mut entries = 0;
    while let Some((length, _)) = bytes.split_first_chunk::<4>() {
        bytes = bytes.get(HEADER + u32::from_le_bytes(*length) as usize..)?;
        entries += 1;
    }
    bytes.is_empty().then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_entries_are_counted_by_their_lengths_where_these_lead_somewhere() {
        let mut bytes = Vec::new();
        (1..=3).for_each(|length| frame::write(&mut bytes, &vec![7; length]));
        assert_eq!(entries_in(&bytes), Some(3));
        bytes[HEADER + 1] = 99;
        assert_eq!((entries_in(&bytes), entries_in(&bytes[..10]), entries_in(&[0; 5])), (None, None, None));
    }
}
