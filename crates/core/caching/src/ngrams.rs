//! A vector for a text without a model: `hashed-ngrams-512`.
//!
//! Each run of two to four characters, spaces included, adds 1 or takes 1 away at one of 512 places, both chosen by its
//! hash; the result has length 1. Texts with many runs in common are near each other. That is spelling, not meaning: it finds
//! the same request with a word more or less, and never another way to say it.

use crate::vectors::normalise;
use unicode_normalization::UnicodeNormalization;

/// What the vectors are of. Any change of what is computed gets another name.
pub const NAME: &str = "hashed-ngrams-512";
/// Length of the vectors.
pub const DIMENSIONS: usize = 512;

const SHORTEST: usize = 2;
const LONGEST: usize = 4;

/// The vector of a text. Case and width of characters and the amount of space make no difference.
pub fn embed(text: &str) -> Vec<f32> {
    let characters = folded(text);
    let mut vector = vec![0.0; DIMENSIONS];
    for start in 0..characters.len() {
        let mut hash = OFFSET;
        for (length, character) in (1..=LONGEST).zip(&characters[start..]) {
            hash = (hash ^ u64::from(u32::from(*character))).wrapping_mul(PRIME);
            if length >= SHORTEST {
                let mixed = mixed(hash);
                let sign = if mixed >> 63 == 0 { 1.0 } else { -1.0 };
                vector[mixed as usize % DIMENSIONS] += sign;
            }
        }
    }
    normalise(&mut vector);
    vector
}

/// Lower case, compatible forms made one, and single spaces, also before and after.
fn folded(text: &str) -> Vec<char> {
    let mut folded = Vec::with_capacity(text.len() + 2);
    folded.push(' ');
    let mut push = |character: char| {
        if !character.is_whitespace() {
            folded.push(character);
        } else if folded.last() != Some(&' ') {
            folded.push(' ');
        }
    };
    if text.is_ascii() {
        text.chars().for_each(|c| push(c.to_ascii_lowercase()));
    } else {
        text.nfkc().flat_map(char::to_lowercase).for_each(&mut push);
    }
    push(' ');
    folded
}

/// FNV-1a's constants, over characters in place of bytes.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// MurmurHash3's last step: the low bits of FNV alone depend on little.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests;
