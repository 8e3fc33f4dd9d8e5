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
        std::path::absolute(path).map(|path| Self(resolved(&path))).map_err(told(path))
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

    /// Makes it, empty.
    pub(crate) fn make(&self) -> Result<(), String> {
        self.make_inside("")
    }

    /// Makes the folders in it.
    pub(crate) fn furnish(&self) -> Result<(), String> {
        ["logs", "run", "config", "data", "certificates"].iter().try_for_each(|name| self.make_inside(name))
    }

    fn make_inside(&self, name: &str) -> Result<(), String> {
        // Nobody else may read secrets, but PostgreSQL must come through to its own, as somebody who is not root.
        let mode = if matches!(name, "" | "data") { 0o711 } else { 0o700 };
        let path = self.0.join(name);
        let made = DirBuilder::new().recursive(true).mode(mode).create(&path);
        made.and_then(|()| fs::set_permissions(&path, Permissions::from_mode(mode))).map_err(told(&path))
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
        !self.stack().exists() && self.names().iter().any(|name| !BEFORE_THE_MARK.contains(&&**name))
    }

    /// Whether anything of ours is in it, be it only what is made first.
    pub(crate) fn is_ours(&self) -> bool {
        !self.names().is_empty() && !self.is_foreign()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

/// What is in it before `stack.json` is, by which it is known for ours.
const BEFORE_THE_MARK: [&str; 2] = ["lock", "stack.new"];

/// A path without links, as processes tell theirs, also where its end is not there yet.
fn resolved(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(found), ..) => found,
        (Err(_), Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_its_mark_and_by_what_is_made_before_it() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::at(&parent.path().join("local")).unwrap();
        let is = || (folder.is_ours(), folder.is_foreign());
        assert_eq!(is(), (false, false), "it is not there");
        folder.make().unwrap();
        assert_eq!(is(), (false, false), "an empty folder is nobody's");
        let lock = folder.lock().unwrap();
        assert_eq!(is(), (true, false), "an `up` was interrupted at once");
        fs::write(folder.path().join("thesis.txt"), "years of work").unwrap();
        assert_eq!(is(), (false, true));
        fs::write(folder.stack(), "").unwrap();
        assert_eq!(is(), (true, false), "its mark is there, be it empty");
        drop(lock);
    }

    #[test]
    fn a_folder_has_one_name_before_it_is_made_and_after_however_it_is_reached() {
        let parent = tempfile::tempdir().unwrap();
        let (real, link) = (parent.path().join("real"), parent.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let before = Folder::at(&link.join("local")).unwrap();
        before.make().unwrap();
        assert_eq!(before, Folder::at(&link.join("local")).unwrap());
        assert_eq!(before, Folder::at(&real.join("local")).unwrap());
    }
}
