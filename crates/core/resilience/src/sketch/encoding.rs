//! The sketch as bytes.

use super::{BUCKETS, Sketch};

/// The layout below with these bounds. Other bounds get another number, so that replicas of two versions never
/// merge buckets that mean different latencies.
const VERSION: u8 = 1;

/// Why bytes are no sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SketchError {
    /// Written by a version with other buckets.
    #[error("latency sketch has the unknown version {0}")]
    UnknownVersion(u8),
    /// A number is cut short or too large.
    #[error("latency sketch holds a malformed number")]
    MalformedNumber,
    /// A bucket beyond the last.
    #[error("latency sketch names a bucket that does not exist")]
    NoSuchBucket,
}

impl Sketch {
    /// The sketch as bytes: none for an empty sketch, else
    ///
    /// ```text
    /// version  1 byte    1
    /// then for each bucket that is not empty, in ascending order:
    ///   skip   varint    empty buckets before it, since the last one written
    ///   count  varint    latencies in it, above 0
    /// ```
    ///
    /// A varint is that of Protocol Buffers: seven bits a byte, the lowest first, the top bit set on all but the last.
    /// Of version 1, bucket `i` of 448 holds latencies from `100 µs × g^i` to `100 µs × g^(i+1)`, where `g = 1.02 / 0.98`.
    /// An hour of one model's calls takes some 100 to 300 bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut skip = 0;
        for &count in self.counts.iter() {
            if count == 0 {
                skip += 1;
                continue;
            }
            if bytes.is_empty() {
                bytes.push(VERSION);
            }
            put_varint(&mut bytes, skip);
            put_varint(&mut bytes, count);
            skip = 0;
        }
        bytes
    }

    /// The sketch of such bytes. Any bytes are safe to decode.
    pub fn decode(bytes: &[u8]) -> Result<Self, SketchError> {
        let mut sketch = Self::new();
        let Some((&version, mut rest)) = bytes.split_first() else { return Ok(sketch) };
        if version != VERSION {
            return Err(SketchError::UnknownVersion(version));
        }
        let mut next = 0;
        while !rest.is_empty() {
            let skip = take_varint(&mut rest).ok_or(SketchError::MalformedNumber)?;
            let count = take_varint(&mut rest).ok_or(SketchError::MalformedNumber)?;
            let bucket = usize::try_from(skip).unwrap_or(BUCKETS).min(BUCKETS) + next;
            *sketch.counts.get_mut(bucket).ok_or(SketchError::NoSuchBucket)? = count;
            next = bucket + 1;
        }
        Ok(sketch)
    }
}

fn put_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u64;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(number).ok();
        }
    }
    None
}
