//! Whose certificates a server may show.

use crate::client::{Options, OptionsError};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use rustls_platform_verifier::Verifier;
use std::{fmt::Display, path::Path, sync::Arc};

/// What a connection by TLS goes by. The system's roots take a megabyte: only those who need them load them.
pub(crate) fn config(options: &Options) -> Result<ClientConfig, OptionsError> {
    let encrypted = options.url.starts_with("https:");
    match options.ca_file.as_deref().filter(|_| encrypted) {
        Some(file) => with_roots(roots(file)?),
        None if encrypted => with_the_systems(),
        None => with_roots(RootCertStore::empty()),
    }
    .map_err(|error| OptionsError::Tls(error.to_string()))
}

fn with_roots(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn with_the_systems() -> Result<ClientConfig, rustls::Error> {
    let verifier = Verifier::new(provider())?;
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    // Called dangerous because any verifier could be put here; this one is the system's.
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

fn roots(file: &Path) -> Result<RootCertStore, OptionsError> {
    let wrong = |problem: &dyn Display| OptionsError::Certificates {
        path: file.to_owned(),
        problem: problem.to_string(),
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))? {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    match roots.is_empty() {
        true => Err(wrong(&"has no certificate in the form of PEM")),
        false => Ok(roots),
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusting(file: &Path) -> Options {
        Options { ca_file: Some(file.to_owned()), ..Options::new("https://h:8443", "d") }
    }

    #[test]
    fn certificates_that_cannot_be_read_are_told_with_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        let told = |options: &Options| config(options).unwrap_err().to_string();
        assert!(told(&trusting(&file)).contains("ca.pem: "), "{}", told(&trusting(&file)));
        std::fs::write(&file, "hunter2").unwrap();
        let text = told(&trusting(&file));
        assert!(text.contains("ca.pem: has no certificate") && !text.contains("hunter2"), "{text}");
    }
}
