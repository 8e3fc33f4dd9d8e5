//! What every `RateLimiter` must do.
//!
//! A limiter is given a clock, which stands still until a test sets it.

mod permits;
mod priorities;
mod random;
mod rates;
mod support;

pub use permits::*;
pub use priorities::*;
pub use random::*;
pub use rates::*;

use signalbox_ports::RateLimiter;
use std::{any::Any, fmt, sync::Arc};

/// A limiter of which nothing is used.
pub struct Fresh {
    /// The limiter.
    pub limiter: Arc<dyn RateLimiter>,
    /// What must live as long, as a server.
    pub keep: Box<dyn Any + Send>,
}

impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("limiter", &self.limiter).finish_non_exhaustive()
    }
}

/// Makes a test of each thing that a limiter must do. It is given an `async fn(Arc<dyn Clock>) -> Fresh`.
#[macro_export]
macro_rules! rate_limiter_tests {
    ($fresh:path) => {
        $crate::rate_limiter_tests! { $fresh =>
            a_limit_holds_a_minute_and_fills_continuously
            the_time_to_wait_is_exact
            slices_are_a_twentieth_and_shrink_when_little_is_left
            all_limits_give_or_none_does
            the_limit_to_be_waited_for_the_longest_is_told
            it_is_told_what_of_a_limit_is_used_up
            more_tokens_than_a_limit_ever_has_never_fit
            what_is_not_limited_is_given_without_end
            what_comes_back_can_be_taken_by_others
            what_the_limit_has_made_up_for_does_not_come_back
            a_limit_that_changes_holds_at_once
            names_of_all_kinds_are_kept_apart
            a_clock_that_is_set_back_gives_nothing
            permits_are_never_more_than_the_limit
            permits_of_a_dead_replica_come_back
            permits_that_are_given_back_can_be_taken_by_others
            a_slice_asked_for_again_has_permits_for_what_is_under_way
            a_slice_that_is_renewed_keeps_its_permits
            a_lower_priority_leaves_room_to_a_higher_one
            a_lower_priority_is_never_starved
            a_permit_is_kept_for_a_lower_priority_that_waits
            any_takes_and_returns_give_the_models_answers
        }
    };
    ($fresh:path => $($name:ident)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                $crate::rate_limiter::$name(&$fresh).await;
            }
        )*
    };
}
