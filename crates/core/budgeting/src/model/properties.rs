//! Any order of events, with deaths between any two of them, against the promises.

use super::{
    world::{Fate, World},
    *,
};
use proptest::prelude::*;
use std::time::Duration;

const REPLICAS: usize = 3;

#[derive(Debug, Clone)]
enum Event {
    Request { replica: usize, with_key: bool, amount: i64, fate: Fate },
    Raise { replica: usize, which: usize, amount: i64 },
    End { replica: usize, which: usize, percent: i64 },
    Ship { replica: usize, most: usize, fate: Fate },
    Repeat { which: usize },
    Tidy { replica: usize, fate: Fate },
    Renew { replica: usize, fate: Fate },
    Sweep,
    Crash { replica: usize },
    Finish { which: usize, fate: Fate },
    TopUp { budget: usize, more: i64 },
    Batch { amount: i64, items: i64, done: i64 },
    Pass { seconds: u64 },
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![5 => Just(Fate::Done), 1 => Just(Fate::Lost), 1 => Just(Fate::AnswerLost), 2 => Just(Fate::Twice)]
}

/// `percent` of its hold is what a request may cost at most.
fn event(percent: i64) -> impl Strategy<Value = Event> {
    let (replica, which) = (0..REPLICAS, any::<usize>());
    prop_oneof![
        10 => (replica.clone(), any::<bool>(), 0i64..900, fate()).prop_map(|(replica, with_key, amount, fate)| {
            Event::Request { replica, with_key, amount, fate }
        }),
        2 => (replica.clone(), which, 0i64..1_500)
            .prop_map(|(replica, which, amount)| Event::Raise { replica, which, amount }),
        8 => (replica.clone(), which, 0i64..=percent)
            .prop_map(|(replica, which, percent)| Event::End { replica, which, percent }),
        4 => (replica.clone(), 1usize..5, fate())
            .prop_map(|(replica, most, fate)| Event::Ship { replica, most, fate }),
        2 => which.prop_map(|which| Event::Repeat { which }),
        2 => (replica.clone(), fate()).prop_map(|(replica, fate)| Event::Tidy { replica, fate }),
        3 => (replica.clone(), fate()).prop_map(|(replica, fate)| Event::Renew { replica, fate }),
        2 => Just(Event::Sweep),
        1 => replica.prop_map(|replica| Event::Crash { replica }),
        1 => (which, fate()).prop_map(|(which, fate)| Event::Finish { which, fate }),
        1 => (0usize..2, 0i64..500).prop_map(|(budget, more)| Event::TopUp { budget, more }),
        1 => (0i64..2_000, 1i64..5, 0i64..6).prop_map(|(amount, items, done)| Event::Batch { amount, items, done }),
        4 => prop_oneof![5 => 0u64..40, 1 => 0u64..4_000].prop_map(|seconds| Event::Pass { seconds }),
    ]
}

fn step(world: &mut World, event: Event) {
    match event {
        Event::Request { replica, with_key, amount, fate } => world.request(replica, with_key, amount, fate),
        Event::Raise { replica, which, amount } => world.raise(replica, which, amount),
        Event::End { replica, which, percent } => world.end(replica, which, percent),
        Event::Ship { replica, most, fate } => world.ship(replica, most, fate),
        Event::Repeat { which } => world.repeat(which),
        Event::Tidy { replica, fate } => world.tidy(replica, fate),
        Event::Renew { replica, fate } => world.renew(replica, fate),
        Event::Sweep => world.sweep(),
        Event::Crash { replica } => world.crash(replica),
        Event::Finish { which, fate } => world.finish(which, fate),
        Event::TopUp { budget, more } => world.top_up(budget, more),
        Event::Batch { amount, items, done } => world.batch(amount, items, done),
        Event::Pass { seconds } => world.pass(Duration::from_secs(seconds)),
    }
}

/// What was entered of an account under some kinds.
fn entered(ledger: &LedgerModel, key: &AccountKey, kinds: &[Kind]) -> i64 {
    let of = ledger.entries().iter().filter(|entry| entry.account == *key && kinds.contains(&entry.kind));
    of.map(|entry| entry.amount).sum()
}

/// Every account's entries explain it.
fn is_explained(ledger: &LedgerModel, account: &Account) -> Result<(), TestCaseError> {
    let entered = |kinds: &[Kind]| entered(ledger, &account.key, kinds);
    prop_assert_eq!(account.limit, entered(&[Kind::Limit]));
    prop_assert_eq!(account.settled, entered(&[Kind::Settle, Kind::WriteOff]));
    let granted: i64 =
        ledger.leases.values().filter(|one| one.account == account.key).map(|one| one.granted).sum();
    prop_assert_eq!(granted, entered(&[Kind::Grant]));
    let mut once = BTreeSet::new();
    for entry in
        ledger.entries().iter().filter(|entry| entry.kind == Kind::Settle && entry.account == account.key)
    {
        prop_assert!(once.insert(&entry.source_id), "settled twice: {:?}", entry);
    }
    Ok(())
}

/// T1 and T2: what the ledger keeps from others covers all that is spent and all that may be, and exceeds the limit at
/// most by what requests cost beyond their holds.
fn is_kept(world: &World) -> Result<(), TestCaseError> {
    for account in world.ledger.all_accounts() {
        is_explained(&world.ledger, &account)?;
        let excess = world.excess.get(&account.key).copied().unwrap_or_default();
        prop_assert!(account.free() >= -excess, "{:?} is beyond {}", account, excess);
        let taken = account.limit - account.free();
        let (spent, held, idle) =
            (world.spent(&account.key), world.held(&account.key), world.idle(&account.key));
        prop_assert!(taken + excess >= spent + held + idle, "{account:?}: {spent} {held} {idle}");
        prop_assert!(spent <= account.limit + excess, "{account:?} spent {spent}");
    }
    Ok(())
}

/// At rest everything that was spent is settled, once, and nothing else is held.
fn is_settled(world: &World) -> Result<(), TestCaseError> {
    for account in world.ledger.all_accounts() {
        let leases = world.ledger.leases.values().filter(|lease| lease.account == account.key);
        let written_off: i64 = leases.map(|lease| lease.written_off).sum();
        prop_assert_eq!(account.settled, world.spent(&account.key) + written_off);
        prop_assert_eq!((account.leased, account.reserved), (0, 0));
        // What was written off stays within what was lost.
        prop_assert!(account.settled <= account.limit + world.excess.get(&account.key).copied().unwrap_or(0));
    }
    Ok(())
}

proptest! {
    #[test]
    fn nobody_overspends_and_nothing_is_counted_twice(events in prop::collection::vec(event(100), 0..150)) {
        let mut world = World::new(REPLICAS);
        for event in events {
            step(&mut world, event);
            is_kept(&world)?;
        }
        world.rest();
        is_kept(&world)?;
        is_settled(&world)?;
    }

    #[test]
    fn requests_that_cost_more_exceed_the_limit_by_just_that(events in prop::collection::vec(event(250), 0..150)) {
        let mut world = World::new(REPLICAS);
        for event in events {
            step(&mut world, event);
            is_kept(&world)?;
        }
        world.rest();
        is_settled(&world)?;
    }
}
