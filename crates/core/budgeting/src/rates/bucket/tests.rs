//! Floods, trickles and neighbours.

use super::*;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn drain(bucket: &mut Bucket, now: Instant) {
    bucket.left(now);
    bucket.common = 0;
}

/// Served each second of a minute, where each of these priorities wishes for so much a second.
fn served(wishes: &[(i32, u64)], seconds: u32) -> BTreeMap<i32, u64> {
    let start = Instant::now();
    let mut bucket = Bucket::new(6_000, start);
    let mut served = BTreeMap::new();
    for second in 0..seconds {
        let now = start + SECOND * second;
        for (priority, wish) in wishes {
            for _ in 0..*wish {
                *served.entry(*priority).or_default() += u64::from(bucket.take(1, *priority, now).is_ok());
            }
        }
    }
    served
}

#[test]
fn a_minutes_worth_may_come_at_once_and_then_it_fills_evenly() {
    let now = Instant::now();
    let mut bucket = Bucket::new(60, now);
    assert_eq!(bucket.take(60, 0, now), Ok(()));
    assert_eq!(bucket.take(2, 0, now), Err(Refused::For(SECOND * 2)));
    assert_eq!(bucket.take(1, 0, now + SECOND), Ok(()));
    assert_eq!(bucket.left(now + SECOND * 3), 2);
    assert_eq!(bucket.left(now + SECOND * 600), 60, "no more than a minute's worth");
}

#[test]
fn the_wait_that_is_told_is_just_enough() {
    let now = Instant::now();
    let mut bucket = Bucket::new(7, now);
    drain(&mut bucket, now);
    let Err(Refused::For(wait)) = bucket.take(3, 0, now) else { panic!("it is empty") };
    let just_before = now + wait - Duration::from_nanos(1);
    assert!(bucket.clone().take(3, 0, just_before).is_err());
    assert_eq!(bucket.take(3, 0, now + wait), Ok(()));
}

#[test]
fn more_than_a_minutes_worth_never_fits() {
    let now = Instant::now();
    assert_eq!(Bucket::new(10, now).take(11, 0, now), Err(Refused::Forever));
    assert_eq!(Bucket::new(0, now).take(1, 0, now), Err(Refused::Forever));
}

#[test]
fn a_trickle_does_not_drift() {
    let start = Instant::now();
    let mut bucket = Bucket::new(7, start);
    drain(&mut bucket, start);
    // A look each 1.000003 ms, some of which bring less than a part of anything.
    for look in 0..60_000u32 {
        bucket.left(start + Duration::from_nanos(1_000_003) * look);
    }
    assert_eq!(bucket.left(start + SECOND * 60), 7);
    assert_eq!(bucket.common, parts(7));
}

#[test]
fn what_was_not_used_comes_back_up_to_the_limit() {
    let now = Instant::now();
    let mut bucket = Bucket::new(10, now);
    bucket.take(10, 0, now).unwrap();
    bucket.give_back(4, now);
    assert_eq!(bucket.left(now), 4);
    bucket.give_back(u64::MAX, now);
    assert_eq!(bucket.left(now), 10);
}

#[test]
fn another_limit_keeps_what_is_there_as_far_as_it_fits() {
    let now = Instant::now();
    let mut bucket = Bucket::new(100, now);
    bucket.set_limit(10, now);
    assert_eq!(bucket.left(now), 10);
    bucket.set_limit(100, now);
    assert_eq!((bucket.left(now), bucket.per_minute()), (10, 100));
}

#[test]
fn a_lower_priority_leaves_half_to_a_higher_one_that_is_active() {
    let now = Instant::now();
    let mut bucket = Bucket::new(100, now);
    bucket.take(1, 5, now).unwrap();
    assert_eq!(bucket.wish(0, now), 49);
    assert_eq!(bucket.wish(-1, now), 24, "two are higher");
    assert_eq!(bucket.wish(5, now), 99);
    assert!(bucket.take(50, 0, now).is_err());
    assert_eq!(bucket.wish(0, now + ACTIVE), 100, "the higher one is silent");
}

#[test]
fn a_flood_of_low_ones_leaves_the_high_ones_what_they_need() {
    let served = served(&[(0, 300), (1, 50)], 600);
    assert_eq!(served[&1], 600 * 50, "every wish within the limit");
    assert!(served[&0] > 600 * 45, "the low ones have the rest: {served:?}");
}

#[test]
fn a_flood_of_high_ones_leaves_the_low_ones_a_tenth() {
    let wishes = [(1, 300), (0, 50)];
    let (first, all) = (served(&wishes, 60), served(&wishes, 600));
    let tenth = 540 * 100 / 10;
    assert!((tenth - 20..=tenth + 20).contains(&(all[&0] - first[&0])), "{first:?} {all:?}");
    assert!(all[&1] >= 600 * 90, "{all:?}");
}

#[test]
fn the_lower_ones_share_the_tenth_alike() {
    let wishes = [(2, 300), (1, 300), (0, 300)];
    let (first, all) = (served(&wishes, 60), served(&wishes, 600));
    let twentieth = 540 * 100 / 20;
    for low in [0, 1] {
        let later = all[&low] - first[&low];
        assert!((twentieth - 20..=twentieth + 20).contains(&later), "{first:?} {all:?}");
    }
}

#[test]
fn a_large_wish_of_a_low_one_is_saved_up_for() {
    let start = Instant::now();
    let mut bucket = Bucket::new(600, start);
    drain(&mut bucket, start);
    let large = (1..1_000u32).find(|second| {
        let now = start + SECOND * *second;
        while bucket.take(1, 1, now).is_ok() {}
        bucket.take(300, 0, now).is_ok()
    });
    // A tenth of ten a second.
    assert!(large.is_some_and(|second| (300..=305).contains(&second)), "{large:?}");
}

#[test]
fn what_was_saved_for_one_who_left_is_everybodys() {
    let start = Instant::now();
    let mut bucket = Bucket::new(600, start);
    for second in 0..20 {
        let now = start + SECOND * second;
        while bucket.take(1, 1, now).is_ok() {}
        bucket.wish(0, now);
    }
    assert!(bucket.saved() > 0);
    let later = start + SECOND * 19 + ACTIVE;
    assert_eq!(u128::from(bucket.wish(1, later)), bucket.common / MINUTE);
    assert_eq!(bucket.saved(), 0);
}

#[test]
fn many_priorities_do_not_grow_without_bound() {
    let now = Instant::now();
    let mut bucket = Bucket::new(600, now);
    for priority in 0..1_000 {
        bucket.wish(priority, now);
    }
    assert_eq!(bucket.classes.len(), MOST_CLASSES);
}

proptest! {
    #[test]
    fn no_order_of_wishes_gets_more_than_the_limit(
        per_minute in 0u64..10_000,
        wishes in prop::collection::vec((0u64..500, -2i32..3, 0u64..3_000, any::<bool>()), 1..300),
    ) {
        let start = Instant::now();
        let (mut bucket, mut now, mut taken) = (Bucket::new(per_minute, start), start, 0u64);
        for (amount, priority, millis, back) in wishes {
            now += Duration::from_millis(millis);
            if bucket.take(amount, priority, now).is_ok() {
                taken += amount;
                if back {
                    bucket.give_back(amount / 2, now);
                    taken -= amount / 2;
                }
            }
            let due = parts(per_minute) + u128::from(per_minute) * (now - start).as_nanos();
            prop_assert!(parts(taken) <= due, "{} of {}", taken, tokens(due));
            prop_assert!(bucket.common + bucket.saved() <= parts(per_minute));
        }
    }

    #[test]
    fn who_waits_as_told_and_is_alone_is_served(per_minute in 1u64..1_000_000, share in 1u64..=100, priority: i32) {
        let now = Instant::now();
        let amount = (per_minute * share).div_ceil(100);
        let mut bucket = Bucket::new(per_minute, now);
        drain(&mut bucket, now);
        let later = now + ACTIVE;
        if let Err(refused) = bucket.take(amount, priority, later) {
            let Refused::For(wait) = refused else { panic!("it fits") };
            prop_assert_eq!(bucket.take(amount, priority, later + wait), Ok(()));
        }
    }
}
