//! Batches as the wire has them.

use signalbox_api::v1;
use signalbox_ports::vendor_batch::{VendorBatch, VendorBatchState};
use signalbox_types::{ErrorReason, Failure};
use v1::batch_item_error::Kind;
use v1::vendor_batch::State;

pub(super) fn batch(batch: VendorBatch, simulated: bool) -> v1::VendorBatch {
    let state = match batch.state {
        VendorBatchState::Running => State::Running,
        VendorBatchState::Cancelling => State::Cancelling,
        VendorBatchState::Ended => State::Ended,
        VendorBatchState::Refused => State::Refused,
    };
    let (error_reason, error_message) = match batch.refusal {
        Some(failure) => (failure.reason.name().to_owned(), failure.message),
        None => Default::default(),
    };
    v1::VendorBatch {
        vendor_batch_id: batch.id,
        state: state as i32,
        total: batch.total,
        succeeded: batch.succeeded,
        failed: batch.failed,
        create_time: batch.created.map(Into::into),
        expire_time: batch.expires.map(Into::into),
        end_time: batch.ended.map(Into::into),
        error_reason,
        error_message,
        simulated,
    }
}

pub(super) fn failed(failure: Failure) -> v1::BatchItemError {
    error(Kind::Failed, failure.reason, failure.message)
}

pub(super) fn cancelled() -> v1::BatchItemError {
    error(Kind::Cancelled, ErrorReason::Cancelled, "stopped before the vendor answered it".to_owned())
}

pub(super) fn expired() -> v1::BatchItemError {
    let message = "the vendor did not answer it in the time that it gives a batch".to_owned();
    error(Kind::Expired, ErrorReason::DeadlineExceeded, message)
}

fn error(kind: Kind, reason: ErrorReason, message: String) -> v1::BatchItemError {
    v1::BatchItemError { kind: kind as i32, reason: reason.name().to_owned(), message, failure: None }
}
