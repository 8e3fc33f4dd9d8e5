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
    let tails = (duration(), duration(), duration(), duration());
    (tails, pace(), number(), number(), proptest::option::of(pace())).prop_map(
        |((p50, p95, p99, first_token_p99), pace, samples, streams, prior)| {
            let (samples, streams) = (samples * 100.0, streams * 100.0);
            let observed = Observed { p50, p95, p99, pace, samples, first_token_p99, streams };
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
    (proptest::option::of(duration()), any::<u32>()).prop_map(|(peak, in_flight)| Load { peak, in_flight })
}

fn any_offer() -> impl Strategy<Value = Offer<'static>> {
    let standing = prop_oneof![
        5 => Just(Standing::Preferred),
        2 => Just(Standing::Secondary),
        1 => Just(Standing::LastResort),
    ];
    (0..8_u8, standing).prop_map(|(served, standing)| Offer { served: served != 0, standing, ..offer() })
}

/// Any state; one in eight or more is left out for one reason or another.
fn any_candidate() -> impl Strategy<Value = Candidate<'static>> {
    let stance = (any_offer(), breaker(), money(), money(), number(), number(), number());
    (stance, latency(), tally(), proptest::option::of(number()), tally(), number(), load()).prop_map(
        |(stance, latency, health, prior, passed, quota, load)| {
            let (offer, breaker, cost, ceiling, priority, preference, weight) = stance;
            let (quality, quota_left) = (Quality { prior, passed }, Some(quota));
            let known =
                Candidate { cost, ceiling, breaker, latency, health, quality, ..Candidate::new(offer) };
            Candidate { priority, preference, weight, quota_left, load, ..known }
        },
    )
}

/// Any that could be tried: nothing stands in its way but the ceiling on the first output and the budget.
fn eligible_candidate() -> impl Strategy<Value = Candidate<'static>> {
    any_candidate().prop_map(|candidate| Candidate {
        offer: Offer { served: true, ..candidate.offer },
        breaker: Breaker::Closed,
        ..candidate
    })
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
    let times = (duration(), proptest::option::of(duration()), proptest::option::of(duration()));
    (any::<bool>(), any::<u32>(), times, money(), money()).prop_map(
        |(stream, expected_tokens, (target, time_left, ceiling), reference_cost, allowance)| Demand {
            stream,
            expected_tokens,
            target,
            time_left,
            first_output_ceiling: ceiling,
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
    fn a_plan_is_a_permutation_of_the_eligible_in_the_order_of_their_standings(
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
        let standing = |index: &usize| candidates[*index].offer.standing;
        prop_assert!(plan.order.is_sorted_by_key(standing));
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
        let weights = plan.weights.named().map(|(_, weight)| weight);
        let sum: f64 = weights.iter().sum();
        prop_assert!(weights.iter().all(|weight| *weight >= 0.0));
        prop_assert!(plan.weights == Weights::NONE || (sum - 1.0).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn only_those_whose_turn_comes_first_are_drawn(
        demand in any_demand(),
        candidates in vec(any_candidate(), 1..24),
        rules in any_rules(),
        units in vec(number(), 1..9),
    ) {
        let plan = plan(&demand, &candidates, &rules, usize::MAX, replay(&units));
        let standing = |index: usize| candidates[index].offer.standing;
        let first = plan.order.first().map(|index| standing(*index));
        for (index, verdict) in plan.verdicts.iter().enumerate() {
            let drawn = verdict.rating().is_some_and(|rating| rating.draw_probability > 0.0);
            prop_assert!(!drawn || Some(standing(index)) == first);
        }
        prop_assert!(plan.drawn.is_none_or(|drawn| drawn.kept == plan.order[0]));
    }

    #[test]
    fn a_ceiling_takes_the_slow_ones_out_and_never_the_last_choice(
        demand in any_demand(),
        candidates in vec(eligible_candidate(), 1..12),
        rules in any_rules(),
    ) {
        let demand = Demand { allowance: None, ..demand };
        let plan = plan(&demand, &candidates, &rules, usize::MAX, || 0.0);
        let slow = |index: usize| demand.too_slow(&candidates[index]).is_some();
        let all = 0..candidates.len();
        prop_assert!(!plan.order.is_empty());
        if plan.ceiling_missed {
            prop_assert_eq!(plan.order.len(), candidates.len());
            let others = all.filter(|index| candidates[*index].offer.standing != Standing::LastResort);
            prop_assert!(others.into_iter().all(slow));
        } else {
            prop_assert!(all.into_iter().all(|index| slow(index) != plan.order.contains(&index)));
        }
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
        let standing = |index: usize| candidates[index].offer.standing;
        let changed = cut.iter().zip(&whole.order).position(|(kept, planned)| kept != planned);
        prop_assert!(changed.is_none_or(|at| at + 1 == most && standing(cut[at]) == Standing::LastResort));
    }

    #[test]
    fn more_weight_and_otherwise_equal_never_scores_lower(
        demand in any_demand(),
        judged in eligible_candidate(),
        rules in any_rules(),
        (less, more) in (0.0..=1.0_f64, 0.0..=1.0_f64).prop_map(|(one, other)| (one.min(other), one.max(other))),
    ) {
        let demand = Demand { allowance: None, ..demand };
        let rated = |weight| score(&demand, Candidate { weight, ..judged }, &[], &rules);
        prop_assert!(rated(more) >= rated(less));
        prop_assert_eq!(rated(f64::NAN), rated(1.0));
    }

    #[test]
    fn the_best_first_order_falls_in_score(
        demand in any_demand(),
        candidates in vec(any_candidate(), 0..24),
        rules in any_rules(),
    ) {
        let rules = Rules { selection: Selection::Best, ..rules };
        let plan = plan(&demand, &candidates, &rules, usize::MAX, || 0.0);
        let key = |index: &usize| {
            let rating = plan.verdicts[*index].rating().unwrap();
            (rating.standing, -rating.ln_score)
        };
        prop_assert!(plan.order.iter().map(key).is_sorted_by(|one, next| one <= next));
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
        let reference_cost = demand.reference_cost.or_else(|| euros(0.01));
        // A newcomer within the ceiling would take the slow ones out.
        let demand = Demand { reference_cost, first_output_ceiling: None, ..demand };
        let rules = Rules { selection: Selection::Best, ..rules };
        let newcomer = candidates.len() - 1;
        let order = |candidates: &[Candidate<'_>]| plan(&demand, candidates, &rules, usize::MAX, || 0.0).order;
        let mut with = order(&candidates);
        with.retain(|index| *index != newcomer);
        prop_assert_eq!(with, order(&candidates[..newcomer]));
    }
}
