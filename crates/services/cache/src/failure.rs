//! What an operator hears when the store does not do its part. Requests of models never do: for them it is a miss.

use signalbox_ports::cache::CacheAway;
use signalbox_types::{ErrorReason, Failure};

pub(crate) fn away(error: CacheAway) -> Failure {
    // What it says names its own addresses and commands: for operators of the process, not for callers.
    tracing::warn!(%error, "the cache store cannot be asked");
    Failure::new(ErrorReason::Unavailable, problem(&error))
}

fn problem(CacheAway(said): &CacheAway) -> &'static str {
    // As Redis says it when it may neither take more nor drop what it has.
    if said.contains("'maxmemory'") || said.contains("OOM") {
        return "the cache store is full (OOM) and takes nothing: give it more memory, or `maxmemory-policy volatile-lfu`";
    }
    "the cache store cannot be reached; try again"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_store_is_named_and_where_it_is_is_not() {
        let full = "script: OOM command not allowed when used memory > 'maxmemory'. at 10.0.0.7";
        let told = away(CacheAway(full.to_owned())).message;
        assert!(told.contains("full (OOM)") && !told.contains("10.0.0.7"), "{told}");
        assert!(away(CacheAway("no answer within 5 ms".to_owned())).message.contains("cannot be reached"));
    }
}
