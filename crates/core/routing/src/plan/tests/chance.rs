//! The draw, over many draws.

use super::*;

const DRAWS: usize = 20_000;

/// How often each candidate came first.
fn firsts(candidates: &[Candidate<'_>], rules: &Rules) -> Vec<f64> {
    let mut chance = Chance::of("firsts");
    let mut counts = vec![0.0; candidates.len()];
    for _ in 0..DRAWS {
        let plan = plan(&demand(), candidates, rules, usize::MAX, || chance.unit());
        counts[plan.order[0]] += 1.0;
    }
    counts
}

fn probabilities(candidates: &[Candidate<'_>], rules: &Rules) -> Vec<f64> {
    let plan = plan(&demand(), candidates, rules, usize::MAX, || 0.0);
    plan.verdicts.iter().map(|verdict| verdict.rating().unwrap().draw_probability).collect()
}

/// Equally busy, so that the first drawn is kept.
fn of_costs<const N: usize>(costs: [f64; N]) -> [Candidate<'static>; N] {
    let load = Load { peak: Some(Duration::from_millis(20)), ..Load::default() };
    costs.map(|cost| Candidate { cost: euros(cost), load, ..candidate() })
}

/// As routers draw: each request has its own chance, by its id.
#[test]
fn candidates_come_first_as_often_as_their_probabilities_say() {
    const REQUESTS: usize = 100_000;
    let candidates = of_costs([0.001, 0.01, 0.02, 0.05, 0.1]);
    let rules = Rules { weights: Preset::Cheap.weights(), ..Rules::default() };
    let expected = probabilities(&candidates, &rules).into_iter().map(|p| p * REQUESTS as f64);
    let mut observed = [0.0; 5];
    for request in 0..REQUESTS {
        let mut chance = Chance::of(&format!("request-{request}"));
        observed[plan(&demand(), &candidates, &rules, 1, || chance.unit()).order[0]] += 1.0;
    }
    let chi_square: f64 = expected.zip(&observed).map(|(e, o)| (o - e) * (o - e) / e).sum();
    assert!(chi_square < 18.47, "99.9th percentile at 4 degrees of freedom, not {chi_square}: {observed:?}");
}

#[test]
fn greed_goes_from_blind_to_always_the_best() {
    let candidates = of_costs([0.01, 0.02, 0.03]);
    let with = |kappa| {
        let selection = Selection::Draw { kappa, explore: 0.0 };
        probabilities(&candidates, &Rules { selection, ..BEST })
    };
    assert!(with(0.0).iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-12));
    assert!(with(4.0)[0] < with(8.0)[0] && with(8.0)[0] < with(50.0)[0]);
    assert!(with(1_000.0)[0] > 0.999_999);
    assert_eq!(with(f64::INFINITY), [1.0, 0.0, 0.0]);
    assert_eq!(probabilities(&candidates, &BEST), [1.0, 0.0, 0.0]);
}

#[test]
fn every_healthy_candidate_is_explored_and_an_ailing_one_is_not() {
    let ailing = Tally { good: 10.0, all: 100.0 };
    let slow = Candidate { latency: taking(9_000), ..candidate() };
    let candidates = [candidate(), slow, Candidate { health: ailing, ..slow }];
    let probabilities = probabilities(&candidates, &Rules::default());
    assert!((probabilities[1] - 0.01).abs() < 1e-9, "{probabilities:?}");
    assert!(probabilities[2] < 1e-9, "{probabilities:?}");
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn the_last_resort_is_not_drawn_while_there_is_another() {
    let candidates = [last_resort(), candidate()];
    assert_eq!(probabilities(&candidates, &Rules::default()), [0.0, 1.0]);
    assert_eq!(firsts(&candidates, &Rules::default())[0], 0.0);
}

#[test]
fn a_recovering_model_gets_its_share_of_an_even_draw() {
    let [recovering, other] = of_costs([0.01, 0.01]);
    let candidates = [Candidate { breaker: Breaker::HalfOpen(0.1), ..recovering }, other];
    let share = firsts(&candidates, &Rules::default())[0] / DRAWS as f64;
    assert!((0.04..0.06).contains(&share), "half of the tenth let through, not {share}");
}

#[test]
fn two_choices_keep_loads_level_where_always_the_best_piles_up() {
    let busiest = |selection| {
        let mut chance = Chance::of("busiest");
        let mut candidates = of_costs([0.010, 0.011, 0.012, 0.013, 0.014]);
        for _ in 0..500 {
            let rules = Rules { selection, ..BEST };
            let plan = plan(&demand(), &candidates, &rules, 3, || chance.unit());
            candidates[plan.order[0]].load.in_flight += 1;
        }
        candidates.iter().map(|candidate| candidate.load.in_flight).max().unwrap()
    };
    assert_eq!(busiest(Selection::Best), 500);
    let due = 500.0 * probabilities(&of_costs([0.010, 0.011, 0.012, 0.013, 0.014]), &Rules::default())[0];
    let busiest = f64::from(busiest(Selection::default()));
    assert!(busiest <= 1.1 * due, "{busiest} calls, {due} by its probability");
}

/// A request a step; the calls of the slow model take nine times as long as those of the fast one.
#[test]
fn a_fast_model_gets_no_more_calls_than_its_probability_says() {
    const STEPS: usize = 20_000;
    const STEPS_OF_A_CALL: [usize; 3] = [90, 30, 10];
    let costs = of_costs([0.02, 0.02, 0.025]);
    let mut candidates: Vec<_> = costs
        .iter()
        .zip([9, 3, 1])
        .map(|(of_cost, millis)| {
            let load = Load { peak: Some(Duration::from_millis(millis)), ..Load::default() };
            Candidate { load, latency: taking(millis), ..*of_cost }
        })
        .collect();
    let rules = Rules { weights: Preset::Cheap.weights(), ..Rules::default() };
    let expected = probabilities(&candidates, &rules);
    let (mut chance, mut calls, mut under_way) = (Chance::of("fast"), [0.0; 3], Vec::new());
    for step in 0..STEPS {
        let first = plan(&demand(), &candidates, &rules, 3, || chance.unit()).order[0];
        calls[first] += 1.0 / STEPS as f64;
        under_way.push((step + STEPS_OF_A_CALL[first], first));
        under_way.retain(|(end, _)| *end > step);
        for (index, candidate) in candidates.iter_mut().enumerate() {
            candidate.load.in_flight = under_way.iter().filter(|(_, model)| *model == index).count() as u32;
        }
    }
    for (share, probability) in calls.into_iter().zip(&expected) {
        assert!((share / probability - 1.0).abs() < 0.15, "{calls:?} of {expected:?}");
    }
}

#[test]
fn a_selection_that_makes_no_sense_is_refused_by_name() {
    let invalid = |kappa, explore| Selection::Draw { kappa, explore }.checked().unwrap_err().to_string();
    assert_eq!(invalid(f64::NAN, 0.0), "`kappa` must be a number from 0 to 1000");
    assert_eq!(invalid(4.0, 0.6), "`explore` must be a number from 0 to 0.5");
    assert_eq!(Selection::default().checked(), Ok(Selection::default()));
}

#[test]
fn a_model_that_was_never_called_is_tried_though_nobody_knows_its_speed() {
    let quick = Load { peak: Some(Duration::from_micros(50)), ..Load::default() };
    let known = Candidate { load: quick, ..candidate() };
    let selection = Selection::Draw { kappa: 0.0, explore: 0.0 };
    let counts = firsts(&[known, known, candidate()], &Rules { selection, ..BEST });
    let share = counts[2] / DRAWS as f64;
    assert!((0.3..0.37).contains(&share), "drawn blindly a third of the time, not {share}");
}
