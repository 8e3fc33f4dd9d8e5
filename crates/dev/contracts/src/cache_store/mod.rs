//! What every `CacheStore` must do.
//!
//! A store is given a clock, which stands still until a test sets it; one that has a clock of its own, as a server, says
//! so. That no answer ever crosses from one partition to another is shown by [`isolation`].

mod crowds;
mod entries;
mod epochs;
mod erasure;
pub mod isolation;
mod leads;
mod model;
mod near;
mod support;
mod values;

pub use crowds::*;
pub use entries::*;
pub use epochs::*;
pub use erasure::*;
pub use isolation::nothing_crosses_partitions;
pub use leads::*;
pub use model::*;
pub use near::*;
pub use values::*;

use signalbox_ports::cache::CacheStore;
use std::{any::Any, fmt, sync::Arc};

/// A store in which nothing is.
pub struct Fresh {
    /// The store.
    pub store: Arc<dyn CacheStore>,
    /// Whether its time is that of the clock it was given.
    pub obeys_clock: bool,
    /// What must live as long, as a server.
    pub keep: Box<dyn Any + Send>,
}

impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Makes a test of each thing that a store must do. It is given an `async fn(Arc<dyn Clock>) -> Fresh`.
#[macro_export]
macro_rules! cache_store_tests {
    ($fresh:path) => {
        $crate::cache_store_tests! { $fresh =>
            an_entry_is_found_by_its_key_and_by_its_aliases
            keys_are_tried_in_their_order
            an_entry_takes_the_place_of_one_with_its_key
            what_was_put_last_has_the_key
            entries_of_all_sizes_come_back_as_they_were
            a_removed_entry_is_found_by_nobody
            an_entry_is_gone_when_its_time_is_over
            tenants_never_find_each_others_entries
            what_is_held_is_told_by_task
            the_nearest_come_first
            many_are_compared_as_by_hand
            no_other_partition_is_searched
            vectors_of_other_embedders_are_not_compared
            only_an_entrys_newest_vector_counts
            the_nearest_that_are_gone_hide_no_others
            vectors_of_no_use_are_no_trouble
            epochs_stay_until_they_are_raised
            epochs_never_fall
            raises_at_once_all_count
            a_scope_is_erased_and_nothing_else
            all_of_a_tenant_is_erased_and_nobody_elses
            epochs_outlive_erasure
            one_leads_at_a_time
            a_lead_ends_by_itself
            a_lead_is_held_on_to_and_given_up_by_its_owner_only
            of_many_who_ask_at_once_one_leads
            values_are_swapped_only_for_what_is_expected
            names_and_values_of_all_kinds_are_kept_apart
            swaps_at_once_lose_nothing
            whatever_happens_at_once_no_answer_is_anothers
            any_calls_give_the_models_answers
            nothing_crosses_partitions
        }
    };
    ($fresh:path => $($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::cache_store::$name(&$fresh).await;
            }
        )*
    };
}
