//! A pool as bytes.

use super::{BUCKETS, Pool, Tally};
use crate::Digest;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The layout below, with these buckets.
const VERSION: u8 = 1;
const HEAD: usize = 1 + 16 + 8;
const LENGTH: usize = HEAD + BUCKETS * 16;

impl Pool {
    /// The pool as bytes:
    ///
    /// ```text
    /// version   1 byte      1
    /// basis     16 bytes
    /// as of     8 bytes     milliseconds since 1970, big-endian
    /// then for each bucket, the lowest first:
    ///   right   8 bytes     an IEEE 754 double, big-endian
    ///   wrong   8 bytes     the same
    /// ```
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.basis.0);
        let since = self.as_of.duration_since(UNIX_EPOCH).unwrap_or_default();
        bytes.extend_from_slice(&u64::try_from(since.as_millis()).unwrap_or(u64::MAX).to_be_bytes());
        for Tally { right, wrong } in self.buckets {
            bytes.extend_from_slice(&right.to_be_bytes());
            bytes.extend_from_slice(&wrong.to_be_bytes());
        }
        bytes
    }

    /// The pool of such bytes, if it rests on this basis. Otherwise, and if the bytes are none of ours, an empty one: what is
    /// not known for sure is not known.
    pub fn decode(bytes: &[u8], basis: Digest, now: SystemTime) -> Self {
        Self::read(bytes).filter(|pool| pool.basis == basis).unwrap_or_else(|| Self::new(basis, now))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != LENGTH || bytes.first() != Some(&VERSION) {
            return None;
        }
        let (head, counts) = bytes.split_at(HEAD);
        let basis = Digest(head[1..17].try_into().ok()?);
        let millis = u64::from_be_bytes(head[17..].try_into().ok()?);
        let as_of = UNIX_EPOCH.checked_add(Duration::from_millis(millis))?;
        let mut pool = Self::new(basis, as_of);
        for (bucket, bytes) in pool.buckets.iter_mut().zip(counts.chunks_exact(16)) {
            let (right, wrong) = bytes.split_at(8);
            *bucket = Tally { right: count(right)?, wrong: count(wrong)? };
        }
        Some(pool)
    }
}

fn count(bytes: &[u8]) -> Option<f64> {
    let count = f64::from_be_bytes(bytes.try_into().ok()?);
    (0.0..1e15).contains(&count).then_some(count)
}
