//! What every `UsageStore` must do.
//!
//! A store is given a clock; late events count when that clock says. Where two rows of a bucket cost the same, the order
//! is that of their groups, compared as text; a window in which nothing counts has no rows.

mod counting;
mod minutes;
mod model;
mod months;
mod queries;
mod random;
mod requests;
mod support;

pub use counting::*;
pub use minutes::*;
pub use months::*;
pub use queries::*;
pub use random::*;
pub use requests::*;

use signalbox_ports::usage_store::UsageStore;
use std::{any::Any, fmt, sync::Arc};

/// An empty store, not migrated yet.
pub struct Fresh {
    /// The store.
    pub store: Arc<dyn UsageStore>,
    /// What must live as long, as a directory or a server.
    pub keep: Box<dyn Any + Send>,
}

impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Makes a test of each thing that a store must do. It is given an `async fn(Arc<dyn Clock>) -> Fresh`.
#[macro_export]
macro_rules! usage_store_tests {
    ($fresh:path) => {
        $crate::usage_store_tests! { $fresh =>
            an_event_comes_back_as_it_was_given
            a_repeat_counts_once_in_rows_and_in_sums
            a_batch_given_twice_with_its_token_counts_once
            a_batch_may_hold_new_events_and_repeats
            an_empty_batch_is_nothing
            two_writers_at_once_count_every_event_once
            a_store_is_migrated_again_without_harm
            every_dimension_groups
            every_interval_makes_its_buckets
            years_of_months_add_up
            every_filter_filters
            pages_join_to_the_whole
            ragged_windows_are_exact
            unknown_costs_are_flagged_and_the_others_summed
            a_window_without_events_has_no_rows
            quantiles_are_true_to_two_percent
            requests_come_newest_first_page_by_page
            requests_are_found_by_reference_and_by_id
            a_late_event_counts_when_it_comes
            a_closed_month_gives_the_same_export_for_ever
            an_export_is_in_order_and_of_one_tenant
            late_events_are_paged_by_when_they_count
            minutes_tell_the_calls_of_each_model
            any_batches_in_any_order_with_repeats_give_the_models_answers
        }
    };
    ($fresh:path => $($name:ident)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                $crate::usage_store::$name(&$fresh).await;
            }
        )*
    };
}
