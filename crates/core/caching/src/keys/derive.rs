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

    #[test]
    fn keys_are_derived_as_the_standard_says() {
        // RFC 5869, test case 1, whose info is split at a zero byte here: purpose, 0, owner.
        let prk = extracted(&(0x00..=0x0c).collect::<Vec<u8>>(), &[0x0b; 22]);
        let mut expected = hmac::Context::with_key(&prk);
        expected.update(b"index\0acme\x01");
        assert_eq!(derived(&prk, b"index", b"acme"), *expected.sign().as_ref());
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let mut standard = hmac::Context::with_key(&prk);
        standard.update(&info);
        standard.update(&[1]);
        let first_block = standard.sign();
        assert_eq!(first_block.as_ref()[..8], [0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a]);
    }
}
