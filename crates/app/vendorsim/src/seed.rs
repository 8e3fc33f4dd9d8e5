//! Where ids come from: the same request always gets the same ids.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How many bytes at each end of a body make its seed; megabytes of image need not be hashed.
const ENDS: usize = 2048;

/// A number made from a request's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seed(u64);

impl Seed {
    /// The seed of a request body.
    pub(crate) fn of(body: &[u8]) -> Self {
        let head = &body[..body.len().min(ENDS)];
        let tail = &body[body.len().saturating_sub(ENDS)..];
        Self(fnv(fnv(fnv(OFFSET, head), tail), &body.len().to_le_bytes()))
    }

    /// The seed of a request within a batch: its caller's name for it counts, too.
    pub(crate) fn of_item(id: &str, body: &[u8]) -> Self {
        Self(fnv(Self::of(body).0, id.as_bytes()))
    }

    /// An id, as in `call_5f0c1d2e3b4a5968`; `n` tells several of one answer apart.
    pub(crate) fn id(self, prefix: &str, n: usize) -> String {
        format!("{prefix}{:016x}", fnv(self.0, &n.to_le_bytes()))
    }
}

/// An opaque, base64 signature over `text`, starting with `prefix` (itself base64, a multiple of four long).
pub(crate) fn signature(prefix: &str, text: &str) -> String {
    format!("{prefix}{}", STANDARD.encode(fnv(OFFSET, text.as_bytes()).to_be_bytes()))
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a, continued from `hash`.
pub(crate) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// FNV-1a of `bytes`.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    fnv(OFFSET, bytes)
}
