//! What a publisher tells of its progress, in a file that outlives it.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt as _,
    path::Path,
    time::Duration,
};

/// How far a publisher is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Told {
    /// Entries that its spool has taken.
    pub(crate) published: u64,
    /// Of these, safe elsewhere.
    pub(crate) confirmed: u64,
    /// The longest that a request waited for its account.
    pub(crate) longest: Duration,
}

impl Told {
    /// What was told last; nothing where nobody has told anything, or is just doing so.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let mut numbers = text.split_whitespace().map(str::parse);
        let mut next = || numbers.next()?.ok();
        let told = Self { published: next()?, confirmed: next()?, longest: Duration::from_micros(next()?) };
        (next()? == told.sum()).then_some(told)
    }

    /// Tells it, in place of what was told before.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, file: &File) -> io::Result<()> {
        let Self { published, confirmed, longest } = *self;
        let text =
            format!("{published:020} {confirmed:020} {:020} {:020}\n", longest.as_micros(), self.sum());
        file.write_all_at(text.as_bytes(), 0)
    }

    fn sum(&self) -> u64 {
        let micros = u64::try_from(self.longest.as_micros()).unwrap_or(u64::MAX);
        self.published.wrapping_add(self.confirmed).wrapping_add(micros)
    }
}
