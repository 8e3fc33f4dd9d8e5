//! The one HTTP client behind every vendor. Stub.
use signalbox_types::VendorKind;
use std::time::Duration;

/// How long each stage of a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To a connection.
    pub connect: Duration,
    /// From the request sent to the response's first byte.
    pub first_byte: Duration,
    /// Between two chunks of a stream.
    pub idle: Duration,
    /// The whole call.
    pub total: Duration,
}

/// How to reach one vendor entry.
#[derive(Clone)]
pub struct VendorConfig {
    /// Name in the catalogue, for messages.
    pub name: String,
    /// Wire format.
    pub kind: VendorKind,
    /// Base URL without a trailing slash; the codec's default where `None`.
    pub base_url: Option<String>,
    /// API key; not sent where `None`.
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
impl std::fmt::Debug for VendorConfig { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.debug_struct("VendorConfig").field("name", &self.name).finish_non_exhaustive() } }

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("vendor `{vendor}`: {problem}")]
pub struct ConfigureVendorError { /// Which.
    pub vendor: String, /// Why.
    pub problem: String }

/// A connection to one vendor.
#[derive(Debug)]
pub struct HttpVendor {}
