//! The certificate that this process shows, with its key.

use super::{
    PROVIDER,
    files::{FileProblem, PemFile},
};
use rustls::{
    Error, InconsistentKeys,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use x509_cert::{
    Certificate,
    der::{self, DateTime, Decode},
    time::Validity,
};

const NO_CERTIFICATE: &str = "has no certificate in the form of PEM";

/// A long life makes nobody wait for less than that with renewing.
const OLD: Duration = Duration::from_secs(30 * 24 * 3600);

/// The certificate of this process, those between it and its authority, and its private key.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) key: Arc<CertifiedKey>,
    /// When all of its certificates are valid.
    from: DateTime,
    until: DateTime,
    /// How long the one that expires first is good in all.
    lifetime: Duration,
}

/// How much of a certificate's life is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Age {
    Good,
    /// Less than a quarter, or thirty days: it should have been renewed.
    Old,
    Expired,
}

impl Own {
    pub(super) fn load(certificate: PemFile<'_>, key: PemFile<'_>) -> Result<Self, FileProblem> {
        let chain = certificates(certificate)?;
        let no_certificate = |error| certificate.told(format_args!("has what is no certificate: {error}"));
        let valid = chain.iter().map(validity).collect::<Result<Vec<_>, _>>().map_err(no_certificate)?;
        let from = valid.iter().map(|valid| valid.not_before.to_date_time()).max();
        let first = valid.iter().min_by_key(|valid| valid.not_after.to_date_time());
        let (Some(from), Some(first)) = (from, first) else { return Err(certificate.told(NO_CERTIFICATE)) };
        let until = first.not_after.to_date_time();
        let lifetime = until.unix_duration().saturating_sub(first.not_before.to_unix_duration());
        let private = PrivateKeyDer::from_pem_slice(&key.read()?)
            .map_err(|_| key.told("has no private key in the form of PEM"))?;
        let matched = CertifiedKey::from_der(chain, private, &PROVIDER).map_err(|error| match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                key.told(format_args!("is not the key of the certificate in {}", certificate.path.display()))
            }
            // The certificate has been looked into before.
            _ => key.told("has a private key that cannot be used; it must be RSA, ECDSA or Ed25519"),
        })?;
        Ok(Self { key: Arc::new(matched), from, until, lifetime })
    }

    /// The certificate itself, without those above it.
    pub(super) fn leaf(&self) -> Option<&CertificateDer<'static>> {
        self.key.cert.first()
    }

    pub(super) fn expires_at(&self) -> DateTime {
        self.until
    }

    pub(super) fn lifetime(&self) -> Duration {
        self.lifetime
    }

    pub(super) fn age(&self, now: SystemTime) -> Age {
        match self.until.to_system_time().duration_since(now) {
            Err(_) => Age::Expired,
            Ok(left) if left < (self.lifetime / 4).min(OLD) => Age::Old,
            Ok(_) => Age::Good,
        }
    }

    /// Why nobody believes it now, if so.
    pub(super) fn untimely(&self, now: SystemTime) -> Option<String> {
        if now < self.from.to_system_time() {
            return Some(format!("is not valid before {}", self.from));
        }
        (now > self.until.to_system_time()).then(|| format!("expired at {}", self.until))
    }
}

/// Every certificate of a file.
pub(super) fn certificates(file: PemFile<'_>) -> Result<Vec<CertificateDer<'static>>, FileProblem> {
    let pem = file.read()?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    // What is wrong is not told, since it is told with a line of the file, which may be that of a key.
    let all = all.map_err(|_| file.told("is not good PEM"))?;
    if all.is_empty() { Err(file.told(NO_CERTIFICATE)) } else { Ok(all) }
}

fn validity(certificate: &CertificateDer<'static>) -> Result<Validity, der::Error> {
    Ok(Certificate::from_der(certificate)?.tbs_certificate.validity)
}
