//! HKDF-SHA-256 (RFC 5869) for keys of 32 bytes: one block, so that nothing can fail.

use ring::hmac::{self, HMAC_SHA256};

/// HKDF-Extract: a key of even entropy from a secret of any form.
pub(super) fn extracted(salt: &[u8], secret: &[u8]) -> hmac::Key {
    let prk = hmac::sign(&hmac::Key::new(HMAC_SHA256, salt), secret);
    hmac::Key::new(HMAC_SHA256, prk.as_ref())
}

/// HKDF-Expand to one block: a key for one use and one owner.
pub(super) fn derived(prk: &hmac::Key, purpose: &[u8], owner: &[u8]) -> [u8; 32] {
    let mut context = hmac::Context::with_key(prk);
    context.update(purpose);
    context.update(&[0]);
    context.update(owner);
    context.update(&[1]);
    let mut key = [0; 32];
    key.copy_from_slice(context.sign().as_ref());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5869, test case 1: its salt and secret, and the first block of its key for its info.
    #[test]
    fn a_secret_is_extracted_and_expanded_as_the_standard_says() {
        let prk = extracted(&(0x00..=0x0c).collect::<Vec<u8>>(), &[0x0b; 22]);
        let mut block = hmac::Context::with_key(&prk);
        block.update(&(0xf0..=0xf9).collect::<Vec<u8>>());
        block.update(&[1]);
        let expected =
            [0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a, 0x90, 0x43, 0x4f, 0x64, 0xd0, 0x36, 0x2f, 0x2a];
        assert_eq!(block.sign().as_ref()[..16], expected);
    }

    #[test]
    fn a_key_is_for_one_purpose_and_one_owner() {
        let prk = extracted(b"salt", b"secret");
        let key = |purpose: &str, owner: &str| derived(&prk, purpose.as_bytes(), owner.as_bytes());
        assert_eq!(key("index", "acme"), *hmac::sign(&prk, b"index\0acme\x01").as_ref());
        assert_ne!(key("index", "acme"), key("wrap", "acme"));
        assert_ne!(key("index", "acme"), key("index", "acme2"));
    }
}
