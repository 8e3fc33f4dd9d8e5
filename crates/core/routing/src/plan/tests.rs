use super::*;
use crate::{
    Access, Breaker, Chance, Latency, Load, ModelPattern, Needs, Observed, Offer, Pace, Preset, Quality,
    Tally, plan,
};
use signalbox_types::{Capabilities, ErrorReason, ModelFacts, ModelRef, Money, Tier};
use std::{sync::LazyLock, time::Duration};

mod chance;
mod properties;

static MODEL: LazyLock<ModelRef> = LazyLock::new(|| ModelRef::new("a", "m"));
static FACTS: LazyLock<ModelFacts> = LazyLock::new(ModelFacts::default);

const BEST: Rules = Rules { weights: Preset::Balanced.weights(), selection: Selection::Best };

fn offer() -> Offer<'static> {
    Offer {
        model: &MODEL,
        facts: Some(&FACTS),
        configured: true,
        served: true,
        held_for: None,
        standing: Standing::Preferred,
    }
}

fn candidate() -> Candidate<'static> {
    Candidate { cost: euros(0.01), ..Candidate::new(offer()) }
}

fn last_resort() -> Candidate<'static> {
    Candidate { offer: Offer { standing: Standing::LastResort, ..offer() }, cost: euros(0.0), ..candidate() }
}

fn demand() -> Demand<'static> {
    let needs = Needs { capabilities: Capabilities::NONE, prompt_tokens: 1, answer_tokens: 1 };
    Demand { reference_cost: euros(0.01), expected_tokens: 100, ..Demand::new(needs) }
}

fn euros(euros: f64) -> Option<Money> {
    Some(Money::from_nano_eur((euros * 1e9) as i64))
}

/// Measured so often that the catalogue's word no longer counts.
fn taking(millis_per_token: u64) -> Latency {
    let time = Duration::from_millis(millis_per_token);
    let pace = Pace { first_token: time, between_tokens: time };
    let observed =
        Observed { p50: time, p95: time, p99: time, pace, samples: 1e9, first_token_p99: time, streams: 1e9 };
    Latency { observed, prior: None }
}

fn only(weight: impl Fn(&mut Weights)) -> Rules {
    let mut weights = Weights::NONE;
    weight(&mut weights);
    Rules { weights, ..BEST }
}

fn ordered(candidates: &[Candidate<'_>], rules: &Rules) -> Vec<usize> {
    plan(&demand(), candidates, rules, usize::MAX, || 0.0).order
}

#[test]
fn each_weight_alone_orders_by_its_own_factor() {
    let healthy = |good| Tally { good, all: 100.0 };
    let quality = |passed| Quality { prior: Some(0.5), passed: healthy(passed) };
    let worst = Candidate {
        cost: euros(0.09),
        latency: taking(90),
        health: healthy(50.0),
        quality: quality(20.0),
        quota_left: Some(0.01),
        ..candidate()
    };
    type Weigh = fn(&mut Weights);
    let cases: [(Candidate<'_>, Weigh); 5] = [
        (Candidate { cost: euros(0.02), ..worst }, |weights| weights.cost = 1.0),
        (Candidate { latency: taking(20), ..worst }, |weights| weights.latency = 7.0),
        (Candidate { health: healthy(99.0), ..worst }, |weights| weights.health = 1.0),
        (Candidate { quality: quality(90.0), ..worst }, |weights| weights.quality = 1.0),
        (Candidate { quota_left: Some(0.1), ..worst }, |weights| weights.quota = 1.0),
    ];
    let all = cases.map(|(better, _)| better);
    for (position, (_, weight)) in cases.iter().enumerate() {
        let others = (0..5).filter(|other| *other != position);
        let expected: Vec<usize> = std::iter::once(position).chain(others).collect();
        assert_eq!(ordered(&all, &only(weight)), expected, "weight {position}");
    }
}

#[test]
fn a_score_is_the_weighted_geometric_mean_of_its_factors_times_the_preference() {
    let judged = Candidate {
        health: Tally { good: 90.0, all: 98.0 },
        quality: Quality { prior: Some(0.8), passed: Tally { good: 40.0, all: 50.0 } },
        latency: taking(50),
        quota_left: Some(0.1),
        priority: 2.0,
        preference: -1.0,
        ..candidate()
    };
    let plan = plan(&demand(), &[judged], &BEST, 1, || 0.0);
    let rating = plan.verdicts[0].rating().unwrap();
    let expected = [0.5, (-0.5_f64).exp(), 0.91 * 0.91, 0.8, 0.5];
    for ((name, factor), expected) in rating.factors.named().into_iter().zip(expected) {
        assert!((factor - expected).abs() < 1e-6, "{name}: {factor}, not {expected}");
    }
    let weights = plan.weights.named().map(|(_, weight)| weight);
    let mean: f64 = expected.iter().zip(weights).map(|(factor, weight)| factor.powf(weight)).product();
    assert_eq!(rating.preference, 2.0);
    assert!((rating.score - 2.0 * mean).abs() < 1e-6);
    assert_eq!(rating.draw_probability, 1.0);
}

#[test]
fn a_factor_near_zero_vetoes_whatever_the_others_say() {
    let dead = Candidate { latency: taking(5_000), cost: euros(0.0), ..candidate() };
    let modest = Candidate { latency: taking(100), cost: euros(0.02), ..candidate() };
    assert_eq!(ordered(&[dead, modest], &BEST), [1, 0]);
}

#[test]
fn candidates_beyond_hope_are_still_told_apart() {
    let hopeless = |per_token| Candidate { latency: taking(per_token), ..candidate() };
    let candidates = [9_000_000, 7_000_000, 8_000_000].map(hopeless);
    let plan = plan(&demand(), &candidates, &BEST, 3, || 0.0);
    assert!(plan.verdicts.iter().all(|verdict| verdict.rating().unwrap().score == 0.0));
    assert_eq!(plan.order, [1, 2, 0]);
}

#[test]
fn an_unknown_price_is_never_taken_for_cheaper_than_a_known_one() {
    let rules = only(|weights| weights.cost = 1.0);
    let unknown = Candidate { cost: None, ..candidate() };
    let priced = |cost| Candidate { cost: euros(cost), ..candidate() };
    assert_eq!(ordered(&[priced(0.5), unknown, priced(0.001)], &rules), [2, 0, 1]);
    assert_eq!(ordered(&[priced(0.001), unknown, priced(0.005)], &rules), [0, 2, 1]);
    let alone = plan(&Demand { reference_cost: None, ..demand() }, &[unknown], &rules, 1, || 0.0);
    assert_eq!(alone.verdicts[0].rating().unwrap().factors.cost, 0.5);
}

#[test]
fn without_a_reference_the_median_of_the_known_costs_is_half_the_factor() {
    let candidates = [0.5, 0.01, 0.02].map(|cost| Candidate { cost: euros(cost), ..candidate() });
    let plan = plan(&Demand { reference_cost: None, ..demand() }, &candidates, &BEST, 3, || 0.0);
    assert_eq!(plan.verdicts[2].rating().unwrap().factors.cost, 0.5);
}

#[test]
fn a_list_that_is_cut_keeps_one_of_a_second_vendor() {
    let elsewhere = ModelRef::new("b", "m");
    let bad = Candidate { cost: euros(0.1), ..candidate() };
    let other = Candidate { offer: Offer { model: &elsewhere, ..offer() }, cost: euros(1.0), ..candidate() };
    let candidates = [candidate(), bad, bad, bad, other];
    let cut_to = |most| plan(&demand(), &candidates, &BEST, most, || 0.0).order;
    assert_eq!(cut_to(usize::MAX), [0, 1, 2, 3, 4]);
    assert_eq!(cut_to(3), [0, 1, 4]);
    assert_eq!(cut_to(1), [0]);
}

#[test]
fn the_last_resort_comes_last_and_stays_when_the_list_is_cut() {
    let bad = Candidate { latency: taking(4_000), ..candidate() };
    let candidates = [last_resort(), bad, candidate(), bad];
    let cut_to = |most| plan(&demand(), &candidates, &BEST, most, || 0.0).order;
    assert_eq!(cut_to(usize::MAX), [2, 1, 3, 0]);
    assert_eq!(cut_to(3), [2, 1, 0]);
    assert_eq!(cut_to(2), [2, 0]);
    assert_eq!(cut_to(1), [2], "one attempt goes to the best, not to the last resort");
    assert!(cut_to(0).is_empty());
    let slow = Candidate { latency: taking(900), ..last_resort() };
    assert_eq!(ordered(&[slow, last_resort()], &BEST), [1, 0], "several are ordered by score");
}

fn secondary() -> Candidate<'static> {
    Candidate { offer: Offer { standing: Standing::Secondary, ..offer() }, ..candidate() }
}

#[test]
fn secondary_ones_follow_every_preferred_one_and_come_first_where_none_is_left() {
    let cheap = Candidate { cost: euros(0.001), ..secondary() };
    let bad = Candidate { latency: taking(4_000), ..candidate() };
    let candidates = [last_resort(), secondary(), cheap, bad, candidate()];
    assert_eq!(ordered(&candidates, &BEST), [4, 3, 2, 1, 0]);
    assert_eq!(plan(&demand(), &candidates, &BEST, 3, || 0.0).order, [4, 3, 0]);
    let drawn = plan(&demand(), &candidates[..3], &Rules::default(), 3, || 0.0);
    assert_eq!(drawn.order, [1, 2, 0], "drawn among the secondary ones");
}

#[test]
fn what_rate_limits_and_strikes_leave_multiplies_the_score() {
    let halved = Candidate { weight: 0.5, ..candidate() };
    let judged = plan(&demand(), &[candidate(), halved], &BEST, 2, || 0.0);
    let score = |index: usize| judged.verdicts[index].rating().unwrap().score;
    assert!((score(1) - score(0) / 2.0).abs() < 1e-12);
    assert_eq!(ordered(&[halved, candidate()], &BEST), [1, 0]);
    assert_eq!(ordered(&[halved, candidate()], &Rules::CATALOGUE_ORDER), [0, 1], "nothing counts there");
}

/// Streams and whole answers of 100 tokens that take this long to their first useful output, in 99 of 100 cases.
fn first_output(within: Duration, samples: f64) -> Candidate<'static> {
    let observed = Observed {
        p99: within / 100,
        first_token_p99: within,
        samples,
        streams: samples,
        ..Observed::default()
    };
    Candidate { latency: Latency { observed, prior: None }, ..candidate() }
}

#[test]
fn who_is_slower_than_the_ceiling_is_left_out_while_another_holds_it() {
    let seconds = Duration::from_secs;
    let limited = |stream| Demand { first_output_ceiling: Some(seconds(2)), stream, ..demand() };
    let (slow, quick) = (first_output(seconds(3), 20.0), first_output(seconds(1), 20.0));
    let rumour = first_output(seconds(3), 19.0);
    let own = Candidate { latency: slow.latency, ..last_resort() };
    let planned = |candidates: &[Candidate<'_>]| plan(&limited(true), candidates, &BEST, 9, || 0.0);
    let plan_of_all = planned(&[slow, quick, rumour, own]);
    let mut order = plan_of_all.order.clone();
    let last = (order.pop(), plan_of_all.ceiling_missed);
    assert_eq!(last, (Some(3), false), "a last resort is no faster than it is");
    order.sort_unstable();
    assert_eq!(order, [1, 2], "too few calls say nothing");
    let told = plan_of_all.verdicts[0].exclusion().unwrap().to_string();
    assert_eq!(told, "too slow: first output within 3.0 s (p99), 2.0 s allowed");
    let nobody_else = planned(&[slow, own]);
    assert_eq!((nobody_else.order, nobody_else.ceiling_missed), (vec![0, 1], true));
    // How long a whole answer takes is a matter of its length.
    assert_eq!(plan(&limited(false), &[slow, quick], &BEST, 9, || 0.0).order.len(), 2);
}

#[test]
fn an_idle_candidate_of_small_probability_does_not_overrule_the_draw_by_chance() {
    let idle = Candidate { latency: taking(10), ..candidate() };
    let first = |in_flight, millis_per_token| {
        let load = Load { in_flight, peak: Some(Duration::from_millis(millis_per_token)) };
        let preferred = Candidate { preference: 3.0, load, ..idle };
        plan(&demand(), &[preferred, idle, idle], &Rules::default(), 3, || 0.5).order[0]
    };
    assert_eq!(first(0, 10), 0);
    assert_eq!(first(8, 10), 0, "nearly all calls under way are due to it");
    assert_eq!(first(0, 25), 0, "one slow answer is chance");
    assert_ne!(first(0, 60), 0, "six times as slow is not");
}

#[test]
fn that_a_vendor_is_not_configured_is_told_last() {
    let off = Candidate { offer: Offer { configured: false, ..offer() }, ..candidate() };
    let all: [ModelPattern; 1] = ["*".parse().unwrap()];
    let denied = Demand { access: Access { deny: &all, ..Access::default() }, ..demand() };
    let candidates = [off, candidate()];
    let failure = plan(&denied, &candidates, &BEST, 9, || 0.0).refusal(&candidates);
    assert_eq!(failure.reason, ErrorReason::PermissionDenied);
}

#[test]
fn without_weights_the_catalogue_order_is_kept() {
    let lapsed = Candidate { offer: Offer { served: false, ..offer() }, ..candidate() };
    let slow = Candidate { latency: taking(4_000), cost: None, ..candidate() };
    let candidates = [slow, lapsed, candidate(), last_resort()];
    assert_eq!(ordered(&candidates, &Rules::CATALOGUE_ORDER), [0, 2, 3]);
}

#[test]
fn equal_scores_keep_the_catalogue_order_however_many_there_are() {
    let candidates: Vec<Candidate<'_>> = (0..60)
        .map(|index| Candidate { cost: euros([0.03, 0.01, 0.02][index % 3]), ..candidate() })
        .collect();
    let expected: Vec<usize> = [1, 2, 0].into_iter().flat_map(|first| (first..60).step_by(3)).collect();
    assert_eq!(ordered(&candidates, &BEST), expected);
}

#[test]
fn what_the_tenant_and_the_budget_do_not_allow_is_left_out_and_told() {
    let all: [ModelPattern; 1] = ["*".parse().unwrap()];
    let candidates = [Candidate { tier: Some(Tier::Premium), ceiling: euros(0.5), ..candidate() }];
    let denied = Access { deny: &all, ..Access::default() };
    let cases = [
        (
            Demand { access: denied, ..demand() },
            ErrorReason::PermissionDenied,
            "a/m on the tenant's deny list",
        ),
        (
            Demand { tiers: &[Tier::Economy], ..demand() },
            ErrorReason::BudgetExhausted,
            "a/m the budget leaves no premium models",
        ),
        (
            Demand { allowance: euros(0.25), ..demand() },
            ErrorReason::BudgetExhausted,
            "a/m could cost €0.50, the budget leaves €0.25",
        ),
    ];
    let all_of_it = Demand { tiers: &[Tier::Premium], allowance: euros(0.5), ..demand() };
    assert_eq!(plan(&all_of_it, &candidates, &BEST, 3, || 0.0).order, [0]);
    for (demand, reason, told) in cases {
        let plan = plan(&demand, &candidates, &BEST, 3, || 0.0);
        let refusal = plan.refusal(&candidates);
        assert!(plan.order.is_empty());
        assert_eq!(refusal.reason, reason);
        assert_eq!(refusal.message, format!("no model can serve this request: {told}"));
    }
}

#[test]
fn a_model_without_a_price_fits_no_limited_budget_and_a_free_one_fits_any() {
    let unpriced = Candidate { ceiling: None, ..last_resort() };
    let free = Candidate { ceiling: euros(0.0), ..candidate() };
    let limited = Demand { allowance: euros(0.0), ..demand() };
    let planned = plan(&limited, &[unpriced, free], &BEST, 3, || 0.0);
    assert_eq!(planned.order, [1]);
    assert_eq!(planned.verdicts[0].exclusion(), Some(&Exclusion::PriceUnknown));
    let wary = Demand { known_price: true, ..demand() };
    assert_eq!(plan(&wary, &[unpriced, free], &BEST, 3, || 0.0).order, [1]);
}

#[test]
fn a_second_list_narrows_the_first_and_a_tier_that_is_not_the_tenants_is_no_matter_of_money() {
    let [all, other]: [[ModelPattern; 1]; 2] = [["*".parse().unwrap()], ["b/*".parse().unwrap()]];
    let premium = [Candidate { tier: Some(Tier::Premium), ..candidate() }];
    let refused = |demand: Demand<'_>| plan(&demand, &premium, &BEST, 3, || 0.0).refusal(&premium);
    let access = Access { allow: Some(&all), ..Access::default() };
    let narrower = Access { allow: Some(&other), ..Access::default() };
    let not_allowed = refused(Demand { access, narrower, ..demand() });
    assert_eq!(not_allowed.reason, ErrorReason::PermissionDenied);
    let tier = refused(Demand { allowed_tiers: &[Tier::Economy], ..demand() });
    assert_eq!(tier.reason, ErrorReason::PermissionDenied);
    assert!(tier.message.ends_with("a/m the tenant may not use premium models"), "{}", tier.message);
}

#[test]
fn an_open_breaker_closes_the_way_and_says_when_to_come_back() {
    let breaker = |seconds| Breaker::Open(Duration::from_secs(seconds));
    let held = Candidate {
        offer: Offer { held_for: Some(Duration::from_secs(9)), ..offer() },
        breaker: breaker(30),
        ..candidate()
    };
    let open = Candidate { breaker: breaker(4), ..candidate() };
    let candidates = [held, open];
    let refusal = plan(&demand(), &candidates, &BEST, 3, || 0.0).refusal(&candidates);
    assert_eq!(refusal.retry_after, Some(Duration::from_secs(4)));
    assert_eq!(refusal.reason, ErrorReason::VendorError);
    assert!(refusal.message.ends_with("a/m failed too often, tried again in 4.0 s"), "{}", refusal.message);
}

#[test]
fn a_recovering_model_is_let_through_by_its_share_and_its_past_is_not_held_against_it() {
    let failed = Tally { good: 0.0, all: 100.0 };
    let recovering = Candidate { breaker: Breaker::HalfOpen(0.08), health: failed, ..candidate() };
    let candidates = [recovering, Candidate { cost: euros(0.1), ..candidate() }];
    let plan = |unit| plan(&demand(), &candidates, &BEST, 3, || unit);
    assert_eq!(plan(0.07).order, [0, 1]);
    assert_eq!(plan(0.09).order, [1]);
    assert_eq!(plan(0.09).verdicts[0].exclusion(), Some(&Exclusion::Recovering { percent: 8 }));
}

#[test]
fn the_busier_of_the_two_drawn_is_the_first_fallback() {
    let busy = |in_flight, peak| Candidate {
        load: Load { in_flight, peak: Some(Duration::from_millis(peak)) },
        latency: taking(20),
        ..candidate()
    };
    let first =
        |candidates: &[Candidate<'_>]| plan(&demand(), candidates, &Rules::default(), 3, || 0.0).order[0];
    assert_eq!(first(&[busy(9, 20), busy(3, 20)]), 1, "fewer calls under way");
    assert_eq!(first(&[busy(9, 200), busy(9, 100)]), 1, "not as slow as the other is just now");
    assert_eq!(first(&[busy(9, 2), busy(9, 1)]), 0, "both faster than they were expected");
    assert_eq!(first(&[busy(9, 20), busy(9, 20)]), 0, "no difference");
}

#[test]
fn nobody_to_choose_from_is_an_empty_plan() {
    let plan = plan(&demand(), &[], &Rules::default(), 3, || 0.5);
    assert_eq!(plan, Plan { weights: plan.weights, ..Plan::default() });
    assert_eq!(plan.refusal(&[]).reason, ErrorReason::UnknownModel);
}
