//! Short names for content.

/// FNV-1a, 64 bits: stable over builds and machines, unlike the standard library's hasher. Not for secrets.
pub fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    parts.into_iter().fold(START, |hash, part| {
        // A separator, so that moving a byte from one part to the next changes the result.
        step(part.iter().fold(hash, step), &0xff)
    })
}
