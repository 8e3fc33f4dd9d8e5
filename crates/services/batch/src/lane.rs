//! What is done without being asked: windows are handed over, asked about and collected, accounts told, results removed.

use crate::Dependencies;
use tokio_util::sync::CancellationToken;

/// The workers of the lane: one for each process.
#[derive(Debug)]
pub struct Lane {
    _dependencies: Dependencies,
}

impl Lane {
    /// Over the same dependencies as the service.
    pub fn new(dependencies: Dependencies) -> Self {
        Self { _dependencies: dependencies }
    }

    /// Works until `stop` is cancelled; then what is under way is finished, for as long as that may take, and leases are
    /// given back.
    pub async fn run(self, stop: CancellationToken) {
        stop.cancelled().await;
    }
}
