//! The cache of this process: what it knows and remembers, over a store that may be shared.

mod flying;
mod found;
mod watch;

pub(crate) use flying::{Flown, Patience};
pub(crate) use found::Found;

use crate::{
    evidence::Evidences, flights::Flights, gate::Gate, queue::Queue, service::Dependencies, stats::Stats,
    tenants::Tenants, vectors::Vectors,
};
use std::time::SystemTime;

/// Everything that handlers share.
#[derive(Debug)]
pub(crate) struct Cache {
    pub(crate) dependencies: Dependencies,
    pub(crate) tenants: Tenants,
    pub(crate) flights: Flights,
    pub(crate) vectors: Vectors,
    pub(crate) evidences: Evidences,
    pub(crate) stats: Stats,
    pub(crate) queue: Queue,
    pub(crate) gate: Gate,
}

impl Cache {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        let options = &dependencies.options;
        Self {
            tenants: Tenants::new(dependencies.secret.clone(), options.epoch_ttl),
            flights: Flights::new(options.most_waiters, options.flight_ttl),
            vectors: Vectors::new(dependencies.embedder.clone(), options),
            evidences: Evidences::new(options.epoch_ttl),
            stats: Stats::new(dependencies.secret.tenant("").tenant()),
            queue: Queue::new(options.queue, options.storers),
            gate: Gate::new(),
            dependencies,
        }
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.dependencies.clock.now()
    }
}
