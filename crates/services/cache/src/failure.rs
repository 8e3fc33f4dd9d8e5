//! What an operator hears when the store does not do its part. Requests of models never do: for them it is a miss.

use signalbox_ports::cache::CacheAway;
use signalbox_types::{ErrorReason, Failure};

pub(crate) fn away(error: CacheAway) -> Failure {
    // What it says names its own addresses and commands: for operators of the process, not for callers.
    tracing::warn!(%error, "the cache store cannot be asked");
    Failure::new(ErrorReason::Unavailable, "the cache store cannot be reached; try again")
}
