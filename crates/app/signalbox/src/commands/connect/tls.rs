//! TLS to a server, as clients speak it: the certificate must be one for the server's name.

use crate::commands::CommandError;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::{
    CertificateError, ClientConfig, RootCertStore,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, pem::PemObject as _},
};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::{error::Error, io, path::Path, sync::Arc};

/// The one protocol that gRPC is spoken in.
const HTTP_2: &[u8] = b"h2";

/// Connects to servers whose certificates an authority in `ca_file` has signed; without one, an authority that this
/// machine trusts.
pub(super) fn connector(ca_file: Option<&Path>) -> Result<HttpsConnector<HttpConnector>, CommandError> {
    let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
    let told = |error: rustls::Error| CommandError::new(format!("TLS cannot be used here: {error}"));
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(told)?;
    let builder = match ca_file {
        Some(file) => builder.with_root_certificates(authorities(file)?),
        None => builder.with_platform_verifier().map_err(told)?,
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![HTTP_2.to_vec()];
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    Ok(HttpsConnector::from((http, config)))
}

fn authorities(file: &Path) -> Result<RootCertStore, CommandError> {
    let told = |problem: &dyn std::fmt::Display| {
        CommandError::new(format!("--ca-file {}: {problem}", file.display()))
    };
    let mut authorities = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| told(&error))? {
        let certificate = certificate.map_err(|error| told(&error))?;
        authorities.add(certificate).map_err(|error| told(&error))?;
    }
    match authorities.is_empty() {
        true => Err(told(&"has no certificate (PEM)")),
        false => Ok(authorities),
    }
}

/// What TLS has to say of a failed connection.
pub(super) fn refusal<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    if let Some(found) = error.downcast_ref() {
        return Some(found);
    }
    // An I/O error hides what it is made of from its sources.
    let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    inside.and_then(|inside| refusal(inside)).or_else(|| refusal(error.source()?))
}

/// What the user should do about it.
pub(super) fn advice(refusal: &rustls::Error, has_ca_file: bool) -> &'static str {
    match refusal {
        // The signature is a bad one where two authorities have the same name.
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => match has_ca_file {
            true => "its certificate is not signed by an authority of --ca-file",
            false => {
                "its certificate is not signed by an authority that this machine trusts: name it by --ca-file"
            }
        },
        rustls::Error::InvalidCertificate(_) => "its certificate cannot be trusted",
        rustls::Error::InvalidMessage(_) => "it does not speak TLS at this port: is it http://?",
        _ => "it cannot be spoken to over TLS",
    }
}
