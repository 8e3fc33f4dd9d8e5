//! What a replica does with its leases.

use super::*;
use std::time::Duration;

const TTL: Duration = Duration::from_secs(60);
const UNUSED: Duration = Duration::from_secs(120);

fn eur(cents: i64) -> Money {
    Money::from_nano_eur(cents * 10_000_000)
}

fn lease<'a>(id: &'a str, budget: &'a str, granted: i64, asked_at: Instant) -> Grant<'a> {
    Grant {
        lease_id: id,
        budget_id: budget,
        period_id: "2026-11",
        granted: eur(granted),
        slice: eur(100),
        asked_at,
        ttl: TTL,
        ends_with_period: false,
    }
}

/// A wallet with so many cents of a monthly and of a key's budget.
fn wallet(monthly: i64, key: i64, now: Instant) -> Wallet {
    let mut wallet = Wallet::new();
    wallet.grant(&lease("m1", "monthly", monthly, now), now);
    wallet.grant(&lease("k1", "key", key, now), now);
    wallet
}

const BOTH: &[&str] = &["monthly", "key"];

#[test]
fn a_request_holds_its_worst_case_in_every_budget_and_leaves_what_it_did_not_use() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let hold = wallet.try_hold(BOTH, eur(40), now).unwrap();
    assert_eq!(wallet.available(BOTH, now), Some(eur(10)));
    wallet.settle(hold, Some(eur(5)));
    assert_eq!((wallet.idle("monthly", now), wallet.idle("key", now)), (Some(eur(95)), Some(eur(45))));
}

#[test]
fn what_one_budget_lacks_is_not_held_in_another() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let missing = wallet.try_hold(BOTH, eur(60), now).unwrap_err();
    assert_eq!(missing.lacks, [Lack { budget_id: "key".to_owned(), idle: Some(eur(50)) }]);
    assert_eq!(missing.to_ask(), eur(10));
    assert_eq!(wallet.idle("monthly", now), Some(eur(100)));
}

#[test]
fn a_budget_without_a_lease_is_named() {
    let now = Instant::now();
    let missing = Wallet::new().try_hold(&["monthly"], eur(1), now).unwrap_err();
    assert_eq!(missing.lacks, [Lack { budget_id: "monthly".to_owned(), idle: None }]);
    assert_eq!(missing.to_ask(), eur(1));
}

#[test]
fn the_account_is_told_budgets_period_and_lease() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let hold = wallet.try_hold(BOTH, eur(7), now).unwrap();
    let charges: Vec<_> = wallet.charges(&hold).collect();
    let charge = |budget_id, lease_id| Charge { budget_id, period_id: "2026-11", lease_id, reserved: eur(7) };
    assert_eq!(charges, [charge("monthly", "m1"), charge("key", "k1")]);
    wallet.abandon(hold);
}

#[test]
fn a_hold_can_be_made_larger_in_all_budgets_or_in_none() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let mut hold = wallet.try_hold(BOTH, eur(20), now).unwrap();
    wallet.raise(&mut hold, eur(10)).unwrap();
    assert_eq!(hold.amount(), eur(20), "it is worth that much already");
    wallet.raise(&mut hold, eur(45)).unwrap();
    let missing = wallet.raise(&mut hold, eur(60)).unwrap_err();
    assert_eq!((missing.to_ask(), hold.amount()), (eur(10), eur(45)));
    wallet.settle(hold, Some(eur(45)));
    assert_eq!(wallet.idle("monthly", now), Some(eur(55)));
}

#[test]
fn a_request_that_costs_more_puts_the_budget_into_debt_and_stops_admission() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let hold = wallet.try_hold(BOTH, eur(40), now).unwrap();
    wallet.settle(hold, Some(eur(70)));
    assert_eq!(wallet.idle("key", now), Some(eur(-20)));
    let missing = wallet.try_hold(BOTH, eur(1), now).unwrap_err();
    assert_eq!(missing.to_ask(), eur(21), "the debt is paid first");
    let free = wallet.try_hold(BOTH, Money::ZERO, now).unwrap();
    wallet.settle(free, None);
    wallet.grant(&lease("k1", "key", 71, now), now);
    let hold = wallet.try_hold(BOTH, eur(1), now).unwrap();
    wallet.settle(hold, None);
}

#[test]
fn a_hold_that_is_lost_counts_as_spent_whole() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let hold = wallet.try_hold(BOTH, eur(30), now).unwrap();
    wallet.abandon(hold);
    assert_eq!(wallet.idle("monthly", now), Some(eur(70)));
}

#[test]
fn nothing_is_admitted_in_the_last_ten_seconds_of_a_lease() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let last = now + TTL - Duration::from_secs(10);
    assert!(wallet.try_hold(BOTH, eur(1), last).is_err());
    let hold = wallet.try_hold(BOTH, eur(1), last - Duration::from_millis(1)).unwrap();
    wallet.settle(hold, None);
    assert_eq!(wallet.available(BOTH, last), Some(Money::ZERO));
    wallet.grant(&lease("m1", "monthly", 100, last), last);
    assert_eq!(wallet.idle("monthly", last), Some(eur(99)), "renewed");
}

#[test]
fn a_free_answer_needs_no_time_that_is_left() {
    let now = Instant::now();
    let mut wallet = wallet(0, 0, now);
    let hold = wallet.try_hold(BOTH, Money::ZERO, now + TTL * 2).unwrap();
    assert_eq!(wallet.charges(&hold).count(), 2);
    wallet.settle(hold, None);
}

#[test]
fn answers_that_come_twice_or_in_another_order_count_once() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    for granted in [300, 200, 300, 100] {
        wallet.grant(&lease("m1", "monthly", granted, now), now);
    }
    assert_eq!(wallet.idle("monthly", now), Some(eur(300)));
}

#[test]
fn an_answer_that_comes_after_all_went_back_brings_nothing() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let later = now + UNUSED;
    assert_eq!(wallet.tidy(UNUSED, later).len(), 2);
    wallet.lost(["m1", "k1"], later);
    wallet.grant(&lease("m1", "monthly", 100, later), later);
    assert_eq!(wallet.idle("monthly", later), Some(Money::ZERO));
}

#[test]
fn a_new_period_takes_over_and_the_old_one_settles() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let mut old = wallet.try_hold(&["monthly"], eur(40), now).unwrap();
    let december = Grant { period_id: "2026-12", ..lease("m2", "monthly", 200, now) };
    wallet.grant(&december, now);
    assert_eq!(wallet.idle("monthly", now), Some(eur(200)));
    let new = wallet.try_hold(&["monthly"], eur(10), now).unwrap();
    assert_eq!(wallet.charges(&old).next().unwrap().period_id, "2026-11");
    assert_eq!(wallet.charges(&new).next().unwrap().period_id, "2026-12");
    wallet.raise(&mut old, eur(50)).unwrap();
    assert_eq!(wallet.idle("monthly", now), Some(eur(190)), "the old request stays in the old period");
    let back = wallet.tidy(UNUSED, now);
    assert_eq!(back, [Return { lease_id: "m1".into(), amount: eur(50) }]);
    wallet.settle(old, Some(eur(20)));
    assert_eq!(wallet.tidy(UNUSED, now), [Return { lease_id: "m1".into(), amount: eur(30) }]);
    wallet.settle(new, None);
}

#[test]
fn a_late_answer_about_the_old_period_is_given_back() {
    let now = Instant::now();
    let mut wallet = Wallet::new();
    wallet.grant(&Grant { period_id: "2026-12", ..lease("m2", "monthly", 20, now) }, now);
    wallet.grant(&lease("m1", "monthly", 10, now), now);
    assert_eq!(wallet.idle("monthly", now), Some(eur(20)));
    assert_eq!(wallet.tidy(UNUSED, now), [Return { lease_id: "m1".into(), amount: eur(10) }]);
}

#[test]
fn a_lease_that_ends_with_its_period_is_spent_to_the_last_moment() {
    let now = Instant::now();
    let mut wallet = Wallet::new();
    let ttl = Duration::from_millis(1);
    wallet.grant(&Grant { ttl, ends_with_period: true, ..lease("m1", "monthly", 10, now) }, now + ttl * 3);
    let hold = wallet.try_hold(&["monthly"], eur(1), now).expect("admitted when it was asked for");
    assert!(wallet.try_hold(&["monthly"], eur(1), now + ttl).is_err(), "the period is over");
    wallet.settle(hold, None);
}

#[test]
fn an_expired_lease_admits_nothing_and_what_is_idle_goes_back() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let hold = wallet.try_hold(BOTH, eur(30), now).unwrap();
    wallet.lost(["m1", "no such lease"], now);
    assert!(wallet.try_hold(&["monthly"], eur(1), now).is_err());
    assert_eq!(wallet.tidy(UNUSED, now), [Return { lease_id: "m1".into(), amount: eur(70) }]);
    wallet.grant(&lease("m2", "monthly", 10, now), now);
    wallet.grant(&lease("m1", "monthly", 100, now), now);
    assert_eq!(wallet.idle("monthly", now), Some(eur(10)), "the old one does not come back");
    wallet.settle(hold, Some(eur(10)));
    assert_eq!(wallet.tidy(UNUSED, now), [Return { lease_id: "m1".into(), amount: eur(20) }]);
}

#[test]
fn a_recall_takes_what_is_idle_beyond_what_may_stay() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let hold = wallet.try_hold(BOTH, eur(30), now).unwrap();
    let back = wallet.recall("m1", eur(20)).unwrap();
    assert_eq!(back.amount, eur(50));
    assert_eq!(wallet.recall("m1", eur(20)), None);
    assert_eq!(wallet.recall("k1", Money::ZERO).unwrap().amount, eur(20));
    assert_eq!(wallet.recall("gone", Money::ZERO), None);
    wallet.settle(hold, None);
}

#[test]
fn much_idle_money_goes_back_down_to_one_slice() {
    let now = Instant::now();
    let mut wallet = wallet(250, 200, now);
    assert_eq!(wallet.tidy(UNUSED, now), [Return { lease_id: "m1".into(), amount: eur(150) }]);
}

#[test]
fn a_lease_that_nobody_uses_goes_back_and_is_no_longer_renewed() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let later = now + UNUSED;
    let hold = wallet.try_hold(&["key"], Money::ZERO, later).unwrap();
    wallet.settle(hold, None);
    assert_eq!(wallet.tidy(UNUSED, later), [Return { lease_id: "m1".into(), amount: eur(100) }]);
    let renewed: Vec<_> = wallet.to_renew(UNUSED, later).map(|id| &**id).collect();
    assert_eq!(renewed, ["k1"]);
}

#[test]
fn a_wallet_that_is_closed_gives_all_back_and_is_empty_in_the_end() {
    let now = Instant::now();
    let mut wallet = wallet(100, 50, now);
    let hold = wallet.try_hold(BOTH, eur(30), now).unwrap();
    assert_eq!(wallet.close(now).len(), 2);
    assert!(wallet.try_hold(BOTH, Money::ZERO, now).is_err());
    wallet.settle(hold, Some(eur(10)));
    assert_eq!(wallet.close(now).iter().map(|back| back.amount).sum::<Money>(), eur(40));
    wallet.tidy(UNUSED, now + lease::REMEMBERED);
    assert!(wallet.is_empty());
}
