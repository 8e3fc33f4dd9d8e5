//! The key that a tenant's answers are sealed with. It lies in the store, wrapped by the deployment's secret; without it
//! nothing of the tenant can be read any more, wherever copies may lie.

use super::NotSealed;
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use signalbox_ports::cache::Digest;
use std::fmt::{self, Write as _};

/// A tenant's key.
pub(crate) struct DataKey {
    id: [u8; Self::ID],
    cipher: LessSafeKey,
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataKey").field("id", &hex(&self.id)).finish_non_exhaustive()
    }
}

impl DataKey {
    /// Length of its id.
    pub(crate) const ID: usize = 8;

    /// A new one, as it lies in the store.
    pub(crate) fn made(wrapping: [u8; 32], tenant: Digest) -> Result<Vec<u8>, NotSealed> {
        let random = SystemRandom::new();
        let (mut id, mut secret, mut nonce) = ([0; Self::ID], vec![0; 32], [0; NONCE_LEN]);
        for bytes in [&mut id[..], &mut secret, &mut nonce] {
            random.fill(bytes).map_err(|_| NotSealed)?;
        }
        let nonce = Nonce::assume_unique_for_key(nonce);
        let mut wrapped = [&id[..], nonce.as_ref()].concat();
        let wrapping = cipher(&wrapping).ok_or(NotSealed)?;
        let bound = Aad::from(bound_to(&id, tenant));
        wrapping.seal_in_place_append_tag(nonce, bound, &mut secret).map_err(|_| NotSealed)?;
        wrapped.append(&mut secret);
        Ok(wrapped)
    }

    /// The key in what lies in the store; `None` where this secret did not wrap it for this tenant.
    pub(crate) fn unwrapped(wrapping: [u8; 32], tenant: Digest, wrapped: &[u8]) -> Option<Self> {
        let (id, rest) = wrapped.split_first_chunk::<{ Self::ID }>()?;
        let (nonce, secret) = rest.split_first_chunk::<NONCE_LEN>()?;
        let (nonce, mut secret) = (Nonce::assume_unique_for_key(*nonce), secret.to_vec());
        let bound = Aad::from(bound_to(id, tenant));
        let secret = cipher(&wrapping)?.open_in_place(nonce, bound, &mut secret).ok()?;
        Some(Self { id: *id, cipher: cipher(secret)? })
    }

    /// What tells it from others.
    pub(crate) fn id(&self) -> &[u8; Self::ID] {
        &self.id
    }

    /// Its id in an erasure's proof, of what lies in the store.
    pub(crate) fn name_of(wrapped: &[u8]) -> String {
        hex(&wrapped[..wrapped.len().min(Self::ID)])
    }

    pub(super) fn cipher(&self) -> &LessSafeKey {
        &self.cipher
    }
}

fn cipher(secret: &[u8]) -> Option<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM, secret).ok().map(LessSafeKey::new)
}

fn bound_to(id: &[u8], tenant: Digest) -> Vec<u8> {
    [b"signalbox.cache.key", id, &tenant.0].concat()
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
