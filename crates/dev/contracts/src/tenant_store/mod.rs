//! What every `TenantStore` must do.

mod budgets;
mod changes;
mod keys;
mod support;
mod tenants;

pub use budgets::*;
pub use changes::*;
pub use keys::*;
pub use tenants::*;

use signalbox_ports::tenants::TenantStore;
use std::{any::Any, fmt, sync::Arc};

/// A store with its tables and nothing in them.
pub struct Fresh {
    /// The store.
    pub store: Arc<dyn TenantStore>,
    /// Opens the same store once more, as another process does.
    pub another: Box<dyn Fn() -> Arc<dyn TenantStore> + Send + Sync>,
    /// What must live as long, as a directory or a server.
    pub keep: Box<dyn Any + Send>,
}

impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Makes a test of each thing that a tenant store must do. It is given an `async fn() -> Fresh`.
#[macro_export]
macro_rules! tenant_store_tests {
    ($fresh:path) => {
        $crate::tenant_store_tests! { $fresh =>
            a_tenant_comes_back_as_it_was_given
            tenants_are_listed_in_order_page_by_page
            a_tenant_is_updated_only_by_who_has_read_it
            a_budget_comes_back_without_where_it_stands
            a_budget_is_updated_only_by_who_has_read_it
            a_key_comes_back_with_its_digest_and_lists_have_none
            keys_are_listed_newest_first_page_by_page
            a_key_is_revoked_once_and_for_all
            a_key_of_another_tenant_cannot_be_revoked
            the_last_use_of_a_key_is_kept
            every_change_is_in_the_audit_trail_and_told
            what_was_refused_is_neither_in_the_audit_trail_nor_told
            the_audit_trail_is_told_newest_first_page_by_page
            changes_are_told_once_and_in_the_order_in_which_they_can_be_seen
        }
    };
    ($fresh:path => $($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::tenant_store::$name(&$fresh).await;
            }
        )*
    };
}
