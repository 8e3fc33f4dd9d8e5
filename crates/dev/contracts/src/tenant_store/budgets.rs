//! Budgets.

use super::{
    Fresh,
    support::{audit, budget, tenant},
};
use signalbox_api::v1::{Budget, BudgetStatus};
use signalbox_ports::tenants::TenantStoreError;

/// That is the ledger's to tell.
pub async fn a_budget_comes_back_without_where_it_stands(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another: _, keep: _keep } = fresh().await;
    assert_eq!(store.create_budget(&budget("monthly"), &audit("a0")).await, Err(TenantStoreError::NotFound));
    store.create_tenant(&tenant("acme"), &audit("a1")).await.unwrap();
    let standing = Budget { status: Some(BudgetStatus::default()), ..budget("monthly") };
    store.create_budget(&standing, &audit("a2")).await.unwrap();
    store.create_budget(&budget("daily"), &audit("a3")).await.unwrap();
    assert_eq!(store.create_budget(&budget("daily"), &audit("a4")).await, Err(TenantStoreError::Exists));
    assert_eq!(store.budgets("acme").await.unwrap(), [budget("daily"), budget("monthly")]);
    assert_eq!(store.budgets("hooli").await.unwrap(), []);
}

/// As tenants are.
pub async fn a_budget_is_updated_only_by_who_has_read_it(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another: _, keep: _keep } = fresh().await;
    store.create_tenant(&tenant("acme"), &audit("a1")).await.unwrap();
    store.create_budget(&budget("daily"), &audit("a2")).await.unwrap();
    let next = Budget { limit_nano_eur: 8, etag: "2".to_owned(), ..budget("daily") };
    store.update_budget(&next, "1", &audit("a3")).await.unwrap();
    let late = Budget { limit_nano_eur: 9, etag: "3".to_owned(), ..budget("daily") };
    assert_eq!(store.update_budget(&late, "1", &audit("a4")).await, Err(TenantStoreError::Changed));
    assert_eq!(store.update_budget(&budget("no"), "1", &audit("a5")).await, Err(TenantStoreError::NotFound));
    assert_eq!(store.budgets("acme").await.unwrap(), [next]);
}
