//! Up to where entries are safe elsewhere.

use crate::segments::named;
use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
};

/// The file that says it. Lost or damaged, everything that is still there is read again, which is marked and harmless.
#[derive(Debug)]
pub(crate) struct Confirmed(File);

impl Confirmed {
    /// Opens the file; the position is 0 where none is known.
    pub(crate) fn open(path: &Path) -> io::Result<(Self, u64)> {
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
        let file = file.map_err(|error| named(path, &error))?;
        let mut bytes = [0; 12];
        let read = file.read_at(&mut bytes, 0)?;
        let (position, checksum) = bytes.split_at(8);
        let position = u64::from_le_bytes(position.try_into().unwrap_or_default());
        let good = read == bytes.len() && checksum == crc32fast::hash(&position.to_le_bytes()).to_le_bytes();
        let confirmed = Self(file);
        if !good {
            // Its room on the disk is taken now, so that entries can be confirmed, and go, when the disk is full.
            confirmed.write(0)?;
        }
        Ok((confirmed, if good { position } else { 0 }))
    }

    pub(crate) fn write(&self, position: u64) -> io::Result<()> {
        let mut bytes = [0; 12];
        let (number, checksum) = bytes.split_at_mut(8);
        number.copy_from_slice(&position.to_le_bytes());
        checksum.copy_from_slice(&crc32fast::hash(&position.to_le_bytes()).to_le_bytes());
        self.0.write_all_at(&bytes, 0)
    }
}
