//! The certificates of a deployment's processes.

use crate::files::replace;
use serde_json::{Value, json};
use signalbox_certificates::Authority;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Certificates in files that processes read again when they change, all of one authority.
#[derive(Debug)]
pub struct Certificates {
    folder: TempDir,
    authority: Authority,
    /// The roles of each process that has one.
    holders: Vec<String>,
}

impl Certificates {
    /// None yet, but an authority that everybody trusts.
    #[expect(clippy::new_without_default, reason = "makes files")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let new = Self { folder, authority: Authority::new(), holders: Vec::new() };
        new.trust(&[&new.authority]);
        new
    }

    /// Issues one for a process with these roles, named as on the command line, and gives the section of its
    /// configuration.
    pub fn issue(&mut self, roles: &str) -> Value {
        let holder = self.holders.len();
        self.holders.push(roles.to_owned());
        self.write(holder);
        let [certificate, key] = self.files(holder);
        json!({"mtls": {"certificate_file": certificate, "key_file": key, "ca_file": self.ca_file()}})
    }

    /// Who has issued them.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The file of the authorities that everybody trusts.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// Where a stranger can put something.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Lets every process trust these authorities and no others.
    pub fn trust(&self, authorities: &[&Authority]) {
        let all: String = authorities.iter().map(|authority| authority.ca_pem()).collect();
        replace(&self.ca_file(), &all);
    }

    /// Gives every process another certificate, of this authority, which goes on issuing them. What it was before is
    /// given back.
    pub fn reissue(&mut self, authority: Authority) -> Authority {
        let before = std::mem::replace(&mut self.authority, authority);
        (0..self.holders.len()).for_each(|holder| self.write(holder));
        before
    }

    fn write(&self, holder: usize) {
        let roles: Vec<&str> = self.holders[holder].split(',').collect();
        let pair = self.authority.issue(&roles);
        let [certificate, key] = self.files(holder);
        replace(&certificate, &pair.certificate_pem);
        replace(&key, &pair.key_pem);
    }

    fn files(&self, holder: usize) -> [PathBuf; 2] {
        ["crt", "key"].map(|kind| self.folder.path().join(format!("{holder}.{kind}")))
    }
}
