//! A PEM file that a field of the configuration names.

use crate::config::read_file;
use std::{fmt, path::Path};

/// A file, with the field that names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PemFile<'c> {
    pub(super) field: &'static str,
    pub(super) path: &'c Path,
}

/// What is wrong with a file. Never with any of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The field that names it, as in `mtls.ca_file`.
    pub field: &'static str,
    /// The file, and what is wrong with it.
    pub message: String,
    /// Whether it cannot even be read here.
    pub unread: bool,
}

impl PemFile<'_> {
    pub(super) fn read(&self) -> Result<Vec<u8>, FileProblem> {
        read_file(self.path).map_err(|problem| FileProblem { unread: true, ..self.told(problem) })
    }

    pub(super) fn told(&self, problem: impl fmt::Display) -> FileProblem {
        let message = format!("{}: {problem}", self.path.display());
        FileProblem { field: self.field, message, unread: false }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}
