//! A PEM file that a field of the configuration names.

use crate::config::read_file;
use std::path::Path;

/// A file, with the field that names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PemFile<'c> {
    pub(super) field: &'static str,
    pub(super) path: &'c Path,
}

impl PemFile<'_> {
    pub(super) fn read(&self) -> Result<Vec<u8>, String> {
        read_file(self.path).map_err(|problem| self.told(problem))
    }

    /// What is wrong with it. Never with any of its content.
    pub(super) fn told(&self, problem: impl std::fmt::Display) -> String {
        format!("{}: {}: {problem}", self.field, self.path.display())
    }
}
