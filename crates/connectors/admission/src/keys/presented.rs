//! A key as a caller presents it.

use sha2::{Digest as _, Sha256};
use std::fmt;
use subtle::ConstantTimeEq as _;

/// How every API key begins.
const PREFIX: &str = "sbx_";
/// Longest key that is looked at.
const LONGEST: usize = 256;

/// SHA-256 of a key, the only form in which it is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Digest(pub(super) [u8; 32]);

impl Digest {
    pub(super) fn of(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// Whether both are of the same key, in a time that does not tell how much of them agrees.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// It opens nothing, but it is nobody's business either.
impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The public id in a key of the form `sbx_<key_id>_<secret>`; `None` for any other text.
pub(super) fn key_id(key: &str) -> Option<&str> {
    let (key_id, secret) = key.strip_prefix(PREFIX)?.split_once('_')?;
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let secret_is_plain = secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (key.len() <= LONGEST && plain(key_id) && !secret.is_empty() && secret_is_plain).then_some(key_id)
}

/// Whether a text means to be an API key.
pub(super) fn looks_like_a_key(key: &str) -> bool {
    key.starts_with(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_its_public_id() {
        assert_eq!(key_id("sbx_k7f2_s3cr3t"), Some("k7f2"));
        assert_eq!(key_id("sbx_k7f2_with-dash_and_bar"), Some("k7f2"));
        for wrong in ["", "sbx_", "sbx_k7f2", "sbx_k7f2_", "sbx__secret", "sk-live", "sbx_k/2_x", "sbx_a_b c"]
        {
            assert_eq!(key_id(wrong), None, "{wrong}");
        }
        assert_eq!(key_id(&format!("sbx_k7f2_{}", "x".repeat(300))), None);
    }

    #[test]
    fn a_digest_is_not_shown() {
        assert_eq!(format!("{:?}", Digest::of("sbx_k7f2_s3cr3t")), "***");
    }
}
