//! The roles that a certificate speaks for.

use rustls::pki_types::CertificateDer;
use std::{fmt, sync::Arc};
use webpki::EndEntityCert;

/// The roles that a process speaks for, as its certificate says: one for each URI `spiffe://<trust domain>/<role>`
/// among its alternative names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeerRoles(Arc<[String]>);

impl PeerRoles {
    /// Those of a certificate in a trust domain. The certificate is not verified here.
    pub(super) fn of(certificate: &CertificateDer<'_>, trust_domain: &str) -> Self {
        let Ok(certificate) = EndEntityCert::try_from(certificate) else { return Self::default() };
        let roles = certificate.valid_uri_names().filter_map(|uri| role(uri, trust_domain));
        let mut roles: Vec<_> = roles.map(str::to_owned).collect();
        roles.sort_unstable();
        roles.dedup();
        Self(roles.into())
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `role` is among them.
    pub fn include(&self, role: &str) -> bool {
        self.0.iter().any(|own| own == role)
    }
}

impl fmt::Display for PeerRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() { f.write_str("no role") } else { f.write_str(&self.0.join(", ")) }
    }
}

impl<S: Into<String>> FromIterator<S> for PeerRoles {
    fn from_iter<I: IntoIterator<Item = S>>(roles: I) -> Self {
        Self(roles.into_iter().map(Into::into).collect())
    }
}

fn role<'u>(uri: &'u str, trust_domain: &str) -> Option<&'u str> {
    let role = uri.strip_prefix("spiffe://")?.strip_prefix(trust_domain)?.strip_prefix('/')?;
    (!role.is_empty() && !role.contains('/')).then_some(role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_the_one_part_after_its_trust_domain() {
        assert_eq!(role("spiffe://signalbox/router", "signalbox"), Some("router"));
        for other in [
            "spiffe://signalbox.example/router",
            "spiffe://signalbo/router",
            "spiffe://signalbox",
            "spiffe://signalbox/",
            "spiffe://signalbox/router/1",
            "https://signalbox/router",
            "signalbox/router",
        ] {
            assert_eq!(role(other, "signalbox"), None, "{other}");
        }
    }
}
