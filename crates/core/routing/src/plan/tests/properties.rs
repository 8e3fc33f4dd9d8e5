//! What holds for any candidates.

use super::*;
use proptest::{collection::vec, prelude::*};

/// Sensible numbers, and some that are not.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..1.0,
        2 => 0.0..1e6,
        1 => proptest::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, f64::MAX, f64::MIN_POSITIVE]),
    ]
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        8 => (0..200_000_u64).prop_map(Duration::from_micros),
        1 => Just(Duration::ZERO),
        1 => Just(Duration::MAX),
    ]
}

fn money() -> impl Strategy<Value = Option<Money>> {
    prop_oneof![
        1 => Just(None),
        6 => (0..100_000_000_i64).prop_map(|nanos| Some(Money::from_nano_eur(nanos))),
        1 => any::<i64>().prop_map(|nanos| Some(Money::from_nano_eur(nanos))),
    ]
}

fn latency() -> impl Strategy<Value = Latency> {
    let pace = || {
        (duration(), duration())
            .prop_map(|(first_token, between_tokens)| Pace { first_token, between_tokens })
    };
    ((duration(), duration(), duration()), pace(), number(), proptest::option::of(pace())).prop_map(
        |((p50, p95, p99), pace, samples, prior)| {
            let observed = Observed { p50, p95, p99, pace, samples: samples * 100.0 };
            Latency { observed, prior }
        },
    )
}

fn tally() -> impl Strategy<Value = Tally> {
    (number(), number()).prop_map(|(good, all)| Tally { good, all })
}

fn breaker() -> impl Strategy<Value = Breaker> {
    prop_oneof![
        6 => Just(Breaker::Closed),
        1 => duration().prop_map(Breaker::Open),
        1 => number().prop_map(Breaker::HalfOpen),
    ]
}

fn load() -> impl Strategy<Value = Load> {
    (proptest::option::of(duration()), any::<u32>(), any::<u32>())
        .prop_map(|(peak, in_flight, capacity)| Load { peak, in_flight, capacity })
}

/// Any state; one in eight is left out for one reason or another, one in eight is a last resort.
fn any_candidate() -> impl Strategy<Value = Candidate<'static>> {
    let standing = (0..8_u8, 0..8_u8, breaker(), money(), money(), number(), number());
    (standing, latency(), tally(), proptest::option::of(number()), tally(), number(), load()).prop_map(
        |(standing, latency, health, prior, passed, quota, load)| {
            let (served, last_resort, breaker, cost, ceiling, priority, preference) = standing;
            let offer = Offer { served: served != 0, last_resort: last_resort == 0, ..offer() };
            let (quality, quota_left) = (Quality { prior, passed }, Some(quota));
            let stance = Candidate { cost, ceiling, breaker, priority, preference, ..Candidate::new(offer) };
            Candidate { latency, health, quality, quota_left, load, ..stance }
        },
    )
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let selection = prop_oneof![
        1 => Just(Selection::Best),
        3 => (number(), number()).prop_map(|(kappa, explore)| Selection::Draw { kappa: kappa * 10.0, explore }),
    ];
    ([number(), number(), number(), number(), number()], selection).prop_map(
        |([cost, latency, health, quality, quota], selection)| Rules {
            weights: Weights { cost, latency, health, quality, quota },
            selection,
        },
    )
}

fn any_demand() -> impl Strategy<Value = Demand<'static>> {
    let times = (duration(), proptest::option::of(duration()));
    (any::<bool>(), any::<u32>(), times, money(), money()).prop_map(
        |(stream, expected_tokens, (target, time_left), reference_cost, allowance)| Demand {
            stream,
            expected_tokens,
            target,
            time_left,
            reference_cost,
            allowance,
            ..demand()
        },
    )
}

/// Gives the numbers one after the other, then again.
fn replay(units: &[f64]) -> impl FnMut() -> f64 {
    let mut units = units.iter().copied().cycle();
    move || units.next().unwrap_or(0.0)
}

fn score(demand: &Demand<'_>, candidate: Candidate<'_>, others: &[Candidate<'_>], rules: &Rules) -> f64 {
    let candidates: Vec<Candidate<'_>> = std::iter::once(candidate).chain(others.iter().copied()).collect();
    plan(demand, &candidates, rules, usize::MAX, || 0.0).verdicts[0].rating().unwrap().ln_score
}

proptest! {
    #[test]
    fn a_plan_is_a_permutation_of_the_eligible_with_the_last_resorts_at_its_end(
        demand in any_demand(),
        candidates in vec(any_candidate(), 0..24),
        rules in any_rules(),
        units in vec(number(), 1..9),
    ) {
        let plan = plan(&demand, &candidates, &rules, usize::MAX, replay(&units));
        prop_assert_eq!(plan.verdicts.len(), candidates.len());
        let mut planned = plan.order.clone();
        planned.sort_unstable();
        let eligible = |index: &usize| plan.verdicts[*index].rating().is_some();
        prop_assert_eq!(planned, (0..candidates.len()).filter(eligible).collect::<Vec<_>>());
        let is_last = |index: &usize| candidates[*index].offer.last_resort;
        prop_assert!(plan.order.is_sorted_by_key(is_last));
        prop_assert!(plan.order.iter().all(|index| candidates[*index].offer.served));
        prop_assert!(plan.order.iter().all(|index| !matches!(candidates[*index].breaker, Breaker::Open(_))));
    }

    #[test]
    fn whatever_the_numbers_scores_are_numbers_and_probabilities_sum_to_one(
        demand in any_demand(),
        candidates in vec(any_candidate(), 1..24),
        rules in any_rules(),
        units in vec(number(), 1..9),
    ) {
        let plan = plan(&demand, &candidates, &rules, usize::MAX, replay(&units));
        let ratings: Vec<&Rating> = plan.verdicts.iter().filter_map(Verdict::rating).collect();
        for rating in &ratings {
            prop_assert!(rating.ln_score.is_finite() && (0.0..=64.0 + 1e-9).contains(&rating.score));
            prop_assert!(rating.factors.named().iter().all(|(_, factor)| (0.0..=1.0).contains(factor)));
            prop_assert!((0.0..=1.0 + 1e-9).contains(&rating.draw_probability));
        }
        let sum: f64 = ratings.iter().map(|rating| rating.draw_probability).sum();
        prop_assert!(ratings.is_empty() || (sum - 1.0).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn the_same_draws_give_the_same_plan_and_a_cut_plan_is_its_beginning_but_for_the_last_resort(
        demand in any_demand(),
        candidates in vec(any_candidate(), 0..24),
        rules in any_rules(),
        units in vec(number(), 1..9),
        most in 0..8_usize,
    ) {
        let whole = plan(&demand, &candidates, &rules, usize::MAX, replay(&units));
        let again = plan(&demand, &candidates, &rules, usize::MAX, replay(&units));
        prop_assert_eq!(&whole, &again);
        let cut = plan(&demand, &candidates, &rules, most, replay(&units)).order;
        prop_assert_eq!(cut.len(), whole.order.len().min(most));
        let changed = cut.iter().zip(&whole.order).position(|(kept, planned)| kept != planned);
        prop_assert!(changed.is_none_or(|at| at + 1 == most && candidates[cut[at]].offer.last_resort));
    }

    #[test]
    fn the_best_first_order_falls_in_score(
        demand in any_demand(),
        candidates in vec(any_candidate(), 0..24),
        rules in any_rules(),
    ) {
        let rules = Rules { selection: Selection::Best, ..rules };
        let plan = plan(&demand, &candidates, &rules, usize::MAX, || 0.0);
        let competing = plan.order.iter().filter_map(|index| plan.verdicts[*index].rating());
        prop_assert!(competing.filter(|rating| rating.competes).is_sorted_by(|one, next| one.ln_score >= next.ln_score));
    }

    #[test]
    fn cheaper_and_otherwise_equal_never_scores_lower(
        demand in any_demand(),
        others in vec(any_candidate(), 0..8),
        rules in any_rules(),
        one in 0..i64::MAX,
        other in 0..i64::MAX,
    ) {
        let demand = Demand { allowance: None, ..demand };
        let costing = |nanos| Candidate { cost: Some(Money::from_nano_eur(nanos)), ..candidate() };
        let (cheap, dear) = (costing(one.min(other)), costing(one.max(other)));
        let rated = |candidate| score(&demand, candidate, &others, &rules);
        prop_assert!(rated(cheap) >= rated(dear) - 1e-9);
        let both = plan(&demand, &[dear, cheap], &rules, 2, || 0.0).verdicts;
        prop_assert!(both[1].rating().unwrap().ln_score >= both[0].rating().unwrap().ln_score);
    }

    #[test]
    fn faster_and_otherwise_equal_never_scores_lower(
        demand in any_demand(),
        measured in latency(),
        more in [duration(), duration(), duration(), duration(), duration()],
        rules in any_rules(),
    ) {
        let demand = Demand { allowance: None, ..demand };
        let mut slower = measured;
        let observed = &mut slower.observed;
        let times = [
            &mut observed.p50,
            &mut observed.p95,
            &mut observed.p99,
            &mut observed.pace.first_token,
            &mut observed.pace.between_tokens,
        ];
        times.into_iter().zip(more).for_each(|(time, more)| *time = time.saturating_add(more));
        let rated = |latency| score(&demand, Candidate { latency, ..candidate() }, &[], &rules);
        let (fast, slow) = (rated(measured), rated(slower));
        prop_assert!(fast >= slow - 1e-9 * slow.abs().max(1.0), "{} < {}", fast, slow);
    }

    #[test]
    fn one_more_candidate_leaves_the_order_of_the_others(
        demand in any_demand(),
        mut candidates in vec(any_candidate(), 1..16),
        rules in any_rules(),
    ) {
        // Unknown prices are compared with the dearest known one, and shares of recovering models take draws.
        candidates.iter_mut().for_each(|candidate| {
            candidate.cost = candidate.cost.or_else(|| euros(0.01));
            candidate.breaker = Breaker::Closed;
        });
        let demand = Demand { reference_cost: demand.reference_cost.or_else(|| euros(0.01)), ..demand };
        let rules = Rules { selection: Selection::Best, ..rules };
        let newcomer = candidates.len() - 1;
        let order = |candidates: &[Candidate<'_>]| plan(&demand, candidates, &rules, usize::MAX, || 0.0).order;
        let mut with = order(&candidates);
        with.retain(|index| *index != newcomer);
        prop_assert_eq!(with, order(&candidates[..newcomer]));
    }
}
