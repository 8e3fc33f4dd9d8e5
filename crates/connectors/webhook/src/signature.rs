//! Proof of who posts, and when.

use ring::hmac;
use std::{
    fmt::Write as _,
    time::{SystemTime, UNIX_EPOCH},
};

/// Signs bodies with HMAC-SHA256.
pub(crate) struct Signer(hmac::Key);

impl Signer {
    pub(crate) fn new(secret: &str) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
    }

    /// `t=<unix seconds>,v1=<hex of the HMAC of "<unix seconds>.<body>">`. The time is signed, so that a post that was
    /// overheard is worth nothing later.
    pub(crate) fn sign(&self, body: &[u8], now: SystemTime) -> String {
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut context = hmac::Context::with_key(&self.0);
        context.update(format!("{seconds}.").as_bytes());
        context.update(body);
        let mut header = format!("t={seconds},v1=");
        for byte in context.sign().as_ref() {
            // Writing to a text cannot fail.
            let _written = write!(header, "{byte:02x}");
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_receiver_can_check_it_with_any_tool() {
        // printf '1795953600.{"id":"a"}' | openssl dgst -sha256 -hmac k3y
        let now = UNIX_EPOCH + Duration::from_secs(1_795_953_600);
        let signed = Signer::new("k3y").sign(br#"{"id":"a"}"#, now);
        assert_eq!(
            signed,
            "t=1795953600,v1=805bd5c4580a1c1983df335a87f60506e70a0b16112319a4d5b40d62df9a9b6d"
        );
    }
}
