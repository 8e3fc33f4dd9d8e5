//! How a vendor entry is reached.

use super::endpoint::Endpoint;
use signalbox_types::VendorKind;
use std::{fmt, time::Duration};

/// How long each stage of a call may take. The stage that ran out is named in the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To a usable connection: name lookup, TCP and TLS. Nothing for a connection that is already open.
    pub connect: Duration,
    /// From the request sent to the first byte of the answer; of a streamed answer, to the first byte of its body.
    /// A vendor answers a call that is not streamed only when the whole answer is made: leave it time for that.
    pub first_byte: Duration,
    /// From one piece of the answer to the next.
    pub idle: Duration,
    /// The whole call, waiting for a place included.
    pub total: Duration,
}

impl Timeouts {
    /// The stages by name.
    fn named(&self) -> [(&'static str, Duration); 4] {
        [
            ("connect", self.connect),
            ("first_byte", self.first_byte),
            ("idle", self.idle),
            ("total", self.total),
        ]
    }
}

/// How to reach one vendor entry of the catalogue.
#[derive(Clone)]
pub struct VendorConfig {
    /// Name in the catalogue, for messages.
    pub name: String,
    /// Wire format.
    pub kind: VendorKind,
    /// Base URL without a trailing slash; the codec's default where `None`.
    pub base_url: Option<String>,
    /// API key; not sent where `None`. Never shown.
    pub api_key: Option<String>,
    /// Stage limits.
    pub timeouts: Timeouts,
    /// Calls under way at once.
    pub max_concurrency: usize,
    /// Calls waiting for a place; one more is refused with `VENDOR_BUSY`.
    pub max_queue: usize,
    /// Whether this is a simulated vendor.
    pub simulated: bool,
}

impl VendorConfig {
    /// Refuses what no call could be made with.
    pub(super) fn check(&self) -> Result<(), ConfigureVendorError> {
        if self.max_concurrency == 0 {
            return Err(self.error("max_concurrency is 0; it must be at least 1"));
        }
        match self.timeouts.named().into_iter().find(|(_, limit)| limit.is_zero()) {
            Some((stage, _)) => Err(self.error(format!("timeouts.{stage} is zero; it must be more"))),
            None => Ok(()),
        }
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> ConfigureVendorError {
        ConfigureVendorError { vendor: self.name.clone(), problem: problem.into() }
    }
}

/// Everything but secrets: the key, and what a base URL may hide.
impl fmt::Debug for VendorConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = self.base_url.as_deref().map(|url| match Endpoint::parse(url) {
            Ok(_) => url,
            Err(_) => "<not usable>",
        });
        f.debug_struct("VendorConfig")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("base_url", &base_url)
            .field("api_key", &self.api_key.as_ref().map(|_| "<secret>"))
            .field("timeouts", &self.timeouts)
            .field("max_concurrency", &self.max_concurrency)
            .field("max_queue", &self.max_queue)
            .field("simulated", &self.simulated)
            .finish()
    }
}

/// A vendor entry that cannot be used as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("vendor `{vendor}`: {problem}")]
pub struct ConfigureVendorError {
    /// Name of the entry.
    pub vendor: String,
    /// What is wrong and what would be right; never holds a secret.
    pub problem: String,
}
