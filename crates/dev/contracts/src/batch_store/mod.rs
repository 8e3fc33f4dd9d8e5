//! What every `BatchStore` must do.

mod crowds;
mod ends;
mod jobs;
mod leases;
mod outbox;
mod pledges;
mod random;
mod splits;
mod support;
mod waiting;
mod windows;

pub use crowds::*;
pub use ends::*;
pub use jobs::*;
pub use leases::*;
pub use outbox::*;
pub use pledges::*;
pub use random::*;
pub use splits::*;
pub use waiting::*;
pub use windows::*;

use signalbox_ports::batches::BatchStore;
use std::{any::Any, fmt, sync::Arc};

/// An empty store, not migrated yet.
pub struct Fresh {
    /// The store.
    pub store: Arc<dyn BatchStore>,
    /// Opens the same store once more, as another process does.
    pub another: Box<dyn Fn() -> Arc<dyn BatchStore> + Send + Sync>,
    /// What must live as long, as a directory or a server.
    pub keep: Box<dyn Any + Send>,
}

impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Makes a test of each thing that a batch store must do. It is given an `async fn() -> Fresh`.
#[macro_export]
macro_rules! batch_store_tests {
    ($fresh:path) => {
        $crate::batch_store_tests! { $fresh =>
            a_job_is_kept_with_everything_and_a_second_of_its_id_changes_nothing
            a_job_takes_its_pledge_with_it
            no_job_is_kept_for_a_pledge_that_was_given_up
            a_pledge_that_is_due_is_given_to_one_at_a_time
            a_pledge_is_kept_or_given_up_and_never_both
            a_job_is_its_tenants_alone
            jobs_are_listed_newest_first_by_pages_tenants_and_states
            items_of_one_vendor_and_model_travel_together_whosever_they_are
            a_full_window_is_due_at_once_and_others_when_they_waited
            an_item_in_a_hurry_takes_its_window_along
            items_whose_time_is_over_at_other_times_travel_apart
            a_window_is_read_in_pieces_that_fit
            a_window_goes_from_hand_to_hand_and_says_how_far_it_is
            a_window_cannot_be_over_while_it_has_items
            a_refused_window_is_divided_until_an_item_stands_alone
            nobody_joins_a_window_that_was_divided
            a_divided_window_is_as_good_as_any_other
            only_one_process_holds_a_window_until_its_lease_is_over
            whoever_stood_still_changes_nothing_any_more
            what_may_have_been_handed_over_is_said_to_the_next
            an_item_ends_once_and_leaves_a_result_and_an_account
            an_item_goes_on_to_a_window_of_its_next_target
            results_come_in_their_order_and_from_any_place
            what_waits_ends_at_once_when_its_job_is_cancelled
            what_waits_ends_when_its_time_is_over
            a_window_of_cancelled_jobs_alone_is_due_and_unwanted
            an_account_stays_until_it_is_told
            a_job_is_settled_once_it_has_ended_and_all_is_told
            what_need_not_be_kept_is_removed_once_it_is_settled
            gauges_say_what_there_is
            many_processes_share_the_windows_and_end_each_item_once
            processes_that_send_items_on_and_cancel_jobs_stand_in_nobodys_way
            many_jobs_handed_in_at_once_are_all_kept
            fifty_thousand_items_are_handed_in_within_seconds
            whatever_happens_in_whatever_order_each_item_ends_once
        }
    };
    ($fresh:path => $($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::batch_store::$name(&$fresh).await;
            }
        )*
    };
}
