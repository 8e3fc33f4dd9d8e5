//! The runs of this process whose leases were not ended: their replica ids, one a line, in a small file.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The ids that are not ended, this run's own last.
#[derive(Debug)]
pub struct Runs {
    path: PathBuf,
    earlier: Vec<String>,
    own: String,
}

impl Runs {
    /// Begins a run, before it holds anything: its id is on the disk when this returns.
    ///
    /// # Errors
    /// The directory cannot be read or written.
    pub fn begin(dir: &Path, own: impl Into<String>) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let path = dir.join("replicas");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let own = own.into();
        let ids = text.lines().map(str::trim).filter(|id| !id.is_empty() && *id != own);
        let runs = Self { path, earlier: ids.map(str::to_owned).collect(), own };
        runs.write([&*runs.own])?;
        Ok(runs)
    }

    /// Those before this one, oldest first.
    pub fn earlier(&self) -> &[String] {
        &self.earlier
    }

    /// This one's id.
    pub fn own(&self) -> &str {
        &self.own
    }

    /// An earlier one has ended.
    pub(crate) fn ended(&mut self, id: &str) -> io::Result<()> {
        self.earlier.retain(|earlier| earlier != id);
        self.write([&*self.own])
    }

    /// This one has ended: nothing may be held under its id any more.
    pub(crate) fn end(&self) -> io::Result<()> {
        self.write([])
    }

    /// Whole or not at all, also when the process dies.
    fn write<const N: usize>(&self, own: [&str; N]) -> io::Result<()> {
        let ids = self.earlier.iter().map(String::as_str).chain(own);
        let text: String = ids.flat_map(|id| [id, "\n"]).collect();
        let draft = self.path.with_extension("draft");
        let mut file = File::create(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        fs::rename(draft, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_remembered_until_it_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let begin = |id: &str| Runs::begin(&dir.path().join("spool"), id).unwrap();
        assert!(begin("a").earlier().is_empty());
        assert_eq!(begin("b").earlier(), ["a"]);
        let mut third = begin("c");
        assert_eq!((third.earlier(), third.own()), (&["a".to_owned(), "b".to_owned()][..], "c"));
        third.ended("a").unwrap();
        assert_eq!(begin("d").earlier(), ["b", "c"]);
        third.ended("b").unwrap();
        third.end().unwrap();
        assert!(begin("e").earlier().is_empty());
    }
}
