//! What is said in a certificate.

use crate::{TRUST_DOMAIN, now};
use rcgen::{CertificateParams, Error, SanType, date_time_ymd};
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

    pub(crate) fn uris(&self) -> Vec<Result<SanType, Error>> {
        let uris = self.roles.iter().map(|role| format!("spiffe://{}/{role}", self.trust_domain));
        uris.map(|uri| Ok(SanType::URI(uri.try_into()?))).collect()
    }
}

/// The time in which a certificate is good.
pub(crate) fn set_validity(params: &mut CertificateParams, from: SystemTime, until: SystemTime) {
    let date =
        |time: SystemTime| date_time_ymd(1970, 1, 1) + time.duration_since(UNIX_EPOCH).unwrap_or_default();
    (params.not_before, params.not_after) = (date(from), date(until));
}
