//! What every `Ledger` must do.
//!
//! A ledger is given a clock that dates its entries. Whatever is moved, the accounts are those of the model of
//! `signalbox-budgeting`; directed tests say what that comes to.

mod accounts;
mod crowds;
mod holds;
mod leases;
mod listing;
mod model;
mod pruning;
mod random;
mod settlements;
mod support;

pub use accounts::*;
pub use crowds::*;
pub use holds::*;
pub use leases::*;
pub use listing::*;
pub use pruning::*;
pub use random::*;
pub use settlements::*;

use signalbox_ports::ledger::Ledger;
use std::{any::Any, fmt, sync::Arc};

/// An empty ledger, not migrated yet.
pub struct Fresh {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Opens the same ledger once more, as another process does.
    pub another: Box<dyn Fn() -> Arc<dyn Ledger> + Send + Sync>,
    /// What must live as long, as a directory or a server.
    pub keep: Box<dyn Any + Send>,
}

impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("ledger", &self.ledger).finish_non_exhaustive()
    }
}

/// Makes a test of each thing that a ledger must do. It is given an `async fn(Arc<dyn Clock>) -> Fresh`.
#[macro_export]
macro_rules! ledger_tests {
    ($fresh:path) => {
        $crate::ledger_tests! { $fresh =>
            a_ledger_is_migrated_by_many_at_once_and_again
            an_account_is_opened_once_with_its_first_limit
            a_limit_is_raised_once_for_each_source
            a_limit_may_be_set_below_what_is_spent_only_by_an_override
            a_grant_takes_what_is_wanted_while_there_is_plenty
            slices_shrink_with_what_is_free_and_with_the_replicas
            a_grant_that_is_short_moves_nothing
            a_soft_account_grants_what_is_needed_beyond_its_limit
            the_same_grant_again_moves_nothing
            a_replica_has_one_lease_of_an_account
            a_lease_that_expired_is_neither_renewed_nor_does_it_grow
            what_comes_back_counts_once_and_is_no_more_than_is_outstanding
            leases_of_others_cannot_be_touched
            a_replica_that_ends_frees_all_that_is_left
            an_orphan_holds_its_money_until_it_is_settled
            what_is_written_off_gives_way_to_late_settlements
            a_late_settlement_beyond_what_was_written_off_is_booked_whole
            a_settlement_counts_once_however_it_comes
            a_settlement_beyond_its_lease_is_a_debt
            a_settlement_of_what_nobody_knows_is_booked_all_the_same
            an_account_that_a_settlement_opened_gets_its_limit_later
            whose_a_settlement_is_may_be_known_by_its_lease_or_reservation
            settlements_that_can_never_be_booked_are_refused_and_the_others_booked
            a_reservation_is_made_in_all_accounts_or_in_none
            a_batch_is_settled_item_by_item_and_its_rest_is_freed
            a_reservation_that_expires_is_released_and_still_settled
            every_movement_is_an_entry
            entries_are_filtered_and_paged_newest_first
            settled_requests_are_told_in_order_and_paged
            write_offs_are_no_settled_requests
            old_movements_go_and_accounts_stay_as_they_are
            what_holds_something_stays_however_old_it_is
            what_holds_nothing_any_more_goes_once_it_is_old
            a_repeat_moves_nothing_while_its_movement_is_kept
            pruning_goes_on_where_another_process_stopped
            pruning_while_everybody_settles_loses_and_doubles_nothing
            a_crowd_never_spends_beyond_the_limit
            a_thousand_first_calls_stay_within_the_limit
            settlements_sent_by_many_at_once_count_once
            any_calls_in_any_order_give_the_models_answers
        }
    };
    ($fresh:path => $($name:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::ledger::$name(&$fresh).await;
            }
        )*
    };
}
