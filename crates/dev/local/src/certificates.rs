//! Certificates of the roles: one authority issues those of all processes at a time.
//!
//! ```text
//! certificates/current -> 3        changed in one step, so that nobody reads a key beside another's certificate
//! certificates/3/router-1/{tls.crt, tls.key, ca.crt}
//! ```

use crate::{Folder, Part, folder};
use signalbox_certificates::{Authority, Pair};
use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::PathBuf};

/// The files of a process.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    /// Of those whom it trusts.
    pub(crate) authorities: PathBuf,
}

impl Files {
    /// Those in use.
    pub(crate) fn of(folder: &Folder, part: Part) -> Self {
        Self::inside(folder.certificates().join("current").join(part.to_string()))
    }

    fn inside(folder: PathBuf) -> Self {
        let [certificate, key, authorities] = ["tls.crt", "tls.key", "ca.crt"].map(|name| folder.join(name));
        Self { certificate, key, authorities }
    }
}

/// What all processes show, and whom they trust.
#[derive(Debug, Clone)]
pub(crate) struct Generation {
    pairs: BTreeMap<Part, Pair>,
    trusted: String,
}

impl Generation {
    /// Of a new authority, the only one that is trusted.
    pub(crate) fn issue() -> Self {
        let authority = Authority::new();
        let pairs = Part::roles().map(|part| (part, authority.issue(&[part.kind.name()]))).collect();
        Self { pairs, trusted: authority.ca_pem() }
    }

    /// Whether there is one in use.
    pub(crate) fn is_in(folder: &Folder) -> bool {
        folder.certificates().join("current").is_dir()
    }

    /// The one in use.
    pub(crate) fn read(folder: &Folder) -> Result<Self, String> {
        let read = |path: PathBuf| fs::read_to_string(&path).map_err(folder::told(&path));
        let mut found = Self { pairs: BTreeMap::new(), trusted: String::new() };
        for part in Part::roles() {
            let files = Files::of(folder, part);
            let pair = Pair { certificate_pem: read(files.certificate)?, key_pem: read(files.key)? };
            found.pairs.insert(part, pair);
            found.trusted = read(files.authorities)?;
        }
        Ok(found)
    }

    /// The same, but those whom `other` trusts are trusted as well.
    pub(crate) fn trusting(&self, other: &Self) -> Self {
        Self { trusted: format!("{}{}", self.trusted, other.trusted), ..self.clone() }
    }

    /// Puts it in the place of the one in use, for all processes in one step.
    pub(crate) fn put(&self, folder: &Folder) -> Result<(), String> {
        let all = folder.certificates();
        let (current, next) = (all.join("current"), all.join("next"));
        let before = fs::read_link(&current).ok();
        let number = before.as_ref().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0u64) + 1;
        let home = all.join(number.to_string());
        for (part, pair) in &self.pairs {
            let inside = home.join(part.to_string());
            fs::create_dir_all(&inside).map_err(folder::told(&inside))?;
            let files = Files::inside(inside);
            folder::write(&files.certificate, &pair.certificate_pem)?;
            folder::write(&files.key, &pair.key_pem)?;
            folder::write(&files.authorities, &self.trusted)?;
        }
        // One may be left by somebody who was interrupted here.
        let _mostly_there_is_none = fs::remove_file(&next);
        symlink(number.to_string(), &next).map_err(folder::told(&next))?;
        fs::rename(&next, &current).map_err(folder::told(&current))?;
        // Whoever began to read there begins again.
        before.map_or(Ok(()), |before| fs::remove_dir_all(all.join(before)).map_err(folder::told(&all)))
    }
}
