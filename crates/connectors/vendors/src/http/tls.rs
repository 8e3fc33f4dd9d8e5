//! TLS settings, made once for the process: the system's roots take a megabyte and some milliseconds.

use rustls::{ClientConfig, RootCertStore, crypto::CryptoProvider};
use rustls_platform_verifier::Verifier;
use std::sync::{Arc, OnceLock};

/// Settings that trust what the system trusts (`SSL_CERT_FILE` and `SSL_CERT_DIR` say otherwise).
pub(super) fn system_trust() -> Result<ClientConfig, String> {
    static SETTINGS: OnceLock<Result<ClientConfig, String>> = OnceLock::new();
    SETTINGS
        .get_or_init(|| load_system_trust().map_err(|error| format!("TLS cannot be set up: {error}")))
        .clone()
}

/// Settings that trust no one, for vendors spoken to in the clear.
pub(super) fn no_trust() -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn load_system_trust() -> Result<ClientConfig, rustls::Error> {
    let verifier = Verifier::new(provider())?;
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    // Called dangerous because any verifier could be put here; this one is the system's.
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
