//! The names that items and batches go by.

use signalbox_types::Failure;

/// The names that every vendor takes.
const LONGEST: usize = 64;
/// Longest id of a vendor's batch that is believed.
const LONGEST_ID: usize = 256;

/// A name of ours.
pub(super) fn check(key: &str, field: impl FnOnce() -> String) -> Result<(), Failure> {
    let fits = (1..=LONGEST).contains(&key.len());
    if fits && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)) {
        return Ok(());
    }
    Err(Failure::invalid(field(), format!("must be 1 to {LONGEST} of a-z, A-Z, 0-9, `_`, `-`")))
}

/// A vendor's id of a batch. It becomes part of a URL there.
pub(super) fn of_batch(id: &str) -> Result<&str, Failure> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    let is_name = |part: &str| part.bytes().all(plain) && part.bytes().any(|byte| byte != b'.');
    if id.len() <= LONGEST_ID && id.split('/').all(is_name) {
        return Ok(id);
    }
    Err(Failure::invalid("vendor_batch_id", "is not an id that a vendor gave"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_vendors_give_pass_and_ways_to_elsewhere_do_not() {
        for id in ["batch_9f", "msgbatch_01Q", "batches/b77"] {
            assert_eq!(of_batch(id), Ok(id));
        }
        for id in ["", "/", "a//b", "..", "batches/../files", "a?b", "a b", "a%2fb", &"a".repeat(257)] {
            assert!(of_batch(id).is_err(), "{id}");
        }
    }

    #[test]
    fn keys_are_what_every_vendor_takes() {
        assert!(check("row-1_A", || "item_key".to_owned()).is_ok());
        for key in ["", "a b", "ä", &"a".repeat(65)] {
            assert!(check(key, || "item_key".to_owned()).is_err(), "{key}");
        }
    }
}
