//! The ledger's rules, one by one.

use super::*;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LIMIT: i64 = 1_000;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn opening(hard: bool) -> Opening {
    let [tenant_id, budget_id, period_id] = ["acme", "monthly", "2026-11"].map(str::to_owned);
    Opening { key: AccountKey { tenant_id, budget_id, period_id }, limit: LIMIT, hard }
}

fn ask(replica: &str, grant_id: &str, needed: i64, wanted: i64) -> GrantAsk {
    let slice = SliceAsk { account: opening(true), needed, wanted, lease_id: format!("lease of {replica}") };
    GrantAsk {
        replica_id: replica.to_owned(),
        grant_id: grant_id.to_owned(),
        accounts: vec![slice],
        now: at(0),
        expires_at: at(60),
    }
}

fn spent(id: &str, amount: i64, lease_id: &str) -> Settlement {
    let charge = Charge {
        budget_id: "monthly".to_owned(),
        period_id: "2026-11".to_owned(),
        lease_id: lease_id.to_owned(),
        ..Charge::default()
    };
    Settlement { settlement_id: id.to_owned(), charges: vec![charge], amount, ..Settlement::default() }
}

fn granted(granted: Granted) -> (LeaseState, Account) {
    match granted {
        Granted::All(mut leases) => leases.swap_remove(0),
        Granted::Short { .. } => panic!("short"),
    }
}

/// `(settled, reserved, leased, free)`.
fn sums(ledger: &LedgerModel) -> (i64, i64, i64, i64) {
    let account = ledger.account(&opening(true).key);
    (account.settled, account.reserved, account.leased, account.free())
}

#[test]
fn a_second_grant_makes_the_lease_larger_and_the_same_again_does_not() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 10, 100)));
    let (lease, _) = granted(ledger.grant(&ask("r1", "g2", 10, 50)));
    assert_eq!((lease.lease_id.as_str(), lease.granted), ("lease of r1", 150));
    let (lease, account) = granted(ledger.grant(&ask("r1", "g1", 10, 100)));
    assert_eq!((lease.granted, account.leased, account.free()), (150, 150, 850));
}

#[test]
fn slices_are_shared_with_the_replicas_that_hold_some() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 10, 400)));
    let (lease, _) = granted(ledger.grant(&ask("r2", "g2", 10, 400)));
    assert_eq!(lease.granted, 150, "600 / (2 x 2)");
    let short = ledger.grant(&ask("r3", "g3", 451, 451));
    assert!(matches!(short, Granted::Short { short: 0, .. }), "{short:?}");
    granted(ledger.grant(&ask("r3", "g3", 450, 450)));
    assert_eq!(sums(&ledger), (0, 0, LIMIT, 0));
}

#[test]
fn a_soft_account_grants_beyond_its_limit() {
    let mut ledger = LedgerModel::new();
    let mut soft = ask("r1", "g1", 1_500, 1_500);
    soft.accounts[0].account.hard = false;
    granted(ledger.grant(&soft));
    assert_eq!(sums(&ledger), (0, 0, 1_500, -500));
}

#[test]
fn what_a_lost_replica_held_is_held_until_it_is_known() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 100, 100)));
    ledger.settle(&[spent("e1", 30, "lease of r1")]);
    assert_eq!(ledger.sweep(at(60), at(0)), Swept::default(), "not yet");
    assert_eq!(ledger.sweep(at(61), at(0)).orphaned[0].outstanding, 70);
    assert_eq!(sums(&ledger), (30, 70, 0, 900));
    assert_eq!(ledger.renew("r1", &["lease of r1".to_owned()], at(61), at(120)), []);
    ledger.settle(&[spent("e2", 20, "lease of r1")]);
    assert_eq!(sums(&ledger), (50, 50, 0, 900));
    assert_eq!(ledger.end_replica("r1"), 50);
    assert_eq!(sums(&ledger), (50, 0, 0, 950));
}

#[test]
fn what_nobody_hears_of_is_written_off_until_it_is_heard_of() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 100, 100)));
    ledger.sweep(at(61), at(0));
    assert_eq!(ledger.sweep(at(3_700), at(61)).written_off, [], "an hour is not over");
    assert_eq!(ledger.sweep(at(3_700), at(62)).written_off[0].outstanding, 100);
    assert_eq!(sums(&ledger), (100, 0, 0, 900));
    ledger.settle(&[spent("e1", 30, "lease of r1")]);
    assert_eq!(sums(&ledger), (100, 0, 0, 900), "30 are known, 70 estimated");
    ledger.settle(&[spent("e2", 90, "lease of r1")]);
    assert_eq!(sums(&ledger), (120, 0, 0, 880));
}

#[test]
fn what_was_written_off_is_free_again_once_all_that_was_spent_is_known() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 100, 100)));
    ledger.sweep(at(61), at(0));
    ledger.sweep(at(3_700), at(62));
    ledger.settle(&[spent("e1", 30, "lease of r1")]);
    assert_eq!(ledger.end_replica("r1"), 70);
    assert_eq!(sums(&ledger), (30, 0, 0, 970));
    assert_eq!(ledger.end_replica("r1"), 0);
}

#[test]
fn a_lease_that_was_lost_does_not_grow_again() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 100, 100)));
    ledger.sweep(at(61), at(0));
    let (lease, account) = granted(ledger.grant(&ask("r1", "g2", 100, 100)));
    assert_eq!((lease.lease_id.as_str(), lease.granted), ("lease of r1~g2", 100));
    assert_eq!((account.reserved, account.leased), (100, 100));
}

#[test]
fn neither_does_one_that_expired_and_was_not_swept_yet() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 100, 100)));
    let late = GrantAsk { now: at(60), expires_at: at(120), ..ask("r1", "g2", 100, 100) };
    let (lease, _) = granted(ledger.grant(&late));
    assert_eq!((lease.lease_id.as_str(), lease.granted), ("lease of r1~g2", 100));
    ledger.sweep(at(61), at(0));
    assert_eq!(sums(&ledger), (0, 100, 100, 800));
}

#[test]
fn no_more_comes_back_than_is_outstanding_and_only_to_its_holder() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 100, 100)));
    ledger.settle(&[spent("e1", 80, "lease of r1")]);
    let part = |amount| [("lease of r1".to_owned(), amount)];
    ledger.give_back("r2", "b1", &part(5));
    ledger.give_back("r1", "b2", &part(5));
    ledger.give_back("r1", "b2", &part(5));
    assert_eq!(sums(&ledger), (80, 0, 15, 905));
    ledger.give_back("r1", "b3", &part(50));
    assert_eq!(sums(&ledger), (80, 0, 0, 920));
}

#[test]
fn a_settlement_counts_once_and_a_debt_is_paid_by_the_next_grant() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 100, 100)));
    ledger.settle(&[spent("e1", 130, "lease of r1"), spent("e1", 130, "lease of r1")]);
    assert_eq!(sums(&ledger), (130, 0, 0, 870));
    granted(ledger.grant(&ask("r1", "g2", 50, 50)));
    assert_eq!(sums(&ledger), (130, 0, 20, 850));
}

#[test]
fn a_settlement_without_lease_or_tenant_cannot_be_booked() {
    let mut ledger = LedgerModel::new();
    let known = Settlement { tenant_id: "acme".to_owned(), ..spent("e1", 5, "") };
    let refused = ledger.settle(&[spent("e2", 5, "no such lease"), spent("e3", -1, ""), known]);
    let ids: Vec<_> = refused.iter().map(|refusal| refusal.settlement_id.as_str()).collect();
    assert_eq!(ids, ["e2", "e3"]);
    assert_eq!(sums(&ledger), (5, 0, 0, -5), "booked though nobody opened the account");
    ledger.accounts(&[opening(true)]);
    assert_eq!(sums(&ledger), (5, 0, 0, LIMIT - 5));
}

#[test]
fn a_reservation_is_settled_item_by_item_and_what_is_left_is_free() {
    let mut ledger = LedgerModel::new();
    let ask = ReserveAsk {
        reservation_id: "batch".to_owned(),
        request_id: String::new(),
        accounts: vec![opening(true)],
        amount: 600,
        expires_at: at(60),
    };
    assert!(matches!(ledger.reserve(&ask), Reserved::All(_)));
    assert!(matches!(ledger.reserve(&ask), Reserved::All(_)), "the same again");
    let other = ReserveAsk { reservation_id: "other".to_owned(), ..ask.clone() };
    assert!(matches!(ledger.reserve(&other), Reserved::Short { short: 0, .. }));
    let mut item = spent("i1", 100, "");
    item.charges[0].reservation_id = "batch".to_owned();
    ledger.settle(&[Settlement { more_follow: true, ..item.clone() }]);
    assert_eq!(sums(&ledger), (100, 500, 0, 400));
    ledger.settle(&[Settlement { settlement_id: "i2".to_owned(), ..item }]);
    assert_eq!(sums(&ledger), (200, 0, 0, 800));
    assert_eq!(ledger.sweep(at(61), at(0)).released, 0);
}

#[test]
fn a_reservation_that_expires_is_released() {
    let mut ledger = LedgerModel::new();
    let ask = ReserveAsk {
        reservation_id: "r".to_owned(),
        request_id: String::new(),
        accounts: vec![opening(true)],
        amount: 600,
        expires_at: at(60),
    };
    ledger.reserve(&ask);
    assert_eq!(ledger.sweep(at(61), at(0)).released, 1);
    assert_eq!(sums(&ledger), (0, 0, 0, LIMIT));
}

#[test]
fn a_limit_below_what_is_spent_is_refused_unless_it_is_meant() {
    let mut ledger = LedgerModel::new();
    granted(ledger.grant(&ask("r1", "g1", 100, 100)));
    let mut change = |to, source_id: &str| {
        let (source_id, reason) = (source_id.to_owned(), String::new());
        ledger
            .set_limit(&LimitChange { account: opening(true), to, source_id, reason })
            .map(|account| account.free())
    };
    assert_eq!(change(LimitTo::NotBelowSpend(99), "c1"), Err(BelowSpend { committed: 100 }));
    assert_eq!(change(LimitTo::NotBelowSpend(100), "c1"), Ok(0));
    assert_eq!(change(LimitTo::Raised(7), "c2"), Ok(7));
    assert_eq!(change(LimitTo::Raised(7), "c2"), Ok(7), "the same again");
    assert_eq!(change(LimitTo::Exactly(50), "c3"), Ok(-50));
}
