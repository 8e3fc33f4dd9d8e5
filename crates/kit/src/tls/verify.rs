//! Holds a certificate to its authority and to its roles. Host names do not matter: a role has many, and they change.

use super::{PROVIDER, roles::PeerRoles};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, RootCertStore,
    SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor,
    },
    crypto::{verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::{
        ParsedCertificate, WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};
use std::{
    io,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use webpki::{EndEntityCert, KeyUsage};

/// A good certificate is not that of whom it must be.
#[derive(Debug, thiserror::Error)]
#[error(
    "its certificate is that of {found} in the trust domain {trust_domain}, and {expected} is expected there"
)]
struct WrongRole {
    trust_domain: Arc<str>,
    expected: &'static str,
    found: PeerRoles,
}

/// Believes clients that an authority believes and that speak for some role.
#[derive(Debug)]
pub(super) struct AnyRole {
    pub(super) authorities: Arc<dyn ClientCertVerifier>,
    pub(super) trust_domain: Arc<str>,
}

impl AnyRole {
    pub(super) fn new(authorities: Arc<RootCertStore>, trust_domain: Arc<str>) -> Result<Self, String> {
        let authorities = WebPkiClientVerifier::builder_with_provider(authorities, PROVIDER.clone()).build();
        Ok(Self { authorities: authorities.map_err(|error| error.to_string())?, trust_domain })
    }
}

impl ClientCertVerifier for AnyRole {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authorities.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.authorities.verify_client_cert(certificate, intermediates, now)?;
        let found = PeerRoles::of(certificate, &self.trust_domain);
        if found.is_empty() {
            return Err(wrong(WrongRole {
                trust_domain: self.trust_domain.clone(),
                expected: "a role",
                found,
            }));
        }
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Believes a server that an authority believes and that speaks for one certain role.
#[derive(Debug)]
pub(super) struct OneRole {
    pub(super) authorities: Arc<RootCertStore>,
    pub(super) trust_domain: Arc<str>,
    pub(super) role: &'static str,
}

impl ServerCertVerifier for OneRole {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let parsed = ParsedCertificate::try_from(certificate)?;
        let algorithms = PROVIDER.signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(
            &parsed,
            &self.authorities,
            intermediates,
            now,
            algorithms,
        )?;
        let found = PeerRoles::of(certificate, &self.trust_domain);
        if !found.include(self.role) {
            let trust_domain = self.trust_domain.clone();
            return Err(wrong(WrongRole { trust_domain, expected: self.role, found }));
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &PROVIDER.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &PROVIDER.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        PROVIDER.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether these authorities vouch for a certificate, where it is shown by who calls and by who is called.
pub(super) fn in_both_directions(
    certificate: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    authorities: &RootCertStore,
    now: SystemTime,
) -> Result<(), webpki::Error> {
    let now = UnixTime::since_unix_epoch(now.duration_since(UNIX_EPOCH).unwrap_or_default());
    let certificate = EndEntityCert::try_from(certificate)?;
    let algorithms = PROVIDER.signature_verification_algorithms.all;
    [KeyUsage::server_auth(), KeyUsage::client_auth()].into_iter().try_for_each(|usage| {
        let roots = &authorities.roots;
        certificate.verify_for_usage(algorithms, roots, intermediates, now, usage, None, None).map(|_| ())
    })
}

fn wrong(role: WrongRole) -> Error {
    CertificateError::Other(OtherError(Arc::new(role))).into()
}

/// What TLS found wrong, for people; none where something else broke the connection.
pub(crate) fn told(error: &io::Error) -> Option<String> {
    Some(match error.get_ref()?.downcast_ref::<Error>()? {
        Error::InvalidCertificate(CertificateError::Other(OtherError(problem))) => problem.to_string(),
        Error::InvalidCertificate(problem) => format!("its certificate is not believed: {problem}"),
        Error::NoCertificatesPresented => "it shows no certificate".to_owned(),
        Error::AlertReceived(alert) => format!("it does not believe the certificate it is shown: {alert:?}"),
        Error::InvalidMessage(_) => "it does not speak TLS".to_owned(),
        other => other.to_string(),
    })
}
