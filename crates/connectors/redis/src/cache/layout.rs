//! How keys are written.
//!
//! ```text
//! sb:v1:x:{t:<tenant>:00}:<key>                       an entry, or a key that leads to one
//! sb:v1:s:<space>:{t:<tenant>:00}:<key>               a vector, for the search module
//! sb:v1:v:<space>:{t:<tenant>:00}:<partition>         vectors of a partition, as a vector set
//! sb:v1:b:<space>:{t:<tenant>:00}:<partition>         vectors of a partition, to be compared here
//! sb:v1:h:{t:<tenant>:00}:<task>                      names of entries by the time they expire, for counting
//! sb:v1:t:{t:<tenant>:00}:tasks                       tasks that have some
//! sb:v1:ep:{t:<tenant>:00}                            epochs
//! sb:v1:lk:{t:<tenant>:00}:<key>                      a lead
//! sb:v1:va:{t:<tenant>:00}:<name>                     a value
//! sb:v1:idx:<space>                                   the search module's index
//! sb:v1:sec                                           the fingerprint of the secret in use, and since when
//! ```
//!
//! Digests are 26 letters and digits each, so that nothing ever needs escaping. What is in braces decides on which node
//! of a cluster a key is: all of a tenant are on one. The kind comes before them, so that an index can be of one kind.

use sha2::{Digest as _, Sha256};
use signalbox_ports::cache::{Digest, Partition, Scope};

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Letters of a digest.
pub(super) const LETTERS: usize = 26;
/// The only shard of a tenant yet.
const SHARD: &str = "00";

/// A digest in letters.
pub(super) fn letters(Digest(bytes): Digest) -> String {
    let number = u128::from_be_bytes(bytes);
    let letter = |at: usize| char::from(ALPHABET[(number >> (5 * at)) as usize & 31]);
    (0..LETTERS).rev().map(letter).collect()
}

/// The digest that letters are of.
pub(super) fn digest(letters: &[u8]) -> Option<Digest> {
    let first_fits = letters.first().is_some_and(|first| ALPHABET[..8].contains(first));
    if letters.len() != LETTERS || !first_fits {
        return None;
    }
    let digit = |letter: &u8| ALPHABET.iter().position(|known| known == letter);
    let number =
        letters.iter().try_fold(0, |number: u128, letter| Some(number << 5 | digit(letter)? as u128));
    number.map(|number| Digest(number.to_be_bytes()))
}

fn hashed(name: &str) -> String {
    let hash = Sha256::digest(name);
    let mut digest = [0; 16];
    digest.copy_from_slice(&hash[..16]);
    letters(Digest(digest))
}

/// Names vectors that may be compared: of one embedder and one length.
pub(super) fn space(embedder: &str, dimensions: usize) -> Option<String> {
    // Five digits, and five more than any model has.
    (dimensions > 0 && dimensions < 100_000).then(|| format!("{}.{dimensions:05}", hashed(embedder)))
}

/// What stands for a space where there is no vector.
pub(super) const NO_SPACE: &str = "--------------------------------";

pub(super) fn tag(tenant: Digest) -> String {
    format!("{{t:{}:{SHARD}}}", letters(tenant))
}

/// The tag in a key, where it has one.
pub(super) fn tag_of(key: &str) -> Option<&str> {
    let from = key.find("{t:")?;
    let to = from + key[from..].find('}')?;
    key.get(from..=to)
}

pub(super) const ENTRIES: &str = "sb:v1:x:";
pub(super) const EPOCHS: &str = "sb:v1:ep:";
pub(super) const VALUES: &str = "sb:v1:va:";
pub(super) const SECRET: &str = "sb:v1:sec";
/// What all keys of all tenants match.
pub(super) const ALL_OF_TENANTS: &str = "sb:v1:*:{t:*";

pub(super) fn entry(tag: &str, key: Digest) -> String {
    format!("{ENTRIES}{tag}:{}", letters(key))
}

pub(super) fn lead(tenant: Digest, key: Digest) -> String {
    format!("sb:v1:lk:{}:{}", tag(tenant), letters(key))
}

pub(super) fn value(tenant: Digest, name: &str) -> String {
    format!("{VALUES}{}:{}", tag(tenant), hashed(name))
}

pub(super) fn epochs(tenant: Digest) -> String {
    epochs_of(&tag(tenant))
}

pub(super) fn epochs_of(tag: &str) -> String {
    format!("{EPOCHS}{tag}")
}

/// A partition besides its tenant.
pub(super) fn group(partition: &Partition) -> String {
    [partition.task, partition.locale, partition.fingerprint].map(letters).concat()
}

/// Vectors of a partition, of a kind that is searched by partition.
pub(super) fn vectors(kind: char, space: &str, partition: &Partition) -> String {
    format!("sb:v1:{kind}:{space}:{}:{}", tag(partition.tenant), group(partition))
}

pub(super) const INDEXES: &str = "sb:v1:idx:";

pub(super) fn index(space: &str) -> String {
    format!("{INDEXES}{space}")
}

/// What all vectors of an index begin with.
pub(super) fn indexed(space: &str) -> String {
    format!("sb:v1:s:{space}:")
}

/// What all keys of a tenant match, and none of another's.
pub(super) fn all_of(tenant: Digest) -> String {
    format!("sb:v1:*:{}*", tag(tenant))
}

/// A scope as a field of the epochs.
pub(super) fn scope(scope: Scope) -> String {
    match kind(scope) {
        (kind, Some(digest)) => format!("{kind}:{}", letters(digest)),
        (kind, None) => kind.to_owned(),
    }
}

pub(super) fn kind(scope: Scope) -> (&'static str, Option<Digest>) {
    match scope {
        Scope::Tenant => ("tenant", None),
        Scope::Task(digest) => ("task", Some(digest)),
        Scope::Locale(digest) => ("locale", Some(digest)),
        Scope::Requested(digest) => ("requested", Some(digest)),
        Scope::Template(digest) => ("template", Some(digest)),
        Scope::Reference(digest) => ("reference", Some(digest)),
    }
}
