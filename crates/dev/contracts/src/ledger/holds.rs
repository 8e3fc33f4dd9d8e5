//! Reservations.

use super::{
    Fresh,
    support::{LIMIT, World, from_reservation, later, now, opening, reservation, settlement},
};
use signalbox_api::v1::{Settlement, ledger_entry::Kind};
use signalbox_kit::Clock;
use signalbox_ports::ledger::{Opening, ReserveAsk, Reserved};
use std::sync::Arc;

/// And made once.
pub async fn a_reservation_is_made_in_all_accounts_or_in_none(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    world.lend("r1", "monthly", LIMIT - 50).await;
    let too_much = world.ledger.reserve(&reservation("job", &["daily", "monthly"], 51)).await.unwrap();
    let Reserved::Short { accounts, short } = too_much else { panic!("it is made") };
    assert_eq!((short, accounts[1].free(), world.stands("daily").await), (1, 50, (0, 0, 0)));
    let fitting = reservation("job", &["daily", "monthly"], 50);
    let first = world.ledger.reserve(&fitting).await.unwrap();
    assert_eq!(world.ledger.reserve(&fitting).await.unwrap(), first);
    let Reserved::All(accounts) = first else { panic!("it is short") };
    assert_eq!(accounts.iter().map(|account| account.reserved).collect::<Vec<_>>(), [50, 50]);
    let soft = Opening { hard: false, ..opening("monthly") };
    let soft = ReserveAsk { accounts: vec![soft], ..reservation("soft", &[], 20) };
    assert!(matches!(world.ledger.reserve(&soft).await.unwrap(), Reserved::All(_)));
    assert_eq!(world.account("monthly").await.free(), -20);
}

/// Each item once, and the last one frees what is left.
pub async fn a_batch_is_settled_item_by_item_and_its_rest_is_freed(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    world.ledger.reserve(&reservation("job", &["daily"], 100)).await.unwrap();
    let item = |id: &str| settlement(id, from_reservation("job", "daily"), 20);
    for _ in 0..2 {
        world.settle(&Settlement { more_follow: true, ..item("i1") }).await;
    }
    assert_eq!(world.stands("daily").await, (20, 80, 0));
    for _ in 0..2 {
        world.settle(&item("i2")).await;
    }
    assert_eq!(world.stands("daily").await, (40, 0, 0));
    world.settle(&Settlement { amount_nano_eur: 70, ..item("late") }).await;
    assert_eq!(world.stands("daily").await, (110, 0, 0));
    let kinds = [
        (Kind::Reserve, 100),
        (Kind::Settle, 20),
        (Kind::Settle, 20),
        (Kind::Release, 60),
        (Kind::Settle, 70),
    ];
    let mut movements = world.movements().await;
    movements[2..4].sort_by_key(|(_, amount)| *amount);
    assert_eq!(movements, kinds);
}

/// Whoever spent from it too late has spent all the same.
pub async fn a_reservation_that_expires_is_released_and_still_settled(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    world.ledger.reserve(&reservation("job", &["daily", "monthly"], 100)).await.unwrap();
    assert_eq!(world.ledger.sweep(later(600), now()).await.unwrap().released, 0);
    assert_eq!(world.ledger.sweep(later(601), now()).await.unwrap().released, 1);
    assert_eq!(world.ledger.sweep(later(601), now()).await.unwrap().released, 0);
    assert_eq!((world.stands("daily").await, world.stands("monthly").await), ((0, 0, 0), (0, 0, 0)));
    world.settle(&settlement("s1", from_reservation("job", "daily"), 30)).await;
    assert_eq!(world.stands("daily").await, (30, 0, 0));
}
