//! What a caller hears when a store or a bus does not do its part.

use signalbox_ports::{BusAway, usage_store::StoreFailure};
use signalbox_types::{ErrorReason, Failure};

pub(crate) fn of_store(failure: StoreFailure) -> Failure {
    match failure {
        StoreFailure::Away(why) => {
            tracing::warn!(why, "the usage store cannot be asked");
            Failure::new(ErrorReason::Unavailable, "the usage store cannot be reached; try again")
        }
        // What it says names its own tables and statements: for operators, not for callers.
        StoreFailure::Refused(why) => {
            tracing::error!(why, "the usage store refuses a question");
            Failure::new(ErrorReason::Internal, "the usage store refuses the question; its log says why")
        }
    }
}

pub(crate) fn of_bus(away: BusAway) -> Failure {
    Failure::new(ErrorReason::Unavailable, away.to_string())
}
