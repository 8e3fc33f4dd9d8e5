//! Where everything lies.

use crate::Part;
use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// The one folder of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at a path, which need not be there.
    ///
    /// # Errors
    /// The path cannot be made absolute.
    pub fn at(path: &Path) -> Result<Self, String> {
        let absolute = path.canonicalize().or_else(|_| std::path::absolute(path));
        absolute.map(Self).map_err(told(path))
    }

    /// Itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What a process says.
    pub fn log(&self, part: Part) -> PathBuf {
        self.0.join(format!("logs/{part}.log"))
    }

    /// The number of a process.
    pub fn pid(&self, part: Part) -> PathBuf {
        self.0.join(format!("run/{part}.pid"))
    }

    /// The configuration of a process.
    pub fn config(&self, part: Part) -> PathBuf {
        let ending = if part.kind.is_role() { "yaml" } else { "conf" };
        self.0.join(format!("config/{part}.{ending}"))
    }

    /// What a process keeps.
    pub fn data(&self, part: Part) -> PathBuf {
        self.0.join(format!("data/{part}"))
    }

    /// The certificates of all processes.
    pub fn certificates(&self) -> PathBuf {
        self.0.join("certificates")
    }

    /// What follows from nothing else.
    pub(crate) fn stack(&self) -> PathBuf {
        self.0.join("stack.json")
    }

    /// What a shell needs to speak to it.
    pub fn env(&self) -> PathBuf {
        self.0.join("env")
    }

    /// Makes it.
    pub(crate) fn make(&self) -> Result<(), String> {
        for part in ["", "logs", "run", "config", "data", "certificates"] {
            // Nobody else may read secrets, but PostgreSQL must come through to its own, as somebody who is not root.
            let mode = if matches!(part, "" | "data") { 0o711 } else { 0o700 };
            let path = self.0.join(part);
            let made = DirBuilder::new().recursive(true).mode(mode).create(&path);
            made.and_then(|()| fs::set_permissions(&path, Permissions::from_mode(mode)))
                .map_err(told(&path))?;
        }
        Ok(())
    }

    /// Keeps others from working on it at the same time, until what is returned is dropped.
    pub(crate) fn lock(&self) -> Result<File, String> {
        let path = self.0.join("lock");
        let file = File::options().create(true).append(true).open(&path).map_err(told(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(_) => Err(format!("somebody else is at work on {}", self.0.display())),
        }
    }

    /// Whether it is there and is nothing of ours, so that it must be left alone.
    pub(crate) fn is_foreign(&self) -> bool {
        let Ok(mut entries) = fs::read_dir(&self.0) else { return false };
        !self.stack().is_file() && entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != "lock"))
    }
}

/// Writes a file that only its owner reads, in one step: nobody reads half of it.
pub(crate) fn write(path: &Path, content: &str) -> Result<(), String> {
    let new = path.with_extension("new");
    let written = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&new);
    written
        .and_then(|mut file| file.write_all(content.as_bytes()))
        .and_then(|()| fs::rename(&new, path))
        .map_err(told(path))
}

/// An error of the system, with the path that it is about.
pub(crate) fn told(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}
