//! What callers are told of the store's failures.

use signalbox_ports::batches::BatchStoreError;
use signalbox_types::{ErrorReason, Failure};

/// The store did not do as it was asked. Its own words are for operators.
pub(crate) fn of_store(error: &BatchStoreError) -> Failure {
    crate::metrics::store_failed();
    tracing::warn!(%error, "the store of batch jobs");
    let message = "batch jobs cannot be read or kept just now; try again";
    Failure::new(ErrorReason::Unavailable, message)
}

/// The tenant has no such job. Nobody is told that another has.
pub(crate) fn no_such_job(job_id: &str) -> Failure {
    let job_id = signalbox_types::shown(job_id);
    let message = format!("job_id: there is no job `{job_id}`; it may have been removed with its results");
    Failure::new(ErrorReason::NotFound, message)
}
