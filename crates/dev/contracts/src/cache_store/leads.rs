//! Who makes an answer that several wait for.

use super::{
    Fresh,
    support::{HOUR, World, digest},
};
use signalbox_kit::Clock;
use signalbox_ports::cache::Lead;
use std::{sync::Arc, time::Duration};
use tokio::task::JoinSet;

async fn lead(world: &World, tenant: u64, key: u64, owner: &str) -> bool {
    world.store.lead(digest(tenant), digest(key), owner, HOUR).await.unwrap() == Lead::Mine
}

/// Of a key and a tenant.
pub async fn one_leads_at_a_time(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    assert!(lead(&world, 1, 1, "a").await);
    assert!(!lead(&world, 1, 1, "b").await);
    assert!(lead(&world, 1, 1, "a").await, "it still is its own");
    assert!(lead(&world, 1, 2, "b").await && lead(&world, 2, 1, "b").await);
    for (key, owner) in ["", "ж\0\r\n*", &"long".repeat(2_500)].into_iter().enumerate() {
        assert!(lead(&world, 3, key as u64, owner).await);
        assert!(!lead(&world, 3, key as u64, "another").await);
        world.store.release_lead(digest(3), digest(key as u64), owner).await.unwrap();
        assert!(lead(&world, 3, key as u64, "another").await);
    }
}

/// So that those who wait survive the leader's death.
pub async fn a_lead_ends_by_itself(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (tenant, key) = (digest(1), digest(1));
    let ttl = Duration::from_secs(1);
    assert_eq!(world.store.lead(tenant, key, "a", ttl).await.unwrap(), Lead::Mine);
    assert_eq!(world.store.lead(tenant, key, "b", HOUR).await.unwrap(), Lead::Anothers);
    world.until("it is free", async || lead(&world, 1, 1, "b").await).await;
    assert!(!world.store.renew_lead(tenant, key, "a", HOUR).await.unwrap());
    assert!(!lead(&world, 1, 1, "a").await);
}

/// Nobody takes it away.
pub async fn a_lead_is_held_on_to_and_given_up_by_its_owner_only(
    fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh,
) {
    let world = World::new(fresh).await;
    let (tenant, key, brief) = (digest(1), digest(1), Duration::from_secs(1));
    assert!(!world.store.renew_lead(tenant, key, "a", HOUR).await.unwrap(), "nobody leads");
    assert_eq!(world.store.lead(tenant, key, "a", brief).await.unwrap(), Lead::Mine);
    world.store.lead(tenant, digest(2), "a", brief).await.unwrap();
    assert!(world.store.renew_lead(tenant, key, "a", HOUR).await.unwrap());
    assert!(!world.store.renew_lead(tenant, key, "b", HOUR).await.unwrap());
    world.store.release_lead(tenant, key, "b").await.unwrap();
    world.until("one that was not renewed is over", async || lead(&world, 1, 2, "b").await).await;
    assert!(!lead(&world, 1, 1, "b").await, "one that was is not");
    world.store.release_lead(tenant, key, "a").await.unwrap();
    assert!(!world.store.renew_lead(tenant, key, "a", HOUR).await.unwrap());
    assert!(lead(&world, 1, 1, "b").await);
}

/// Whatever happens at once.
pub async fn of_many_who_ask_at_once_one_leads(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    for key in 0..10 {
        let mut tasks = JoinSet::new();
        for owner in 0..64 {
            let (store, owner) = (world.store.clone(), format!("replica-{owner}"));
            tasks.spawn(async move { store.lead(digest(1), digest(key), &owner, HOUR).await.unwrap() });
        }
        let leads = tasks.join_all().await;
        assert_eq!(leads.iter().filter(|lead| **lead == Lead::Mine).count(), 1);
    }
}
