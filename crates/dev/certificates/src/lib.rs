//! An authority for tests and for trying things out, which issues the certificates that a deployment needs.

#![expect(clippy::panic, reason = "a panic is the failure message of a test")]

mod terms;

pub use terms::Terms;

use rcgen::{CertifiedIssuer, KeyPair};
use std::{fmt::Display, fs, path::Path, time::SystemTime};

/// The trust domain where the configuration names none.
pub const TRUST_DOMAIN: &str = "signalbox";

/// Whoever trusts it believes its certificates. Its own key is nowhere but in here.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// What comes with its certificates, so that they are believed by those who do not know it.
    above: String,
}

/// A certificate and its private key.
#[derive(Clone, PartialEq, Eq)]
pub struct Pair {
    /// The certificate, and those between it and the first authority.
    pub certificate_pem: String,
    /// Its private key.
    pub key_pem: String,
}

impl Authority {
    /// A new one, which nobody trusts yet.
    #[expect(clippy::new_without_default, reason = "every one is another")]
    pub fn new() -> Self {
        let (params, key) = terms::of_an_authority("Signalbox test authority");
        Self { issuer: made(CertifiedIssuer::self_signed(params, key)), above: String::new() }
    }

    /// Another one, which whoever trusts this one believes. Its certificates come with its own.
    pub fn subordinate(&self) -> Self {
        let (params, key) = terms::of_an_authority("Signalbox test authority below");
        let issuer = made(CertifiedIssuer::signed_by(params, key, &self.issuer));
        let above = issuer.pem() + &self.above;
        Self { issuer, above }
    }

    /// Its own certificate, for those who shall trust it.
    pub fn ca_pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for a process with these roles, in the trust domain `signalbox`.
    pub fn issue(&self, roles: &[&str]) -> Pair {
        self.issue_on(&Terms { roles, ..Terms::default() })
    }

    /// A certificate for a server that is known by these names or addresses.
    pub fn issue_for_hosts(&self, hosts: &[&str]) -> Pair {
        self.issue_on(&Terms { hosts, ..Terms::default() })
    }

    /// A certificate on terms of its own.
    pub fn issue_on(&self, terms: &Terms<'_>) -> Pair {
        let key = made(KeyPair::generate());
        let certificate = made(made(terms.params()).signed_by(&key, &self.issuer));
        Pair { certificate_pem: certificate.pem() + &self.above, key_pem: key.serialize_pem() }
    }
}

impl Pair {
    /// Writes `tls.crt` and `tls.key` into a folder, as Kubernetes lays out a secret of TLS.
    pub fn write(&self, folder: &Path) {
        made(fs::write(folder.join("tls.crt"), &self.certificate_pem));
        made(fs::write(folder.join("tls.key"), &self.key_pem));
    }
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pair").field("certificate_pem", &self.certificate_pem).finish_non_exhaustive()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "certificates are held against the machine's clock by those they are shown to"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

fn made<T, E: Display>(outcome: Result<T, E>) -> T {
    outcome.unwrap_or_else(|error| panic!("cannot make a certificate: {error}"))
}
