//! The HTTP clients, made when first needed.

use reqwest::{Client, Url, redirect, retry};
use rustls::{ClientConfig, RootCertStore, crypto::CryptoProvider};
use rustls_platform_verifier::Verifier;
use signalbox_ports::NotJudged;
use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
};

/// One client for this machine and one for all others.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    near: OnceLock<Result<Client, String>>,
    far: OnceLock<Result<Client, String>>,
}

impl Clients {
    /// The client for an address.
    pub(crate) fn of(&self, url: &str) -> Result<&Client, NotJudged> {
        let client = match is_near(url) {
            true => self.near.get_or_init(|| client(no_trust(), true)),
            false => self.far.get_or_init(|| client(system_trust(), false)),
        };
        client.as_ref().map_err(|problem| NotJudged(problem.clone()))
    }
}

/// Whether an address is this machine, in the clear.
fn is_near(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let loopback = host.parse::<IpAddr>().map_or(host == "localhost", |it| it.to_canonical().is_loopback());
    loopback && url.scheme() == "http"
}

/// Elsewhere `HTTPS_PROXY` and its kin of the environment hold.
fn client(tls: Result<ClientConfig, rustls::Error>, near: bool) -> Result<Client, String> {
    let mut tls = tls.map_err(|error| format!("TLS cannot be set up: {error}"))?;
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("signalbox/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .tcp_nodelay(true);
    let builder = if near { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| format!("the HTTP client cannot be made: {}", error.without_url()))
}

fn no_trust() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn system_trust() -> Result<ClientConfig, rustls::Error> {
    let verifier = Verifier::new(provider())?;
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    // Called dangerous because any verifier could be put here; this one is the system's.
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
