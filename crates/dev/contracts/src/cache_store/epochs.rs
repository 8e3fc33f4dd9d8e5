//! What makes entries unreachable at once.

use super::{
    Fresh,
    support::{World, digest},
};
use signalbox_kit::Clock;
use signalbox_ports::cache::{Digest, Epochs, Scope};
use std::{collections::HashSet, sync::Arc};
use tokio::task::JoinSet;

fn scopes() -> Vec<Scope> {
    let of = |digest| {
        [
            Scope::Task(digest),
            Scope::Locale(digest),
            Scope::Requested(digest),
            Scope::Template(digest),
            Scope::Reference(digest),
        ]
    };
    let digests = [digest(1), digest(2), Digest([0; 16]), Digest(*b"\r\n\0{}:*?[]|@\t \"'")];
    [Scope::Tenant].into_iter().chain(digests.into_iter().flat_map(of)).collect()
}

async fn epochs(world: &World, tenant: u64) -> Epochs {
    world.store.epochs(digest(tenant), &scopes()).await.unwrap()
}

/// And then theirs alone, in the order that was asked for.
pub async fn epochs_stay_until_they_are_raised(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let before = [epochs(&world, 1).await, epochs(&world, 2).await];
    assert_eq!(before[0], epochs(&world, 1).await);
    assert_eq!(before[0].iter().map(|(scope, _)| *scope).collect::<Vec<_>>(), scopes());
    for (at, scope) in scopes().into_iter().enumerate() {
        let before = epochs(&world, 1).await;
        let raised = world.store.raise(digest(1), scope).await.unwrap();
        assert!(raised > before[at].1);
        let after = epochs(&world, 1).await;
        assert_eq!(after[at], (scope, raised));
        for (other, (before, after)) in before.iter().zip(&after).enumerate() {
            assert!(other == at || before == after, "{scope:?} changed {before:?} to {after:?}");
        }
    }
    assert_eq!(before[1], epochs(&world, 2).await, "no other tenant's");
    assert_eq!(world.store.epochs(digest(1), &[]).await.unwrap(), []);
}

/// Each raise is above all before.
pub async fn epochs_never_fall(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (tenant, scope) = (digest(1), Scope::Task(digest(1)));
    let mut last = world.store.epochs(tenant, &[scope]).await.unwrap()[0].1;
    for _ in 0..1_000 {
        let raised = world.store.raise(tenant, scope).await.unwrap();
        assert!(raised > last, "{raised} after {last}");
        assert_eq!(world.store.epochs(tenant, &[scope]).await.unwrap(), [(scope, raised)]);
        last = raised;
    }
}

/// No two of them give the same epoch.
pub async fn raises_at_once_all_count(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let mut tasks = JoinSet::new();
    for _ in 0..64 {
        let store = world.store.clone();
        tasks.spawn(async move { store.raise(digest(1), Scope::Tenant).await.unwrap() });
    }
    let raised: HashSet<u64> = tasks.join_all().await.into_iter().collect();
    assert_eq!(raised.len(), 64);
    let now = world.store.epochs(digest(1), &[Scope::Tenant]).await.unwrap()[0].1;
    assert_eq!(raised.into_iter().max(), Some(now));
}
