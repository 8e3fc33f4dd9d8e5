//! What was spent is booked.

use super::{
    Fresh,
    support::{
        LIMIT, World, from_lease, from_nothing, from_reservation, later, now, opening, reservation,
        settlement,
    },
};
use signalbox_api::v1::{Settlement, UsageCharge, ledger_entry::Kind};
use signalbox_kit::Clock;
use signalbox_ports::ledger::{EntryQuery, Opening};
use std::sync::Arc;

/// Nobody knows which part of it was spent.
pub async fn an_orphan_holds_its_money_until_it_is_settled(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    let early = world.ledger.sweep(later(60), now()).await.unwrap();
    assert_eq!(early.orphaned, [], "it has not expired before its end");
    world.lose_all().await;
    assert_eq!(world.stands("daily").await, (0, 100, 0));
    world.settle(&settlement("s1", from_lease(&lease), 30)).await;
    assert_eq!(world.stands("daily").await, (30, 70, 0));
    world.ledger.give_back("r1", "b1", &[(lease.lease_id.clone(), 20)]).await.unwrap();
    assert_eq!(
        world.stands("daily").await,
        (30, 50, 0),
        "one that was lost only to the ledger knows what is idle"
    );
    let again = world.ledger.sweep(later(1000), now()).await.unwrap();
    assert_eq!((again.orphaned.len(), again.written_off.len()), (0, 0));
    assert_eq!(
        world.movements().await,
        [(Kind::Grant, 100), (Kind::Orphan, 100), (Kind::Settle, 30), (Kind::Return, 20)]
    );
}

/// What is known takes the place of what was assumed.
pub async fn what_is_written_off_gives_way_to_late_settlements(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    world.lose_all().await;
    world.settle(&settlement("s1", from_lease(&lease), 25)).await;
    let swept = world.ledger.sweep(later(4000), later(62)).await.unwrap();
    assert_eq!(swept.written_off.iter().map(|lease| lease.outstanding).collect::<Vec<_>>(), [75]);
    assert_eq!(world.stands("daily").await, (100, 0, 0));
    world.settle(&settlement("s2", from_lease(&lease), 30)).await;
    assert_eq!(world.stands("daily").await, (100, 0, 0));
    let entries = world.entries().await;
    let last =
        entries.iter().rev().take(2).map(|entry| (entry.kind(), entry.amount_nano_eur, entry.estimated));
    let last: Vec<_> = last.collect();
    assert!(
        last.contains(&(Kind::Settle, 30, false)) && last.contains(&(Kind::WriteOff, -30, true)),
        "{last:?}"
    );
    // Once all is settled it is known that the rest was not spent.
    assert_eq!(world.ledger.end_replica("r1").await.unwrap(), 45);
    assert_eq!(world.stands("daily").await, (55, 0, 0));
    assert_eq!(world.ledger.end_replica("r1").await.unwrap(), 0);
}

/// All of it was spent, so all of it is booked.
pub async fn a_late_settlement_beyond_what_was_written_off_is_booked_whole(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    world.lose_all().await;
    world.ledger.sweep(later(4000), later(62)).await.unwrap();
    world.settle(&settlement("s1", from_lease(&lease), 60)).await;
    world.settle(&settlement("s2", from_lease(&lease), 70)).await;
    assert_eq!(world.stands("daily").await, (130, 0, 0));
}

/// Twice in one batch, in two batches, and to several accounts.
pub async fn a_settlement_counts_once_however_it_comes(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (daily, monthly) = (world.lend("r1", "daily", 100).await, world.lend("r1", "monthly", 100).await);
    let mut both = settlement("s1", from_lease(&daily), 10);
    both.charges.push(from_lease(&monthly));
    let other = settlement("s2", from_lease(&daily), 5);
    assert_eq!(world.ledger.settle(&[both.clone(), both.clone(), other.clone()]).await.unwrap(), []);
    assert_eq!(world.ledger.settle(&[other, both]).await.unwrap(), []);
    assert_eq!(world.ledger.settle(&[]).await.unwrap(), []);
    assert_eq!((world.stands("daily").await, world.stands("monthly").await), ((15, 0, 85), (10, 0, 90)));
}

/// It is not taken from the money of others.
pub async fn a_settlement_beyond_its_lease_is_a_debt(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    world.lend("r2", "daily", 100).await;
    world.settle(&settlement("s1", from_lease(&lease), 250)).await;
    assert_eq!(world.stands("daily").await, (250, 0, 100));
    world.settle(&settlement("s2", from_lease(&lease), LIMIT)).await;
    assert_eq!(world.account("daily").await.free(), -350);
    // What it is granted next makes up for the debt of its lease first.
    world.ledger.set_limit(&super::model::raised("daily", 5000)).await.unwrap();
    let lease = world.lend("r1", "daily", 200).await;
    assert_eq!((lease.granted, lease.outstanding), (300, 0));
    assert_eq!(world.stands("daily").await, (LIMIT + 250, 0, 100));
}

/// The money is gone, whatever the ledger has forgotten.
pub async fn a_settlement_of_what_nobody_knows_is_booked_all_the_same(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    let unknown = UsageCharge { lease_id: "forgotten".to_owned(), ..from_nothing("daily") };
    let others = UsageCharge { lease_id: lease.lease_id, ..from_nothing("monthly") };
    world.settle(&settlement("s1", unknown, 10)).await;
    world.settle(&settlement("s2", from_reservation("forgotten", "daily"), 5)).await;
    world.settle(&settlement("s3", others, 1)).await;
    assert_eq!((world.stands("daily").await, world.stands("monthly").await), ((15, 0, 100), (1, 0, 0)));
}

/// Until then nothing is free.
pub async fn an_account_that_a_settlement_opened_gets_its_limit_later(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    world.settle(&settlement("s1", from_nothing("daily"), 10)).await;
    assert_eq!(world.movements().await, [(Kind::Settle, 10)]);
    let account = world.account("daily").await;
    assert_eq!((account.limit, account.settled, account.free()), (LIMIT, 10, LIMIT - 10));
    let more = Opening { limit: 2 * LIMIT, ..opening("daily") };
    assert_eq!(world.ledger.accounts(&[more]).await.unwrap()[0].limit, LIMIT);
    assert_eq!(world.entries().await.len(), 2, "the limit is an entry, once");
}

/// One that does not say whose it is, of a lease or reservation that nobody knows, is refused.
pub async fn whose_a_settlement_is_may_be_known_by_its_lease_or_reservation(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    world.ledger.reserve(&reservation("job", &["daily"], 50)).await.unwrap();
    let silent = |id, charge| Settlement { tenant_id: String::new(), ..settlement(id, charge, 10) };
    let settlements = [
        silent("s1", from_lease(&lease)),
        silent("s2", from_reservation("job", "daily")),
        silent("s3", from_nothing("daily")),
    ];
    let refusals = world.ledger.settle(&settlements).await.unwrap();
    assert_eq!(refusals.iter().map(|refusal| refusal.settlement_id.as_str()).collect::<Vec<_>>(), ["s3"]);
    assert!(refusals[0].reason.contains("tenant_id"), "{}", refusals[0].reason);
    assert_eq!(world.stands("daily").await, (20, 0, 90));
}

/// One of them must not hold up all the others for ever.
pub async fn settlements_that_can_never_be_booked_are_refused_and_the_others_booked(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let good = settlement("good", from_nothing("daily"), 10);
    let twice = vec![from_nothing("daily"), from_nothing("daily")];
    let bad = [
        Settlement { settlement_id: String::new(), ..good.clone() },
        Settlement { charges: vec![], ..settlement("no charges", from_nothing("daily"), 1) },
        settlement("no budget", from_nothing(""), 1),
        settlement("negative", from_nothing("daily"), -1),
        settlement("endless", from_nothing("daily"), i64::MAX),
        settlement("nul", from_nothing("da\0ily"), 1),
        Settlement { request_id: "\0".to_owned(), ..settlement("nul 2", from_nothing("daily"), 1) },
        Settlement { charges: twice, ..settlement("twice", from_nothing("daily"), 1) },
    ];
    let mut all = bad.to_vec();
    all.insert(3, good);
    let refusals = world.ledger.settle(&all).await.unwrap();
    let refused: Vec<_> = refusals.iter().map(|refusal| refusal.settlement_id.as_str()).collect();
    assert_eq!(refused, ["", "no charges", "no budget", "negative", "endless", "nul", "nul 2", "twice"]);
    assert!(refusals.iter().all(|refusal| !refusal.reason.is_empty()));
    assert_eq!(world.stands("daily").await, (10, 0, 0));
    let all = EntryQuery { tenant_id: "acme".to_owned(), most: 100, ..EntryQuery::default() };
    let entries = world.ledger.entries(&all).await.unwrap();
    assert_eq!(entries.iter().filter(|entry| entry.kind() == Kind::Settle).count(), 1);
}
