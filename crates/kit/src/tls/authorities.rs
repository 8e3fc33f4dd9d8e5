//! The authorities that are trusted.

use super::{
    files::{FileProblem, PemFile},
    own::certificates,
};
use rustls::RootCertStore;
use std::{path::Path, sync::Arc};

/// Exactly those of a file; the system's own are not trusted with them.
pub(super) fn load(file: PemFile<'_>) -> Result<Arc<RootCertStore>, FileProblem> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| {
            file.told(format_args!("has a certificate that cannot be an authority's: {error}"))
        })?;
    }
    Ok(Arc::new(roots))
}

/// Whether a file has certificates to trust.
///
/// # Errors
/// What is wrong with it.
pub fn check_authorities(path: &Path) -> Result<(), String> {
    load(PemFile { field: "", path }).map(|_| ()).map_err(|problem| problem.message)
}
