use super::*;
use proptest::prelude::*;
use std::time::UNIX_EPOCH;

const BASIS: Digest = Digest([7; 16]);
const TARGET: f64 = 0.99;
const FLOOR: f32 = 0.85;

fn at(days: u32) -> SystemTime {
    UNIX_EPOCH + Duration::from_hours(24) * (20_000 + days)
}

impl Pool {
    fn serves(&self, similarity: f32, target: f64, day: u32) -> bool {
        self.standing(target, FLOOR, at(day)).served_from.is_some_and(|from| similarity >= from)
    }
}

fn pool(observations: &[(f32, u32, u32)]) -> Pool {
    let mut pool = Pool::new(BASIS, at(0));
    for &(similarity, right, wrong) in observations {
        (0..right).for_each(|_| pool.observe(similarity, true, at(0)));
        (0..wrong).for_each(|_| pool.observe(similarity, false, at(0)));
    }
    pool
}

#[test]
fn nothing_is_served_on_no_evidence() {
    let standing = pool(&[]).standing(TARGET, FLOOR, at(0));
    assert_eq!(standing, Standing { served_from: None, lower_bound: 0.0, observed: Tally::default() });
    assert!(pool(&[]).is_empty());
}

/// The numbers that docs/cache.md gives.
#[test]
fn just_above_the_floor_99_percent_take_453_clean_observations_or_758_with_a_wrong_one() {
    for (right, wrong, is_served) in [(452, 0, false), (453, 0, true), (756, 1, false), (757, 1, true)] {
        assert_eq!(pool(&[(FLOOR, right, wrong)]).serves(FLOOR, TARGET, 0), is_served, "{right} and {wrong}");
    }
}

#[test]
fn clean_observations_open_the_similarities_they_were_made_at_and_those_above() {
    let pool = pool(&[(0.93, 700, 0)]);
    assert!(pool.serves(0.93, TARGET, 0));
    assert!(pool.serves(0.99, TARGET, 0));
    assert!(!pool.serves(0.91, TARGET, 0), "nobody has seen what lies below");
    let standing = pool.standing(TARGET, FLOOR, at(0));
    assert!(standing.lower_bound >= TARGET && standing.observed.right == 700.0, "{standing:?}");
}

#[test]
fn the_rarer_the_floor_lets_near_answers_in_the_sooner_they_are_shown_to_be_right() {
    let from = |floor| pool(&[(0.97, 500, 0)]).standing(TARGET, floor, at(0)).served_from;
    assert_eq!((from(0.80), from(0.96), from(0.965)), (None, Some(0.96), Some(0.965)));
}

#[test]
fn errors_far_away_do_not_close_what_is_near() {
    let pool = pool(&[(0.86, 100, 100), (0.97, 2_000, 0)]);
    assert_eq!(pool.standing(TARGET, FLOOR, at(0)).served_from, Some(0.96));
}

#[test]
fn a_few_lucky_observations_below_open_nothing_there() {
    let pool = pool(&[(0.86, 5, 0), (0.97, 5_000, 0)]);
    assert!(!pool.serves(0.86, TARGET, 0));
    assert!(pool.serves(0.97, TARGET, 0));
}

#[test]
fn errors_close_what_was_open() {
    let mut pool = pool(&[(0.97, 800, 0)]);
    assert!(pool.serves(0.97, TARGET, 0));
    (0..4).for_each(|_| pool.observe(0.97, false, at(0)));
    assert!(!pool.serves(0.97, TARGET, 0));
}

#[test]
fn evidence_fades_to_half_in_two_weeks_and_then_no_longer_suffices() {
    let pool = pool(&[(0.97, 1_200, 0)]);
    assert!((pool.standing(TARGET, FLOOR, at(14)).observed.right - 600.0).abs() < 1e-6);
    assert!(pool.serves(0.97, TARGET, 7));
    assert!(!pool.serves(0.97, TARGET, 28));
}

#[test]
fn a_clock_that_lags_behind_neither_revives_nor_destroys_evidence() {
    let mut pool = pool(&[(0.97, 100, 0)]);
    pool.observe(0.97, true, at(14));
    let before = pool.standing(TARGET, FLOOR, at(14)).observed.right;
    assert!((before - 51.0).abs() < 1e-6);
    // Half of an observation that was made two weeks before is left.
    pool.observe(0.97, true, at(0));
    assert!((pool.standing(TARGET, FLOOR, at(14)).observed.right - before - 0.5).abs() < 1e-6);
}

#[test]
fn evidence_of_another_basis_is_forgotten() {
    let old = pool(&[(0.97, 1_000, 0)]);
    let other = Digest([8; 16]);
    assert!(Pool::decode(&old.encode(), other, at(1)).is_empty());
    let mut new = Pool::new(other, at(0));
    new.merge(&old);
    assert!(new.is_empty());
    assert_eq!(Pool::decode(&old.encode(), BASIS, at(1)), old);
}

#[test]
fn the_layout_of_version_1_does_not_change() {
    let mut pool = Pool::new(BASIS, at(0));
    pool.observe(0.5, false, at(0));
    pool.observe(1.0, true, at(0));
    let bytes = pool.encode();
    let mut expected = vec![1];
    expected.extend([7; 16]);
    expected.extend(1_728_000_000_000_u64.to_be_bytes());
    let mut counts = [0.0_f64; 16];
    (counts[1], counts[14]) = (1.0, 1.0);
    counts.iter().for_each(|count| expected.extend(count.to_be_bytes()));
    assert_eq!(bytes, expected);
}

fn observations() -> impl Strategy<Value = Vec<(f32, bool, u32)>> {
    prop::collection::vec((0.0..=1.0_f32, any::<bool>(), 0..60_u32), 0..60)
}

fn observed(list: &[(f32, bool, u32)]) -> Pool {
    let mut pool = Pool::new(BASIS, at(0));
    list.iter().for_each(|(similarity, right, day)| pool.observe(*similarity, *right, at(*day)));
    pool
}

fn is_close(one: &Pool, other: &Pool) -> bool {
    let (one, other) = (one.above(at(60)), other.above(at(60)));
    one.iter().zip(other).all(|(a, b)| (a.right - b.right).abs() < 1e-6 && (a.wrong - b.wrong).abs() < 1e-6)
}

proptest! {
    #[test]
    fn replicas_that_merge_in_any_order_know_the_same(one in observations(), other in observations()) {
        let (mut forth, mut back) = (observed(&one), observed(&other));
        forth.merge(&observed(&other));
        back.merge(&observed(&one));
        prop_assert!(is_close(&forth, &back));
        prop_assert!(is_close(&forth, &observed(&[one, other].concat())));
    }

    #[test]
    fn what_is_stored_reads_back(list in observations()) {
        let pool = observed(&list);
        prop_assert_eq!(Pool::decode(&pool.encode(), BASIS, at(60)), pool);
    }

    #[test]
    fn any_bytes_are_safe_to_decode(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        Pool::decode(&bytes, BASIS, at(0)).standing(TARGET, FLOOR, at(1));
    }

    #[test]
    fn what_is_served_is_served_at_every_higher_similarity(list in observations(), at_least in 0.0..1.0_f32) {
        let pool = observed(&list);
        if pool.serves(at_least, 0.5, 60) {
            prop_assert!(pool.serves(1.0, 0.5, 60));
        }
    }
}

#[test]
fn the_chances_of_being_fooled_sum_to_one_in_twenty() {
    for thresholds in 1..=BUCKETS {
        let sum: f64 = (0..thresholds).map(|threshold| alpha(threshold, thresholds)).sum();
        assert!((sum - ALPHA).abs() < 1e-12, "{thresholds}: {sum}");
    }
}
