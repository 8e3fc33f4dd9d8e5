//! How much a replica takes of a budget at a time.
//!
//! **T5, round trips.** A replica asks once for each slice that it spends, so about `mean cost / slice` of all requests
//! wait for an answer from elsewhere; all others are admitted from memory.
//!
//! **T4, waste.** With `R` replicas, each wish beyond what is needed at once is cut to `free / (2 R)`. So slices shrink
//! with what is left, and one round of grants takes at most half of it. What lies idle in other replicas' hands is
//! called back when somebody comes short; after that at most `R x (the dearest request)` cannot be spent. A crash
//! parks one replica's slice and holds, until it is known what it spent.

/// How large slices are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SliceRules {
    /// Share of the limit, from 0 to 1.
    pub share: f64,
    /// Never more than this, in nano-EUR, but what is needed.
    pub max: i64,
}

impl Default for SliceRules {
    /// A hundredth of the limit, at most one euro.
    fn default() -> Self {
        Self { share: 0.01, max: signalbox_types::NANOS_PER_EUR }
    }
}

impl SliceRules {
    /// The slice of a budget, in nano-EUR: what a replica keeps at hand.
    pub fn slice(&self, limit: i64) -> i64 {
        // A float saturates as an integer, and what is not a number is none.
        let share = (limit.max(0) as f64 * self.share.clamp(0.0, 1.0)) as i64;
        share.min(self.max.max(0))
    }

    /// How much to ask for, where `needed` is the least that helps.
    pub fn wanted(&self, limit: i64, needed: i64) -> i64 {
        self.slice(limit).max(needed)
    }
}

/// How much to grant of an account with so much `free`, to one of `replicas` that hold leases of it; `None` if that is
/// too little.
///
/// **T1, no overspend.** A hard budget grants no more than is free, in one transaction with the look at it. So the sum
/// of all grants less returns never exceeds the limit, and replicas spend no more than they were granted.
/// A soft budget always grants what is needed.
pub fn granted(needed: i64, wanted: i64, free: i64, replicas: u32, hard: bool) -> Option<i64> {
    let needed = needed.max(0);
    if hard && needed > free.max(0) {
        return None;
    }
    let fair = free.max(0) / (2 * i64::from(replicas.max(1)));
    Some(wanted.min(fair).max(needed))
}

/// How much of `idle` money to give back: above two slices, all but one. The gap keeps a replica from asking for what
/// it has just given back.
pub fn excess(idle: i64, slice: i64) -> i64 {
    let slice = slice.max(0);
    if idle > slice.saturating_mul(2) { idle - slice } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EUR: i64 = signalbox_types::NANOS_PER_EUR;

    #[test]
    fn a_slice_is_a_hundredth_and_at_most_a_euro() {
        let rules = SliceRules::default();
        assert_eq!(rules.slice(10 * EUR), EUR / 10);
        assert_eq!(rules.slice(5_000 * EUR), EUR);
        assert_eq!(rules.slice(0), 0);
        assert_eq!(rules.wanted(10 * EUR, 3 * EUR), 3 * EUR, "what is needed goes before");
    }

    #[test]
    fn senseless_rules_give_no_slice() {
        for (share, max) in [(f64::NAN, EUR), (-1.0, EUR), (0.5, -1)] {
            assert_eq!(SliceRules { share, max }.slice(i64::MAX), 0);
        }
    }

    #[test]
    fn slices_shrink_as_the_limit_comes_near() {
        assert_eq!(granted(1, EUR, 100 * EUR, 5, true), Some(EUR));
        assert_eq!(granted(1, EUR, 5 * EUR, 5, true), Some(EUR / 2));
        assert_eq!(granted(EUR, EUR, EUR, 5, true), Some(EUR), "the last one that fits is served");
        assert_eq!(granted(EUR, EUR, EUR - 1, 1, true), None);
    }

    #[test]
    fn what_costs_nothing_is_granted_when_all_is_gone() {
        assert_eq!(granted(0, EUR, 0, 1, true), Some(0));
        assert_eq!(granted(0, EUR, -5, 1, true), Some(0));
    }

    #[test]
    fn a_soft_budget_grants_what_is_needed_beyond_its_limit() {
        assert_eq!(granted(EUR, 2 * EUR, -7, 3, false), Some(EUR));
    }

    #[test]
    fn idle_money_goes_back_only_when_it_is_much() {
        assert_eq!(excess(2 * EUR, EUR), 0);
        assert_eq!(excess(2 * EUR + 1, EUR), EUR + 1);
        assert_eq!(excess(-5, EUR), 0);
        assert_eq!(excess(i64::MAX, i64::MAX), 0);
    }

    proptest! {
        #[test]
        fn a_hard_budget_never_grants_more_than_is_free(
            needed in -5i64..2_000, wanted in -5i64..2_000, free in -500i64..2_000, replicas in 0u32..9,
        ) {
            match granted(needed, wanted, free, replicas, true) {
                Some(granted) => {
                    prop_assert!(granted >= needed.max(0));
                    prop_assert!(granted <= free.max(0));
                }
                None => prop_assert!(needed > free.max(0)),
            }
        }
    }
}
