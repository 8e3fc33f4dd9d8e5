//! Chance that can be repeated.

/// Numbers that look random and are the same for the same seed, on every machine: SplitMix64 (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", 2014).
///
/// ```
/// use signalbox_routing::Chance;
///
/// let (mut one, mut other) = (Chance::of("request-1"), Chance::of("request-1"));
/// assert_eq!(one.unit(), other.unit());
/// ```
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// What chance holds for something with this name, a request's id. The seed is the name's FNV-1a hash.
    pub fn of(name: &str) -> Self {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        Self(name.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)))
    }

    /// The next number, from 0 up to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what a float holds")]
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_to_the_same_numbers_everywhere_and_another_name_to_others() {
        let first = |name| Chance::of(name).unit();
        assert_eq!(Chance::of("").0, 0xcbf2_9ce4_8422_2325, "the offset basis of FNV-1a");
        assert_eq!(Chance::of("a").0, 0xaf63_dc4c_8601_ec8c, "a published test vector of FNV-1a");
        assert_eq!(first("request-1"), first("request-1"));
        assert_ne!(first("request-1"), first("request-2"));
    }

    #[test]
    fn names_that_hardly_differ_spread_evenly() {
        let mut tenths = [0_u32; 10];
        for number in 0..10_000 {
            tenths[(Chance::of(&format!("request-{number}")).unit() * 10.0) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| (850..1_150).contains(count)), "{tenths:?}");
    }
}
