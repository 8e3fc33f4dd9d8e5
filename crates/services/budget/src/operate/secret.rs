//! API keys as texts: `sbx_<key_id>_<secret>`.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// Base32, without letters that are easily mistaken.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A new API key.
pub(super) struct NewKey {
    /// Its public id: 12 letters and digits.
    pub(super) key_id: String,
    /// The whole of it.
    pub(super) text: String,
}

impl NewKey {
    /// Of random bytes: 60 bits for the id, 256 for the secret.
    pub(super) fn of(random: &[u8; 40]) -> Self {
        let (id, secret) = random.split_at(8);
        let bits = id.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let letter = |place: u32| LETTERS.get((bits >> (place * 5) & 31) as usize).copied();
        let key_id: String = (0..12).filter_map(letter).map(char::from).collect();
        let text = format!("sbx_{key_id}_{}", URL_SAFE_NO_PAD.encode(secret));
        Self { key_id, text }
    }
}

/// What is stored of a key.
pub(super) fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_key_says_its_id_and_keeps_its_secret() {
        let key = NewKey::of(&[7; 40]);
        let parts: Vec<_> = key.text.splitn(3, '_').collect();
        assert_eq!(parts[0], "sbx");
        assert_eq!(parts[1], key.key_id);
        assert_eq!(key.key_id.len(), 12);
        assert!(key.key_id.bytes().all(|byte| LETTERS.contains(&byte)), "{}", key.key_id);
        assert_eq!(URL_SAFE_NO_PAD.decode(parts[2]).unwrap(), [7; 32]);
    }

    #[test]
    fn an_id_can_have_every_letter_and_no_letter_stands_for_two_numbers() {
        // Five bits a letter: these are the numbers from 0 to 31, from the lowest bits up.
        let numbers: Vec<u64> = (0..32).collect();
        let ids = numbers.chunks(12).map(|chunk| {
            let bits = chunk.iter().rev().fold(0, |bits, number| bits << 5 | number);
            let mut random = [0; 40];
            random[..8].copy_from_slice(&u64::to_be_bytes(bits));
            NewKey::of(&random).key_id[..chunk.len()].to_owned()
        });
        let letters: BTreeSet<char> = ids.collect::<String>().chars().collect();
        assert_eq!(letters.len(), 32);
    }
}
