//! API keys.

use super::{
    Fresh,
    support::{audit, digest, key, later, now, tenant},
};
use signalbox_api::v1::ApiKey;
use signalbox_ports::tenants::{TenantStore, TenantStoreError};
use std::sync::Arc;

async fn with_keys(store: &Arc<dyn TenantStore>, ids: &[&str]) {
    store.create_tenant(&tenant("acme"), &audit("tenant")).await.unwrap();
    for id in ids {
        store.create_key(&key(id), &digest(id), &audit(&format!("key {id}"))).await.unwrap();
    }
}

/// Nothing that could be told to anybody has any of it.
pub async fn a_key_comes_back_with_its_digest_and_lists_have_none(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another, keep: _keep } = fresh().await;
    assert_eq!(
        store.create_key(&key("k1"), &digest("k1"), &audit("a0")).await,
        Err(TenantStoreError::NotFound)
    );
    assert!(!store.has_keys().await.unwrap());
    with_keys(&store, &["k1"]).await;
    assert!(another().has_keys().await.unwrap());
    assert_eq!(another().key("k1").await.unwrap(), Some((key("k1"), digest("k1"))));
    assert_eq!(store.key("k2").await.unwrap(), None);
    for again in [
        store.create_key(&key("k1"), &digest("k2"), &audit("a1")).await,
        store.create_key(&key("k2"), &digest("k1"), &audit("a2")).await,
    ] {
        assert_eq!(again, Err(TenantStoreError::Exists));
    }
    let told = format!(
        "{:?} {:?} {:?}",
        store.keys("acme", None, 10).await.unwrap(),
        store.audits("", None, 10).await.unwrap(),
        store.changes(0, 10).await.unwrap()
    );
    let of_digest = |window: &[u8]| told.contains(&format!("{window:?}").trim_matches(['[', ']']).to_owned());
    assert!(!digest("k1").windows(4).any(of_digest), "{told}");
    assert!(!told.to_lowercase().contains("ffffffff"), "{told}");
}

/// Those that ended are among them.
pub async fn keys_are_listed_newest_first_page_by_page(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another: _, keep: _keep } = fresh().await;
    with_keys(&store, &["k2", "k3", "k1", "k4"]).await;
    store.revoke_key("acme", "k3", later(1), &audit("a1")).await.unwrap();
    let ids = async |tenant: &str, after: Option<&str>, most| {
        let keys = store.keys(tenant, after, most).await.unwrap();
        keys.into_iter().map(|key| key.key_id).collect::<Vec<_>>()
    };
    assert_eq!(ids("acme", None, 3).await, ["k4", "k1", "k3"]);
    assert_eq!(ids("acme", Some("k3"), 3).await, ["k2"]);
    assert_eq!(ids("hooli", None, 3).await, [""; 0]);
}

/// Every other process sees it at once.
pub async fn a_key_is_revoked_once_and_for_all(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another, keep: _keep } = fresh().await;
    with_keys(&store, &["k1"]).await;
    let revoked = ApiKey { revoke_time: Some(later(5).into()), ..key("k1") };
    assert_eq!(store.revoke_key("acme", "k1", later(5), &audit("a1")).await.unwrap(), revoked);
    assert_eq!(store.revoke_key("acme", "k1", later(9), &audit("a2")).await.unwrap(), revoked);
    assert_eq!(another().key("k1").await.unwrap(), Some((revoked, digest("k1"))));
    assert!(store.has_keys().await.unwrap(), "there still is a key");
}

/// It is as if it were not there.
pub async fn a_key_of_another_tenant_cannot_be_revoked(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another: _, keep: _keep } = fresh().await;
    with_keys(&store, &["k1"]).await;
    for (tenant, id) in [("hooli", "k1"), ("acme", "k2")] {
        let revoked = store.revoke_key(tenant, id, later(5), &audit("a1")).await;
        assert_eq!(revoked, Err(TenantStoreError::NotFound));
    }
    assert_eq!(store.key("k1").await.unwrap(), Some((key("k1"), digest("k1"))));
}

/// The latest, in whatever order they are told.
pub async fn the_last_use_of_a_key_is_kept(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another: _, keep: _keep } = fresh().await;
    with_keys(&store, &["k1", "k2"]).await;
    let last = store.last_change().await.unwrap();
    let used = |id: &str, at| (id.to_owned(), at);
    store.keys_used(&[used("k1", later(60)), used("k1", later(120)), used("gone", now())]).await.unwrap();
    store.keys_used(&[used("k1", now()), used("k2", now())]).await.unwrap();
    store.keys_used(&[]).await.unwrap();
    let keys = store.keys("acme", None, 10).await.unwrap();
    let uses: Vec<_> = keys.iter().map(|key| key.last_use_time).collect();
    assert_eq!(uses, [Some(now().into()), Some(later(120).into())]);
    assert_eq!(store.last_change().await.unwrap(), last, "that is no change");
}
