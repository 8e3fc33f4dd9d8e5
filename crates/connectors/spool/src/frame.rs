//! How an entry lies on the disk: length, checksum, payload.

/// Bytes before a payload: its length and the CRC-32 of length and payload, both little-endian.
pub(crate) const HEADER: usize = 8;
/// No entry is longer; a greater length is damage.
pub(crate) const LONGEST: usize = 16 << 20;

/// Appends an entry to `buffer`.
pub(crate) fn write(buffer: &mut Vec<u8>, payload: &[u8]) {
    // Longer ones are refused before they come here.
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes();
    buffer.extend_from_slice(&length);
    buffer.extend_from_slice(&checksum(length, payload).to_le_bytes());
    buffer.extend_from_slice(payload);
}

/// What stands at the beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<'a> {
    /// An entry's payload; the next one begins [`HEADER`] and its length later.
    Entry(&'a [u8]),
    /// The beginning of an entry, as far as can be told. The rest is missing.
    Cut,
    /// No entry.
    Damaged,
}

/// Reads the entry at the beginning of `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Read<'_> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return Read::Cut };
    let Some((expected, rest)) = rest.split_first_chunk::<4>() else { return Read::Cut };
    let size = u32::from_le_bytes(*length) as usize;
    if size == 0 || size > LONGEST {
        return Read::Damaged;
    }
    match rest.get(..size) {
        None => Read::Cut,
        Some(payload) if checksum(*length, payload) == u32::from_le_bytes(*expected) => Read::Entry(payload),
        Some(_) => Read::Damaged,
    }
}

fn checksum(length: [u8; 4], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length);
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_entry_is_read_as_written_and_a_cut_one_is_seen(payload in prop::collection::vec(any::<u8>(), 1..200), cut in 0usize..208) {
            let mut bytes = Vec::new();
            write(&mut bytes, &payload);
            prop_assert_eq!(read(&bytes), Read::Entry(&payload[..]));
            let cut = cut.min(bytes.len() - 1);
            prop_assert_eq!(read(&bytes[..cut]), Read::Cut);
        }

        #[test]
        fn a_flipped_bit_is_never_taken_for_an_entry(payload in prop::collection::vec(any::<u8>(), 1..100), at: prop::sample::Index, bit in 0u8..8) {
            let mut bytes = Vec::new();
            write(&mut bytes, &payload);
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            prop_assert!(!matches!(read(&bytes), Read::Entry(_)));
        }
    }
}
