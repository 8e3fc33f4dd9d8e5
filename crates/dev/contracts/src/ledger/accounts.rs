//! Accounts and their limits.

use super::{
    Fresh,
    support::{LIMIT, World, key, opening},
};
use crate::SetClock;
use futures_util::future::join_all;
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_kit::Clock;
use signalbox_ports::ledger::{LedgerError, LimitChange, LimitTo, Opening};
use std::sync::Arc;

/// Several processes may start at once.
pub async fn a_ledger_is_migrated_by_many_at_once_and_again(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let Fresh { ledger, another, keep: _keep } = fresh(Arc::new(SetClock::at(super::support::now()))).await;
    let others: Vec<_> = (0..4).map(|_| another()).collect();
    for migrated in join_all(others.iter().map(|ledger| ledger.migrate())).await {
        migrated.unwrap();
    }
    ledger.migrate().await.unwrap();
    assert_eq!(ledger.accounts(&[opening("monthly")]).await.unwrap()[0].limit, LIMIT);
}

/// Whoever comes later with another limit does not change it.
pub async fn an_account_is_opened_once_with_its_first_limit(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let more = Opening { limit: 2 * LIMIT, ..opening("monthly") };
    let accounts = world.ledger.accounts(&[opening("monthly"), opening("daily")]).await.unwrap();
    assert_eq!(accounts.iter().map(|account| account.limit).collect::<Vec<_>>(), [LIMIT, LIMIT]);
    assert_eq!(accounts[1].key, key("daily"), "they come in the order they were asked for");
    assert_eq!(world.ledger.accounts(&[more]).await.unwrap()[0].limit, LIMIT);
    let opened: Vec<_> =
        world.entries().await.iter().map(|entry| (entry.kind(), entry.amount_nano_eur)).collect();
    assert_eq!(opened, [(Kind::Limit, LIMIT), (Kind::Limit, LIMIT)]);
}

fn change(to: LimitTo, source_id: &str) -> LimitChange {
    let reason = format!("as {source_id} says");
    LimitChange { account: opening("monthly"), to, source_id: source_id.to_owned(), reason }
}

/// A top-up that is sent again adds nothing.
pub async fn a_limit_is_raised_once_for_each_source(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    for source in ["invoice-1", "invoice-1", "invoice-2", "invoice-1"] {
        world.ledger.set_limit(&change(LimitTo::Raised(500), source)).await.unwrap();
    }
    assert_eq!(world.account("monthly").await.limit, LIMIT + 1000);
    let entries = world.entries().await;
    let last = entries.last().unwrap();
    assert_eq!((last.source_id.as_str(), last.reason.as_str()), ("invoice-2", "as invoice-2 says"));
    assert_eq!(last.amount_nano_eur, 500);
}

/// What is held counts as spent here.
pub async fn a_limit_may_be_set_below_what_is_spent_only_by_an_override(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    world.lend("r1", "monthly", 300).await;
    let refused = world.ledger.set_limit(&change(LimitTo::NotBelowSpend(299), "a")).await;
    assert_eq!(refused, Err(LedgerError::BelowSpend { committed: 300 }));
    // It was not done, so that the same may be asked for again.
    let set = world.ledger.set_limit(&change(LimitTo::NotBelowSpend(300), "a")).await.unwrap();
    assert_eq!((set.limit, set.free()), (300, 0));
    let overridden = world.ledger.set_limit(&change(LimitTo::Exactly(100), "b")).await.unwrap();
    assert_eq!((overridden.limit, overridden.free()), (100, -200));
}
