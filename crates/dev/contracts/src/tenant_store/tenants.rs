//! Tenants.

use super::{
    Fresh,
    support::{audit, tenant},
};
use signalbox_api::v1::Tenant;
use signalbox_ports::tenants::TenantStoreError;

/// Whole.
pub async fn a_tenant_comes_back_as_it_was_given(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another, keep: _keep } = fresh().await;
    store.create_tenant(&tenant("acme"), &audit("a1")).await.unwrap();
    assert_eq!(another().tenant("acme").await.unwrap(), Some(tenant("acme")));
    assert_eq!(store.tenant("hooli").await.unwrap(), None);
    let again = store.create_tenant(&Tenant::default(), &audit("a2")).await;
    assert_eq!(again, Ok(()), "another id is another tenant");
    let other = Tenant { plan: "gold".to_owned(), ..tenant("acme") };
    assert_eq!(store.create_tenant(&other, &audit("a3")).await, Err(TenantStoreError::Exists));
    assert_eq!(store.tenant("acme").await.unwrap(), Some(tenant("acme")));
}

/// Compared byte by byte.
pub async fn tenants_are_listed_in_order_page_by_page(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another: _, keep: _keep } = fresh().await;
    for (number, id) in ["b", "a-b", "a", "a_b", "ab", "0"].iter().enumerate() {
        store.create_tenant(&tenant(id), &audit(&number.to_string())).await.unwrap();
    }
    let ids = async |after: &str, most| {
        let tenants = store.tenants(after, most).await.unwrap();
        tenants.into_iter().map(|tenant| tenant.tenant_id).collect::<Vec<_>>()
    };
    assert_eq!(ids("", 4).await, ["0", "a", "a-b", "a_b"]);
    assert_eq!(ids("a_b", 4).await, ["ab", "b"]);
}

/// Of two who change it at once, one has to read it again.
pub async fn a_tenant_is_updated_only_by_who_has_read_it(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another, keep: _keep } = fresh().await;
    store.create_tenant(&tenant("acme"), &audit("a1")).await.unwrap();
    let next = |etag: &str| Tenant { etag: etag.to_owned(), plan: etag.to_owned(), ..tenant("acme") };
    let other = another();
    let (mine, yours) = (next("2-mine"), next("2-yours"));
    let (for_me, for_you) = (audit("a2"), audit("a3"));
    let (one, two) = futures_util::future::join(
        store.update_tenant(&mine, "1", &for_me),
        other.update_tenant(&yours, "1", &for_you),
    )
    .await;
    let stored = store.tenant("acme").await.unwrap();
    let expected = if one.is_ok() { (mine, two) } else { (yours, one) };
    assert_eq!((stored, expected.1), (Some(expected.0), Err(TenantStoreError::Changed)));
    let unknown = store.update_tenant(&tenant("hooli"), "1", &audit("a4")).await;
    assert_eq!(unknown, Err(TenantStoreError::NotFound));
}
