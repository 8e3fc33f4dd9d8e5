//! What budgets do, and which lists are refused.

use super::*;
use proptest::prelude::*;
use signalbox_types::Tier;

fn at(used_share: f64, effect: Effect) -> Threshold {
    Threshold { used_share, before_elapsed_share: None, effect }
}

fn before(used_share: f64, elapsed: f64, effect: Effect) -> Threshold {
    Threshold { before_elapsed_share: Some(elapsed), ..at(used_share, effect) }
}

/// The example of the documentation.
fn example() -> Thresholds {
    let list = vec![
        at(0.5, Effect::Notify),
        before(0.9, 0.5, Effect::LimitTier(Tier::Economy)),
        at(0.95, Effect::CacheOrBatchOnly),
        at(1.0, Effect::Refuse),
    ];
    Thresholds::new(list, Period::Monthly, Enforcement::Hard).unwrap()
}

fn look(used: f64, elapsed: f64) -> Position<'static> {
    Position { period_id: "2026-11", used_share: used, elapsed_share: Some(elapsed) }
}

fn effect(latch: &mut Latch, used: f64, elapsed: f64) -> Option<Effect> {
    latch.update(&example(), &look(used, elapsed)).map(|found| found.effect)
}

fn refused(list: Vec<Threshold>, period: Period, enforcement: Enforcement) -> Vec<(String, String)> {
    let violations = Thresholds::new(list, period, enforcement).unwrap_err();
    violations.into_iter().map(|found| (found.field, found.description)).collect()
}

#[test]
fn the_strictest_threshold_that_is_reached_acts() {
    let fresh = |used, elapsed| effect(&mut Latch::default(), used, elapsed);
    assert_eq!(fresh(0.6, 0.2), None, "a notice does not act");
    assert_eq!(fresh(0.9, 0.49), Some(Effect::LimitTier(Tier::Economy)));
    assert_eq!(fresh(0.9, 0.5), None, "the middle of the month is over");
    assert_eq!(fresh(0.96, 0.9), Some(Effect::CacheOrBatchOnly));
    assert_eq!(fresh(1.0, 0.9), Some(Effect::Refuse));
}

#[test]
fn what_acts_is_told_by_its_name() {
    let found = Latch::default().update(&example(), &look(0.97, 0.2)).unwrap();
    assert_eq!(found.name("monthly"), "monthly 95%");
    assert_eq!(found.tier, Some(Tier::Economy), "the batch lane is bound by the tier, too");
    let odd = InForce { used_share: 0.925, ..found };
    assert_eq!(odd.name("key-7"), "key-7 92.5%");
}

#[test]
fn a_threshold_that_acts_lets_go_only_two_points_below() {
    let mut latch = Latch::default();
    assert_eq!(effect(&mut latch, 0.95, 0.7), Some(Effect::CacheOrBatchOnly));
    assert_eq!(effect(&mut latch, 0.931, 0.7), Some(Effect::CacheOrBatchOnly));
    assert_eq!(effect(&mut latch, 0.929, 0.7), None);
    assert_eq!(effect(&mut latch, 0.949, 0.7), None, "and has to be reached again");
}

#[test]
fn a_new_period_starts_with_nothing_in_force() {
    let mut latch = Latch::default();
    assert_eq!(effect(&mut latch, 0.95, 0.99), Some(Effect::CacheOrBatchOnly));
    let december = Position { period_id: "2026-12", ..look(0.94, 0.0) };
    assert_eq!(latch.update(&example(), &december).unwrap().effect, Effect::LimitTier(Tier::Economy));
}

#[test]
fn a_threshold_that_was_removed_acts_no_more() {
    let mut latch = Latch::default();
    assert_eq!(effect(&mut latch, 0.95, 0.7), Some(Effect::CacheOrBatchOnly));
    let none = Thresholds::new(Vec::new(), Period::Monthly, Enforcement::Hard).unwrap();
    assert_eq!(latch.update(&none, &look(0.95, 0.7)), None);
}

#[test]
fn a_soft_budget_beyond_its_limit_is_served_by_the_cheapest_models() {
    let soft = Thresholds::new(Vec::new(), Period::Daily, Enforcement::Soft).unwrap();
    let found = Latch::default().update(&soft, &look(3.0, 0.5)).unwrap();
    assert_eq!((found.effect, found.used_share), (Effect::LimitTier(Tier::Economy), 1.0));
    assert_eq!(Noticed::default().update(&soft, &look(3.0, 0.5)).len(), 1, "and the operators are told");
}

#[test]
fn a_hard_budget_at_its_limit_leaves_free_models_unless_it_says_otherwise() {
    let plain = Thresholds::new(vec![at(1.0, Effect::Notify)], Period::Prepaid, Enforcement::Hard).unwrap();
    let look = Position { elapsed_share: None, ..look(1.0, 0.0) };
    assert_eq!(Latch::default().update(&plain, &look).unwrap().effect, Effect::FreeOnly);
    assert_eq!(Latch::default().update(&example(), &look).unwrap().effect, Effect::Refuse);
}

#[test]
fn a_limit_of_nothing_is_used_up() {
    assert_eq!(used_share(0, 0), 1.0);
    assert_eq!(used_share(-5, 10), 0.0);
    assert_eq!(used_share(15, 10), 1.5);
}

#[test]
fn each_level_is_told_once_a_period() {
    let mut noticed = Noticed::default();
    let mut levels = |used, elapsed, period_id| -> Vec<f64> {
        let found = noticed.update(&example(), &Position { period_id, ..look(used, elapsed) });
        found.iter().map(|notice| notice.used_share).collect()
    };
    assert_eq!(levels(0.4, 0.1, "2026-11"), [] as [f64; 0]);
    assert_eq!(levels(0.96, 0.1, "2026-11"), [0.5, 0.9, 0.95]);
    assert_eq!(levels(0.4, 0.1, "2026-11"), [] as [f64; 0]);
    assert_eq!(levels(1.1, 0.2, "2026-11"), [1.0]);
    assert_eq!(levels(0.5, 0.2, "2026-12"), [0.5]);
}

#[test]
fn a_level_that_tells_and_acts_is_one_notice() {
    let list = vec![at(1.0, Effect::Notify)];
    let thresholds = Thresholds::new(list, Period::Daily, Enforcement::Hard).unwrap();
    let found = Noticed::default().update(&thresholds, &look(1.0, 0.5));
    assert_eq!(found, [Notice { used_share: 1.0, effect: Effect::FreeOnly }]);
}

#[test]
fn the_strictest_of_several_budgets_wins_and_is_named() {
    let force = |effect: Effect, used_share| InForce { effect, used_share, tier: effect.tier() };
    let found = strictest([
        ("daily", force(Effect::LimitTier(Tier::Standard), 0.8)),
        ("key", force(Effect::CacheOrBatchOnly, 0.7)),
        ("scene", force(Effect::LimitTier(Tier::Economy), 0.9)),
    ])
    .unwrap();
    assert_eq!((found.effect, found.threshold.as_str()), (Effect::CacheOrBatchOnly, "key 70%"));
    assert_eq!(found.tiers(), [Tier::Economy]);
    assert_eq!(strictest([]), None);
}

#[test]
fn shares_out_of_range_are_refused_with_their_field() {
    for share in [0.0, -0.5, 1.01, f64::NAN, f64::INFINITY] {
        let found = refused(vec![at(share, Effect::Notify)], Period::Monthly, Enforcement::Hard);
        assert_eq!(found[0].0, "thresholds[0].used_share");
        let list = vec![before(0.5, share, Effect::Notify)];
        let found = refused(list, Period::Monthly, Enforcement::Hard);
        assert_eq!(found[0].0, "thresholds[0].before_elapsed_share");
    }
}

#[test]
fn thresholds_that_do_not_rise_are_refused() {
    let list = vec![at(0.9, Effect::Notify), at(0.9, Effect::FreeOnly), at(0.5, Effect::Refuse)];
    let found = refused(list, Period::Monthly, Enforcement::Hard);
    let expected = [
        ("thresholds[1].used_share", "90% is there already; no two may be alike"),
        ("thresholds[2].used_share", "50% comes after 90%; list them in rising order"),
    ];
    assert_eq!(found, expected.map(|(field, text)| (field.to_owned(), text.to_owned())));
}

#[test]
fn a_threshold_that_can_never_act_is_refused() {
    let list = vec![at(0.5, Effect::FreeOnly), at(0.9, Effect::LimitTier(Tier::Economy))];
    let found = refused(list, Period::Monthly, Enforcement::Hard);
    assert_eq!(found[0].0, "thresholds[1].action");
    assert!(found[0].1.contains("thresholds[0]"), "{}", found[0].1);
    // This one acts in the second half of the month.
    let list = vec![before(0.5, 0.5, Effect::FreeOnly), at(0.9, Effect::LimitTier(Tier::Economy))];
    assert!(Thresholds::new(list, Period::Monthly, Enforcement::Hard).is_ok());
}

#[test]
fn what_a_kind_of_budget_cannot_do_is_refused() {
    let field = |list, period, enforcement| refused(list, period, enforcement).swap_remove(0).0;
    let elapsed = vec![before(0.5, 0.5, Effect::Notify)];
    assert_eq!(field(elapsed, Period::Prepaid, Enforcement::Hard), "thresholds[0].before_elapsed_share");
    let refuses = vec![at(1.0, Effect::Refuse)];
    assert_eq!(field(refuses, Period::Monthly, Enforcement::Soft), "thresholds[0].action");
    let premium = vec![at(0.5, Effect::LimitTier(Tier::Premium))];
    assert_eq!(field(premium, Period::Monthly, Enforcement::Hard), "thresholds[0].tier");
    let many = (1..=33).map(|share| at(f64::from(share) / 100.0, Effect::Notify)).collect();
    assert_eq!(field(many, Period::Monthly, Enforcement::Hard), "thresholds");
}

proptest! {
    #[test]
    fn more_use_is_never_answered_with_less(used in prop::collection::vec(0.0f64..1.2, 1..50), elapsed in 0.0f64..1.0) {
        let (mut latch, mut used) = (Latch::default(), used);
        used.sort_by(f64::total_cmp);
        let mut last = None;
        for used in used {
            let now = effect(&mut latch, used, elapsed);
            prop_assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn small_swings_change_nothing(middle in 0.0f64..1.1, swings in prop::collection::vec(0.0f64..0.0199, 1..50)) {
        let mut latch = Latch::default();
        let first = effect(&mut latch, middle, 0.7);
        for swing in swings {
            prop_assert_eq!(effect(&mut latch, middle - swing, 0.7), first);
        }
    }
}
