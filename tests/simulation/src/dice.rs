//! Chance that depends on what it is for, not on what was drawn before: every policy meets the same luck.

use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::f64::consts::TAU;

/// A generator for one purpose.
pub(crate) fn dice(seed: u64, purpose: &[u64]) -> StdRng {
    StdRng::seed_from_u64(purpose.iter().fold(mix(seed), |state, part| mix(state ^ mix(*part))))
}

/// The finaliser of `SplitMix64`: neighbouring numbers end far apart.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A log-normal number of median 1.
pub(crate) fn log_normal(dice: &mut StdRng, sigma: f64) -> f64 {
    // Box and Muller; the logarithm of 0 is out of reach.
    let (radius, angle) = (1.0 - dice.random::<f64>(), dice.random::<f64>());
    (sigma * (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_purpose_has_the_same_luck_and_another_has_its_own() {
        let roll = |purpose: &[u64]| dice(7, purpose).random::<u64>();
        assert_eq!(roll(&[1, 2]), roll(&[1, 2]));
        assert_ne!(roll(&[1, 2]), roll(&[2, 1]));
    }

    #[test]
    fn half_of_the_log_normal_numbers_are_below_one() {
        let mut dice = dice(7, &[]);
        let below = (0..10_000).filter(|_| log_normal(&mut dice, 0.5) < 1.0).count();
        assert!((4_800..5_200).contains(&below), "{below}");
    }
}
