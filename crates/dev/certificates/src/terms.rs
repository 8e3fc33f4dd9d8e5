//! What is said in a certificate.

use crate::{TRUST_DOMAIN, made, now};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, Error, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What is said in a certificate.
#[derive(Debug, Clone)]
pub struct Terms<'a> {
    /// The roles of its process.
    pub roles: &'a [&'a str],
    /// Where those roles are known.
    pub trust_domain: &'a str,
    /// The host names and addresses of its process.
    pub hosts: &'a [&'a str],
    /// Whether only those who call may show it, and not those who are called.
    pub for_callers_only: bool,
    /// When it becomes valid.
    pub valid_from: SystemTime,
    /// When it expires.
    pub valid_until: SystemTime,
}

impl Default for Terms<'_> {
    /// Says nothing, since an hour ago and for a month.
    fn default() -> Self {
        Self {
            roles: &[],
            trust_domain: TRUST_DOMAIN,
            hosts: &[],
            for_callers_only: false,
            valid_from: now() - HOUR,
            valid_until: now() + 30 * DAY,
        }
    }
}

impl Terms<'_> {
    /// The same, but it expired a minute ago.
    pub fn expired(self) -> Self {
        Self { valid_from: now() - HOUR, valid_until: now() - HOUR / 60, ..self }
    }

    /// The same, but it is not valid before an hour has passed.
    pub fn not_yet_valid(self) -> Self {
        Self { valid_from: now() + HOUR, valid_until: now() + DAY, ..self }
    }

    pub(crate) fn params(&self) -> Result<CertificateParams, Error> {
        let hosts: Vec<String> = self.hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts)?;
        for role in self.roles {
            let uri = format!("spiffe://{}/{role}", self.trust_domain);
            params.subject_alt_names.push(SanType::URI(uri.try_into()?));
        }
        params.distinguished_name.push(DnType::CommonName, "Signalbox");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        if !self.for_callers_only {
            params.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        }
        set_validity(&mut params, self.valid_from, self.valid_until);
        Ok(params)
    }
}

/// The time in which a certificate is good.
fn set_validity(params: &mut CertificateParams, from: SystemTime, until: SystemTime) {
    let date =
        |time: SystemTime| date_time_ymd(1970, 1, 1) + time.duration_since(UNIX_EPOCH).unwrap_or_default();
    (params.not_before, params.not_after) = (date(from), date(until));
}

/// What is said in the certificate of an authority, and a key for it.
pub(crate) fn of_an_authority(name: &str) -> (CertificateParams, KeyPair) {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut params, now() - HOUR, now() + 3650 * DAY);
    (params, made(KeyPair::generate()))
}
