//! How often answers are right, at least, whenever one looks.
//!
//! After `s` right and `f` wrong observations, the chance of what was seen were the share of right ones `p` is
//! `p^s (1-p)^f`. Compared with a mixture of all shares, weighted by a Beta(a, b) distribution, that is
//!
//! ```text
//! M(p) = B(a + s, b + f) / (B(a, b) · p^s · (1-p)^f)
//! ```
//!
//! If `p` is the truth, `M` is a martingale that begins with 1: by Ville's inequality it ever reaches `1/α` with a chance of
//! at most `α`, however often one looks and whenever one stops. So the shares with `M(p) < 1/α` hold the truth at all times
//! together with a confidence of `1 - α` (Robbins, "Statistical methods related to the law of the iterated logarithm",
//! 1970; Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021,
//! section 3 on conjugate mixtures). As a function of `p`, `ln M` is convex, so these shares are an interval; its lower end
//! is the bound. It also holds if observations depend on those before them, so long as each is right with at most the
//! probability `p` given these.
//!
//! Any `a` and `b` are valid; they only decide which shares are shown with fewest observations. Beta(100, ½) lies close
//! to 1: without an error, 99% is shown by 376 observations where a single look takes 299, and 95% by 64 instead of 59.

use super::special::ln_beta;

const A: f64 = 100.0;
const B: f64 = 0.5;

/// Whether the share of right observations is at least `target`, with a confidence of `1 - alpha` however often one asks.
/// Counts may be fractions, as of observations that were half forgotten.
pub fn is_at_least(target: f64, right: f64, wrong: f64, alpha: f64) -> bool {
    right > target * (right + wrong) && ln_mixture(target, right, wrong) >= -alpha.ln()
}

/// The largest share for which [`is_at_least`] is true; 0 with nothing observed.
pub fn lower_bound(right: f64, wrong: f64, alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, if right > 0.0 { right / (right + wrong) } else { 0.0 });
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if is_at_least(middle, right, wrong, alpha) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// `ln M(p)` for a `p` between 0 and 1.
fn ln_mixture(p: f64, right: f64, wrong: f64) -> f64 {
    let seen = right * p.ln() + if wrong > 0.0 { wrong * (-p).ln_1p() } else { 0.0 };
    ln_beta(A + right, B + wrong) - ln_beta(A, B) - seen
}

#[cfg(test)]
mod tests {
    use super::super::{ALPHA, clopper_pearson};
    use super::*;
    use crate::chance::Chance;
    use proptest::prelude::*;

    #[test]
    fn so_many_observations_without_an_error_show_a_share() {
        for (target, takes) in [(0.95, 64.0), (0.98, 174.0), (0.99, 376.0)] {
            assert!(is_at_least(target, takes, 0.0, ALPHA), "{target} by {takes}");
            assert!(!is_at_least(target, takes - 1.0, 0.0, ALPHA), "{target} by fewer than {takes}");
        }
    }

    #[test]
    fn nothing_observed_shows_nothing() {
        assert_eq!(lower_bound(0.0, 0.0, ALPHA), 0.0);
        assert_eq!(lower_bound(0.0, 9.0, ALPHA), 0.0);
        assert!(!is_at_least(0.01, 0.0, 0.0, ALPHA));
    }

    /// Whether a history, looked at after every observation, ever shows more than the truth.
    fn is_fooled(truth: f64, length: u32, history: u64) -> bool {
        let mut chance = Chance::of(history << 32);
        let (mut right, mut wrong) = (0.0, 0.0);
        (0..length).any(|_| {
            *(if chance.unit() < truth { &mut right } else { &mut wrong }) += 1.0;
            is_at_least(truth, right, wrong, ALPHA)
        })
    }

    #[test]
    fn whoever_looks_after_every_observation_is_fooled_in_one_of_twenty_histories_at_most() {
        for (truth, length) in [(0.8, 300), (0.95, 600), (0.98, 1_000), (0.985, 1_000), (0.99, 1_500)] {
            let fooled = (0..1_000).filter(|history| is_fooled(truth, length, *history)).count() as u64;
            let share = clopper_pearson(fooled, 1_000, 0.99);
            assert!(share.low <= ALPHA, "{truth}: fooled in {fooled} of 1000 histories");
        }
    }

    #[test]
    fn a_bound_for_a_single_look_would_fool_such_a_one_far_more_often() {
        let naive = |right: f64, wrong: f64| {
            let total = (right + wrong) as u64;
            clopper_pearson(right as u64, total, 0.9).low
        };
        let is_fooled = |history: u64| {
            let mut chance = Chance::of(history << 32);
            let (mut right, mut wrong) = (0.0, 0.0);
            (0..600).any(|_| {
                *(if chance.unit() < 0.95 { &mut right } else { &mut wrong }) += 1.0;
                naive(right, wrong) > 0.95
            })
        };
        let fooled = (0..100).filter(|history| is_fooled(*history)).count();
        assert!(fooled > 10, "only {fooled} of 100");
    }

    proptest! {
        #[test]
        fn the_bound_is_where_the_answer_changes(right in 0.0..5_000.0_f64, wrong in 0.0..50.0_f64) {
            let bound = lower_bound(right, wrong, ALPHA);
            prop_assert!((0.0..=1.0).contains(&bound));
            prop_assert!(bound == 0.0 || is_at_least(bound, right, wrong, ALPHA));
            prop_assert!(!is_at_least(bound + 1e-6, right, wrong, ALPHA));
        }

        #[test]
        fn an_error_never_raises_the_bound(right in 1.0..5_000.0_f64, wrong in 0.0..50.0_f64) {
            let (before, after) = (lower_bound(right, wrong, ALPHA), lower_bound(right, wrong + 1.0, ALPHA));
            prop_assert!(after <= before + 1e-9, "{before} became {after}");
        }

        #[test]
        fn less_chance_of_being_fooled_takes_a_lower_bound(right in 1.0..5_000.0_f64, wrong in 0.0..50.0_f64) {
            prop_assert!(lower_bound(right, wrong, 0.01) <= lower_bound(right, wrong, 0.05));
        }
    }
}
