//! Answers that only their tenant's key opens, and only where they were put.

mod data_key;

pub(crate) use data_key::{DataKey, hex};

use ring::{
    aead::{Aad, NONCE_LEN, Nonce},
    rand::{SecureRandom, SystemRandom},
};
use signalbox_ports::cache::{Digest, Epochs, Partition, Scope};

/// Raised with any change of what is sealed or how; what an older version sealed is a miss then.
const VERSION: u8 = 1;
/// The version and the id of the key.
const HEAD: usize = 1 + DataKey::ID;

/// Where an entry lies: what it is bound to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) partition: &'a Partition,
    pub(crate) key: Digest,
    pub(crate) epochs: &'a Epochs,
}

/// Why something cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// It was sealed by another version or with a key that is no more: as good as not there.
    Outdated,
    /// It was changed, or moved from another place.
    Forged,
}

/// The system's source of randomness gave nothing.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("no randomness to seal with")]
pub(crate) struct NotSealed;

/// Compresses and encrypts what is to lie in a place.
pub(crate) fn seal(key: &DataKey, place: Place<'_>, plain: &[u8]) -> Result<Vec<u8>, NotSealed> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).map_err(|_| NotSealed)?;
    let mut body = lz4_flex::block::compress_prepend_size(plain);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let mut sealed = Vec::with_capacity(HEAD + NONCE_LEN + body.len() + 16);
    sealed.push(VERSION);
    sealed.extend_from_slice(key.id());
    sealed.extend_from_slice(nonce.as_ref());
    key.cipher()
        .seal_in_place_append_tag(nonce, Aad::from(bound_to(place)), &mut body)
        .map_err(|_| NotSealed)?;
    sealed.append(&mut body);
    Ok(sealed)
}

/// The id of the key that something was sealed with.
pub(crate) fn key_id(sealed: &[u8]) -> Option<&[u8]> {
    sealed.get(1..HEAD)
}

/// What was sealed in a place.
pub(crate) fn open(key: &DataKey, place: Place<'_>, sealed: &[u8]) -> Result<Vec<u8>, Closed> {
    let (head, rest) = sealed.split_at_checked(HEAD).ok_or(Closed::Forged)?;
    if head[0] != VERSION || head[1..] != *key.id() {
        return Err(Closed::Outdated);
    }
    let (nonce, body) = rest.split_first_chunk::<NONCE_LEN>().ok_or(Closed::Forged)?;
    let mut body = body.to_vec();
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = key.cipher().open_in_place(nonce, Aad::from(bound_to(place)), &mut body);
    let plain = opened.map_err(|_| Closed::Forged)?;
    // Only what we sealed gets here, so its own word for its size can be relied on.
    lz4_flex::block::decompress_size_prepended(plain).map_err(|_| Closed::Forged)
}

/// Everything that says where it lies. Each part has a length of its own, but for the list at the end.
fn bound_to(Place { partition, key, epochs }: Place<'_>) -> Vec<u8> {
    let Partition { tenant, task, locale, fingerprint } = partition;
    let mut bytes = b"signalbox.cache.entry".to_vec();
    bytes.push(VERSION);
    for digest in [tenant, task, locale, fingerprint, &key] {
        bytes.extend_from_slice(&digest.0);
    }
    let mut epochs: Vec<_> = epochs.iter().collect();
    epochs.sort_unstable();
    for (scope, epoch) in epochs {
        let (kind, digest) = numbered(*scope);
        bytes.push(kind);
        bytes.extend_from_slice(&digest.0);
        bytes.extend_from_slice(&epoch.to_be_bytes());
    }
    bytes
}

/// A scope in bytes: its kind and what it names.
pub(crate) fn numbered(scope: Scope) -> (u8, Digest) {
    match scope {
        Scope::Tenant => (0, Digest::default()),
        Scope::Task(digest) => (1, digest),
        Scope::Locale(digest) => (2, digest),
        Scope::Requested(digest) => (3, digest),
        Scope::Template(digest) => (4, digest),
        Scope::Reference(digest) => (5, digest),
    }
}

#[cfg(test)]
mod tests;
