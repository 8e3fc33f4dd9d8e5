//! What is known of a single entry.

use super::{ALPHA, interval::at_most};

/// Observations that are kept.
const LAST: u32 = 64;
const VERSION: u8 = 1;

/// The last 64 observations of an entry. They are too few to show that it is right in 99 of 100 cases, so they can only
/// speak against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Record {
    /// The latest in the lowest bit; set where it was right.
    bits: u64,
    count: u32,
    is_reported: bool,
}

impl Record {
    /// Counts whether it was right.
    pub fn observe(&mut self, is_right: bool) {
        self.bits = self.bits << 1 | u64::from(is_right);
        self.count = (self.count + 1).min(LAST);
    }

    /// Somebody said that it was wrong. It is not served again.
    pub fn report_wrong(&mut self) {
        self.observe(false);
        self.is_reported = true;
    }

    /// Adds what was observed later, elsewhere.
    pub fn merge(&mut self, later: &Self) {
        self.bits = self.bits.checked_shl(later.count).unwrap_or(0) | later.bits;
        self.count = (self.count + later.count).min(LAST);
        self.is_reported |= later.is_reported;
    }

    /// Observations it has.
    pub fn observed(&self) -> u64 {
        u64::from(self.count)
    }

    /// Whether it may be served: nobody said that it was wrong, and its own observations leave it possible (at 95%) that it
    /// meets the target.
    pub fn allows(&self, target: f64) -> bool {
        !self.is_reported && at_most(self.right(), self.observed(), ALPHA) >= target
    }

    fn right(&self) -> u64 {
        let seen = if self.count == LAST { u64::MAX } else { (1 << self.count) - 1 };
        u64::from((self.bits & seen).count_ones())
    }

    /// The record as 11 bytes: version (1), whether it was reported, observations, and a bit for each, big-endian.
    pub fn encode(&self) -> [u8; 11] {
        let mut bytes = [VERSION, u8::from(self.is_reported), self.count as u8, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes[3..].copy_from_slice(&self.bits.to_be_bytes());
        bytes
    }

    /// The record of such bytes; `None` if they are none of ours. An entry whose record cannot be read is not to be served.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let [VERSION, reported @ 0..=1, count, bits @ ..] = bytes else { return None };
        let count = u32::from(*count);
        let bits = u64::from_be_bytes(bits.try_into().ok()?);
        (count <= LAST).then_some(Self { bits, count, is_reported: *reported == 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(observations: &[bool]) -> Record {
        let mut record = Record::default();
        observations.iter().for_each(|right| record.observe(*right));
        record
    }

    #[test]
    fn an_entry_nobody_knows_is_left_to_the_pool() {
        assert!(Record::default().allows(0.999));
    }

    #[test]
    fn an_entry_that_began_with_an_error_must_make_up_for_it() {
        let mut entry = record(&[false]);
        assert!(!entry.allows(0.99));
        let needed = (1..).find(|_| {
            entry.observe(true);
            entry.allows(0.99)
        });
        assert_eq!(needed, Some(5));
    }

    #[test]
    fn an_error_among_many_does_not_speak_against_an_entry_and_four_do() {
        let mut entry = record(&[true; 60]);
        entry.observe(false);
        assert!(entry.allows(0.99));
        for _ in 0..3 {
            entry.observe(false);
        }
        assert!(!entry.allows(0.99));
    }

    #[test]
    fn only_the_last_observations_count() {
        let mut entry = record(&[false; 64]);
        for _ in 0..64 {
            entry.observe(true);
        }
        assert_eq!(entry, record(&[true; 64]));
        assert!(entry.allows(0.999));
    }

    #[test]
    fn an_answer_that_somebody_called_wrong_is_never_served_again() {
        let mut entry = record(&[true; 64]);
        entry.report_wrong();
        for _ in 0..200 {
            entry.observe(true);
        }
        assert!(!entry.allows(0.5));
        assert!(!Record::decode(&entry.encode()).unwrap().allows(0.5));
    }

    proptest! {
        #[test]
        fn what_was_seen_in_two_places_is_one_history(
            first in prop::collection::vec(any::<bool>(), 0..150),
            later in prop::collection::vec(any::<bool>(), 0..150),
        ) {
            let mut merged = record(&first);
            merged.merge(&record(&later));
            let whole = record(&[first, later].concat());
            prop_assert_eq!((merged.right(), merged.observed()), (whole.right(), whole.observed()));
            prop_assert_eq!(Record::decode(&whole.encode()), Some(whole));
        }

        #[test]
        fn any_bytes_are_safe_to_decode(bytes in prop::collection::vec(any::<u8>(), 0..14)) {
            if let Some(record) = Record::decode(&bytes) {
                record.allows(0.99);
            }
        }
    }
}
