//! How money gets into replicas' hands, and back.

use super::{
    Fresh,
    support::{LIMIT, World, ask, key, later, now, opening, slice},
};
use signalbox_kit::Clock;
use signalbox_ports::ledger::{GrantAsk, Granted, LeaseState, Opening, SliceAsk};
use std::sync::Arc;

fn leases(granted: Granted) -> Vec<LeaseState> {
    match granted {
        Granted::All(leases) => leases.into_iter().map(|(lease, _)| lease).collect(),
        short => panic!("{short:?}"),
    }
}

/// All accounts in one go, each with what is left of it.
pub async fn a_grant_takes_what_is_wanted_while_there_is_plenty(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let both = ask("r1", "g1", &[slice("daily", 10, 100), slice("monthly", 10, 200)]);
    let Granted::All(granted) = world.ledger.grant(&both).await.unwrap() else { panic!("it is short") };
    let told: Vec<_> =
        granted.iter().map(|(lease, account)| (lease.granted, lease.outstanding, account.free())).collect();
    assert_eq!(told, [(100, 100, LIMIT - 100), (200, 200, LIMIT - 200)]);
    assert_eq!(granted[0].0.expires_at, later(60));
    assert_eq!(granted[1].0.account, key("monthly"));
    assert_eq!(world.ledger.holders(&key("monthly"), now()).await.unwrap(), [granted[1].0.clone()]);
}

/// No more than `free / (2 x replicas)` is given beyond what is needed.
pub async fn slices_shrink_with_what_is_free_and_with_the_replicas(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let mut granted = Vec::new();
    for replica in ["r1", "r2", "r1", "r3"] {
        let wish = ask(replica, &format!("{replica} {}", granted.len()), &[slice("monthly", 1, LIMIT)]);
        let account = world.account("monthly").await;
        leases(world.ledger.grant(&wish).await.unwrap());
        granted.push(account.free() - world.account("monthly").await.free());
    }
    // 10000 / 2; 5000 / 4; 3750 / 4; 2813 / 6
    assert_eq!(granted, [5000, 1250, 937, 468]);
}

/// Not even of the accounts that have enough.
pub async fn a_grant_that_is_short_moves_nothing(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let wish = ask("r1", "g1", &[slice("daily", 10, 100), slice("monthly", LIMIT + 1, LIMIT + 1)]);
    let Granted::Short { accounts, short } = world.ledger.grant(&wish).await.unwrap() else {
        panic!("it is granted")
    };
    assert_eq!((short, accounts[0].free(), accounts[1].free()), (1, LIMIT, LIMIT));
    assert_eq!((world.stands("daily").await, world.stands("monthly").await), ((0, 0, 0), (0, 0, 0)));
    // Nothing was done under this id, so that it may be asked for again.
    let wish = ask("r1", "g1", &[slice("daily", 10, 100), slice("monthly", LIMIT, LIMIT)]);
    assert_eq!(leases(world.ledger.grant(&wish).await.unwrap())[1].granted, LIMIT);
}

/// As much as is needed, but no more than that.
pub async fn a_soft_account_grants_what_is_needed_beyond_its_limit(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let soft = SliceAsk {
        account: Opening { hard: false, ..opening("monthly") },
        ..slice("monthly", LIMIT + 7, 50_000)
    };
    let granted = leases(world.ledger.grant(&ask("r1", "g1", &[soft])).await.unwrap());
    assert_eq!((granted[0].granted, world.account("monthly").await.free()), (LIMIT + 7, -7));
}

/// It is told once more, as it is now.
pub async fn the_same_grant_again_moves_nothing(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let wish = ask("r1", "g1", &[slice("daily", 10, 100), slice("monthly", 10, 200)]);
    let first = world.ledger.grant(&wish).await.unwrap();
    assert_eq!(world.ledger.grant(&wish).await.unwrap(), first);
    assert_eq!((world.stands("daily").await, world.stands("monthly").await), ((0, 0, 100), (0, 0, 200)));
    world.ledger.end_replica("r1").await.unwrap();
    let again = leases(world.ledger.grant(&wish).await.unwrap());
    assert_eq!((again[0].granted, again[0].outstanding), (100, 0));
    assert_eq!(world.stands("daily").await, (0, 0, 0));
}

/// A second grant makes it larger, whatever name it comes with.
pub async fn a_replica_has_one_lease_of_an_account(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let first = leases(world.ledger.grant(&ask("r1", "g1", &[slice("daily", 100, 100)])).await.unwrap());
    let other = SliceAsk { lease_id: "another name".to_owned(), ..slice("daily", 50, 50) };
    let second = leases(world.ledger.grant(&ask("r1", "g2", &[other])).await.unwrap());
    assert_eq!((&second[0].lease_id, second[0].granted), (&first[0].lease_id, 150));
    assert_eq!(world.ledger.holders(&key("daily"), now()).await.unwrap().len(), 1);
}

/// What was in it stays where it is, and the next grant makes a new lease, under another name.
pub async fn a_lease_that_expired_is_neither_renewed_nor_does_it_grow(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    let ids = [lease.lease_id.clone(), "unknown".to_owned()];
    let renewed = world.ledger.renew("r1", &ids, later(59), later(120)).await.unwrap();
    assert_eq!(renewed.iter().map(|lease| lease.expires_at).collect::<Vec<_>>(), [later(120)]);
    assert_eq!(world.ledger.renew("r2", &ids, later(59), later(120)).await.unwrap(), [], "not its own");
    assert_eq!(world.ledger.renew("r1", &ids, later(120), later(180)).await.unwrap(), []);
    assert_eq!(world.ledger.holders(&key("daily"), later(120)).await.unwrap(), []);
    let wish = ask("r1", "late", &[slice("daily", 50, 50)]);
    let wish = GrantAsk { now: later(130), expires_at: later(190), ..wish };
    let next = leases(world.ledger.grant(&wish).await.unwrap());
    assert_ne!(next[0].lease_id, lease.lease_id);
    assert_eq!((next[0].granted, world.stands("daily").await), (50, (0, 0, 150)));
}

/// An answer that was lost makes a replica ask again.
pub async fn what_comes_back_counts_once_and_is_no_more_than_is_outstanding(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    let part = |amount| [(lease.lease_id.clone(), amount)];
    for _ in 0..2 {
        world.ledger.give_back("r1", "b1", &part(30)).await.unwrap();
    }
    assert_eq!(world.stands("daily").await, (0, 0, 70));
    world.ledger.give_back("r1", "b2", &part(1000)).await.unwrap();
    world.ledger.give_back("r1", "b3", &part(-5)).await.unwrap();
    assert_eq!(world.stands("daily").await, (0, 0, 0));
    // There was nothing to come back then, and it was not kept for later.
    world.ledger.give_back("r1", "b4", &part(10)).await.unwrap();
    world.lend("r1", "daily", 40).await;
    world.ledger.give_back("r1", "b4", &part(10)).await.unwrap();
    assert_eq!(world.stands("daily").await, (0, 0, 40));
}

/// Ids are no secrets.
pub async fn leases_of_others_cannot_be_touched(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    world.ledger.give_back("r2", "b1", &[(lease.lease_id, 30)]).await.unwrap();
    assert_eq!(world.ledger.end_replica("r2").await.unwrap(), 0);
    assert_eq!(world.stands("daily").await, (0, 0, 100));
}

/// Of leases that live and of orphaned ones.
pub async fn a_replica_that_ends_frees_all_that_is_left(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    world.lend("r1", "daily", 100).await;
    world.lose_all().await;
    world.lend("r1", "monthly", 50).await;
    world.lend("r2", "monthly", 7).await;
    assert_eq!(world.ledger.end_replica("r1").await.unwrap(), 150);
    assert_eq!((world.stands("daily").await, world.stands("monthly").await), ((0, 0, 0), (0, 0, 7)));
    assert_eq!(world.ledger.end_replica("r1").await.unwrap(), 0);
    assert_eq!(world.ledger.end_replica("nobody").await.unwrap(), 0);
}
