//! The HTTP client.

use reqwest::{Client, Url, redirect, retry};
use rustls::{ClientConfig, crypto::CryptoProvider};
use rustls_platform_verifier::Verifier;
use std::{net::IpAddr, sync::Arc};

/// A client for an address. Elsewhere than on this machine `HTTPS_PROXY` and its kin of the environment hold.
pub(crate) fn client(url: &str) -> Result<Client, String> {
    let url = Url::parse(url).map_err(|_| "its address cannot be read".to_owned())?;
    let tls = tls().map_err(|error| format!("TLS cannot be set up: {error}"))?;
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("signalbox/", env!("CARGO_PKG_VERSION")))
        // A post that was moved elsewhere would take its signature along.
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false);
    let builder = if is_here(&url) { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| format!("the HTTP client cannot be made: {}", error.without_url()))
}

fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.parse::<IpAddr>().map_or(host == "localhost", |address| address.to_canonical().is_loopback())
}

/// The system's trust.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let provider: Arc<CryptoProvider> = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier::new(provider.clone())?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    // Called dangerous because any verifier could be put here; this one is the system's.
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}
