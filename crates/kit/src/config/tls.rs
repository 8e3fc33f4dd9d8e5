//! The file's sections about TLS: towards clients, and between the roles of a deployment.

use super::{check::Findings, file::PeersConfig, tree::Cursor};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

/// The certificate that clients are shown. Its files are read again when they change.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerTlsConfig {
    /// File with the certificate and those between it and its authority (PEM).
    pub certificate_file: PathBuf,
    /// File with its private key (PEM).
    pub key_file: PathBuf,
}

/// TLS between the roles of a deployment, in which both sides show who they are. Its files are read again when they
/// change.
///
/// A certificate says for which roles its process speaks, in one or more URIs among its alternative names:
/// `spiffe://<trust_domain>/<role>`, as in `spiffe://signalbox/router`. Whoever calls is held to them, and so is
/// whoever is called; host names and addresses do not matter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MtlsConfig {
    /// File with the certificate of this process and those between it and the authority (PEM).
    pub certificate_file: PathBuf,
    /// File with its private key (PEM).
    pub key_file: PathBuf,
    /// File with the certificates of the authorities to trust (PEM), and no others.
    pub ca_file: PathBuf,
    /// The first part of the names in certificates.
    #[serde(default = "default_trust_domain")]
    #[schemars(length(min = 1))]
    pub trust_domain: String,
}

fn default_trust_domain() -> String {
    "signalbox".to_owned()
}

/// Peers are reached over TLS exactly where there is `mtls`, so that nobody believes in encryption that is not there.
pub(super) fn check(
    mtls: Option<&MtlsConfig>,
    peers: &PeersConfig,
    root: &Cursor<'_>,
    findings: &mut Findings,
) {
    for (role, addresses) in peers.each() {
        let at = root.key("peers").key(role);
        if addresses.is_empty() && at.node.is_some() {
            findings
                .fault(&at, "is empty: leave it out where the role is in this process, or say where it is");
        }
        for (index, address) in addresses.iter().enumerate() {
            let told = match (mtls.is_some(), address.starts_with("https://")) {
                (true, false) => "write https:// where there is `mtls`",
                (false, true) => "is reached over TLS only where there is `mtls`: add that, or write http://",
                _ => continue,
            };
            findings.fault(&at.index(index), format!("`{address}`: {told}"));
        }
    }
    let domain = mtls.map(|mtls| mtls.trust_domain.as_str()).unwrap_or("-");
    let good = |character: char| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || "-._".contains(character)
    };
    if domain.is_empty() || !domain.chars().all(good) {
        let message = "a trust domain has lower-case letters, digits, dots, dashes and underscores only";
        findings.fault(&root.key("mtls").key("trust_domain"), message);
    }
}
