//! What is old is deleted, and no account shows it.

use super::{
    Fresh,
    support::{
        LIMIT, World, ask, from_lease, from_nothing, from_reservation, later, opening, reservation,
        settlement, slice,
    },
};
use futures_util::future::join_all;
use signalbox_api::v1::{Settlement, ledger_entry::Kind};
use signalbox_kit::Clock;
use signalbox_ports::ledger::{
    GrantAsk, Granted, Ledger, LimitChange, LimitTo, Pruned, ReserveAsk, SettledQuery, SettledRequest,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// What the tests call old is older than this.
const DAY: u64 = 24 * 60 * 60;

impl World {
    /// Deletes what was made before so many seconds after now, to its end.
    async fn prune(&self, seconds: u64, at_once: usize) -> Pruned {
        prune(&*self.ledger, seconds, at_once).await
    }

    async fn spend(&self, id: &str, amount: i64) {
        self.settle(&settlement(id, from_nothing("daily"), amount)).await;
    }

    async fn top_up(&self, source_id: &str) {
        let (account, source_id) = (opening("daily"), source_id.to_owned());
        let change =
            LimitChange { account, to: LimitTo::Raised(500), source_id, reason: "more work".to_owned() };
        self.ledger.set_limit(&change).await.unwrap();
    }

    /// What is told of the requests of a day that begins so many seconds after now.
    async fn reported(&self, seconds: u64) -> Vec<SettledRequest> {
        let query = SettledQuery {
            tenant_id: "acme".to_owned(),
            request_ids: None,
            from: later(seconds),
            until: later(seconds + DAY),
            after: None,
            most: 1_000,
        };
        self.ledger.settled(&query).await.unwrap()
    }
}

async fn prune(ledger: &dyn Ledger, seconds: u64, at_once: usize) -> Pruned {
    let mut all = Pruned::default();
    loop {
        let part = ledger.prune(later(seconds), at_once).await.unwrap();
        assert!(part.entries <= at_once as u64, "{part:?}");
        all.entries += part.entries;
        all.operations += part.operations;
        all.leases += part.leases;
        all.reservations += part.reservations;
        all.oldest = part.oldest;
        if !part.more {
            return all;
        }
    }
}

/// Limits stay with the balances: they say what a budget was.
pub async fn old_movements_go_and_accounts_stay_as_they_are(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 5_000).await;
    world.settle(&settlement("s1", from_lease(&lease), 700)).await;
    world.ledger.give_back("r1", "b1", &[(lease.lease_id.clone(), 300)]).await.unwrap();
    world.top_up("t1").await;
    world.clock.set(later(2 * DAY));
    world.spend("s2", 40).await;
    let (account, reported) = (world.account("daily").await, world.reported(DAY + DAY / 2).await);
    assert_eq!(world.prune(0, 100).await.entries, 0, "nothing is older than the first of them");
    let pruned = world.prune(DAY, 100).await;
    assert_eq!((pruned.entries, pruned.operations), (3, 3), "{pruned:?}");
    assert_eq!(pruned.oldest, Some(later(2 * DAY)));
    let kinds: Vec<_> =
        world.entries().await.iter().map(|entry| (entry.kind(), entry.amount_nano_eur)).collect();
    assert_eq!(kinds, [(Kind::Limit, LIMIT), (Kind::Limit, 500), (Kind::Settle, 40)]);
    assert_eq!(world.account("daily").await, account);
    assert_eq!(world.reported(DAY + DAY / 2).await, reported);
    let again = world.prune(DAY, 100).await;
    assert_eq!((again.entries, again.operations), (0, 0), "{again:?}");
}

/// Leases that live, those that wait for their replica, and open reservations.
pub async fn what_holds_something_stays_however_old_it_is(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let lost = world.lend("lost", "monthly", 2_000).await;
    world.lose_all().await;
    let alive = world.lend("r1", "daily", 3_000).await;
    world.ledger.reserve(&reservation("job", &["daily"], 100)).await.unwrap();
    let pruned = world.prune(9 * DAY, 100).await;
    assert!(pruned.entries > 0, "{pruned:?}");
    assert_eq!((pruned.leases, pruned.reservations), (0, 0), "{pruned:?}");
    assert_eq!(world.stands("daily").await, (0, 100, 3_000));
    world.clock.set(later(9 * DAY));
    world.ledger.reserve(&reservation("job", &["daily"], 100)).await.unwrap();
    assert_eq!(world.stands("daily").await, (0, 100, 3_000), "the reservation is known still");
    world.settle(&settlement("s1", from_lease(&alive), 1_000)).await;
    world.settle(&settlement("s2", from_reservation("job", "daily"), 60)).await;
    world.settle(&settlement("s3", from_lease(&lost), 500)).await;
    assert_eq!(world.stands("daily").await, (1_060, 0, 2_000));
    assert_eq!(world.stands("monthly").await, (500, 1_500, 0));
    world.ledger.end_replica("lost").await.unwrap();
    assert_eq!(world.stands("monthly").await, (500, 0, 0));
}

/// Ended leases, such as were written off, and closed reservations. What comes for them even later is booked whole.
pub async fn what_holds_nothing_any_more_goes_once_it_is_old(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let ended = world.lend("r1", "daily", 3_000).await;
    world.ledger.end_replica("r1").await.unwrap();
    world.lend("lost", "monthly", 200).await;
    world.lose_all().await;
    world.clock.set(later(120));
    let swept = world.ledger.sweep(later(120), later(120)).await.unwrap();
    assert_eq!(swept.written_off.len(), 1);
    world.ledger.reserve(&reservation("job", &["daily", "monthly"], 100)).await.unwrap();
    for budget in ["daily", "monthly"] {
        world.settle(&settlement(&format!("item of {budget}"), from_reservation("job", budget), 30)).await;
    }
    let before = (world.stands("daily").await, world.stands("monthly").await);
    assert_eq!(before, ((30, 0, 0), (230, 0, 0)));
    let young = world.prune(30, 100).await;
    assert_eq!((young.leases, young.reservations), (0, 0), "they ran out after that: {young:?}");
    let pruned = world.prune(DAY, 1).await;
    assert_eq!((pruned.leases, pruned.reservations), (2, 2), "{pruned:?}");
    assert_eq!((world.stands("daily").await, world.stands("monthly").await), before);
    world.settle(&settlement("late", from_lease(&ended), 7)).await;
    world.settle(&settlement("later", from_reservation("job", "monthly"), 5)).await;
    assert_eq!((world.stands("daily").await.0, world.stands("monthly").await.0), (37, 235));
}

/// And a top-up for ever.
pub async fn a_repeat_moves_nothing_while_its_movement_is_kept(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    world.spend("old", 10).await;
    world.top_up("t1").await;
    world.clock.set(later(2 * DAY));
    let (now, expires_at) = (later(2 * DAY), later(2 * DAY + 60));
    let wish = GrantAsk { now, expires_at, ..ask("r1", "g1", &[slice("daily", 3_000, 3_000)]) };
    let Granted::All(leases) = world.ledger.grant(&wish).await.unwrap() else { panic!("it is short") };
    let lease = &leases[0].0;
    let spend_again = async || {
        world.settle(&settlement("young", from_lease(lease), 100)).await;
        world.ledger.give_back("r1", "b1", &[(lease.lease_id.clone(), 50)]).await.unwrap();
        let reserve = ReserveAsk { expires_at, ..reservation("job", &["daily"], 100) };
        world.ledger.reserve(&reserve).await.unwrap();
        world.settle(&settlement("item", from_reservation("job", "daily"), 60)).await;
    };
    spend_again().await;
    let account = world.account("daily").await;
    let pruned = world.prune(DAY, 100).await;
    assert_eq!((pruned.entries, pruned.operations, pruned.leases), (1, 1, 0), "{pruned:?}");
    spend_again().await;
    world.top_up("t1").await;
    let Granted::All(again) = world.ledger.grant(&wish).await.unwrap() else { panic!("it is short") };
    assert_eq!(again[0].0.granted, 3_000);
    assert_eq!(world.account("daily").await, account);
}

/// A few rows at a time, by one process after the other: what one did stays done.
pub async fn pruning_goes_on_where_another_process_stopped(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    for number in 0..20 {
        world.clock.set(later(number));
        world.spend(&format!("s{number}"), 1 << number).await;
    }
    world.clock.set(later(DAY));
    let account = world.account("daily").await;
    let mut gone = 0;
    loop {
        let part = (world.another)().prune(later(17), 4).await.unwrap();
        gone += part.entries;
        assert!(part.entries <= 4 && part.oldest.is_some(), "{part:?}");
        let kept = world.entries().await.iter().filter(|entry| entry.kind() == Kind::Settle).count() as u64;
        assert_eq!((kept, world.account("daily").await), (20 - gone, account.clone()));
        if !part.more {
            assert_eq!(part.oldest, Some(later(17)));
            break;
        }
    }
    assert_eq!(gone, 17, "those before the seventeenth second, and no other");
}

const SETTLERS: usize = 4;
const EACH: i64 = 40;

/// Old and young settlements, each sent twice, with two processes that delete the old ones as they come.
pub async fn pruning_while_everybody_settles_loses_and_doubles_nothing(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    for number in 0..300 {
        world.spend(&format!("old {number}"), 1).await;
    }
    world.clock.set(later(2 * DAY));
    let settling = Arc::new(AtomicBool::new(true));
    let pruners: Vec<_> = (0..2)
        .map(|_| {
            let (ledger, settling) = ((world.another)(), settling.clone());
            tokio::spawn(async move {
                let mut entries = 0;
                while settling.load(Ordering::SeqCst) {
                    entries += ledger.prune(later(DAY), 7).await.unwrap().entries;
                }
                entries
            })
        })
        .collect();
    let settlers: Vec<_> = (0..SETTLERS).map(|task| tokio::spawn(settle((world.another)(), task))).collect();
    for settler in join_all(settlers).await {
        settler.unwrap();
    }
    settling.store(false, Ordering::SeqCst);
    let by_others: u64 = join_all(pruners).await.into_iter().map(Result::unwrap).sum();
    let rest = world.prune(DAY, 7).await;
    assert_eq!(by_others + rest.entries, 300, "each old one once");
    let young = SETTLERS as i64 * EACH;
    assert_eq!(world.stands("daily").await, (300 + young, 0, 0));
    let kept = world.entries().await.iter().filter(|entry| entry.kind() == Kind::Settle).count();
    assert_eq!(kept as i64, young);
    assert_eq!(world.reported(2 * DAY - 60).await.len() as i64, young);
}

async fn settle(ledger: Arc<dyn Ledger>, task: usize) {
    for number in 0..EACH {
        let settled: [Settlement; 1] = [settlement(&format!("{task}/{number}"), from_nothing("daily"), 1)];
        for _ in 0..2 {
            assert_eq!(ledger.settle(&settled).await.unwrap(), []);
        }
    }
}
