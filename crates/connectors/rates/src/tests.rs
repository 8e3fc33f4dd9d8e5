//! The contract of every rate limiter.

use super::*;
use signalbox_contracts::rate_limiter::Fresh;

async fn fresh(clock: Arc<dyn Clock>) -> Fresh {
    Fresh { limiter: Arc::new(MemoryRates::new(clock)), keep: Box::new(()) }
}

signalbox_contracts::rate_limiter_tests!(fresh);
