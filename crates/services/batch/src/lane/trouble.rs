//! What stands in the way of a window, and what it means for its items.

use signalbox_batching::Fault;
use signalbox_ports::batches::BatchStoreError;
use signalbox_types::{ErrorReason, Failure};

/// Why a window could not be worked on to its end. It is looked at again later.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The store, or another process that has the window now.
    #[error(transparent)]
    Store(#[from] BatchStoreError),
    /// The adapter or the vendor.
    #[error("{}: {}", .0.reason.name(), .0.message)]
    Away(Failure),
    /// The vendor certainly did not take the window: it is handed over again.
    #[error("{}: {}", .0.reason.name(), .0.message)]
    NotTaken(Failure),
}

/// What a vendor's failure says of an item or of a whole window.
pub(super) fn fault(reason: ErrorReason) -> Fault {
    match reason {
        ErrorReason::OutputInvalid => Fault::Answer,
        ErrorReason::ContextLengthExceeded
        | ErrorReason::VendorPermission
        | ErrorReason::VendorModelNotFound
        | ErrorReason::VendorQuotaExhausted
        | ErrorReason::UnknownModel
        | ErrorReason::NoCapableModel
        | ErrorReason::Unimplemented => Fault::Target,
        // An operator mends a key.
        ErrorReason::VendorAuth
        | ErrorReason::VendorRateLimited
        | ErrorReason::VendorOverloaded
        | ErrorReason::VendorTimeout
        | ErrorReason::VendorUnreachable
        | ErrorReason::VendorError
        | ErrorReason::VendorBadResponse
        | ErrorReason::StreamTruncated
        | ErrorReason::VendorBusy
        | ErrorReason::Unavailable
        | ErrorReason::DeadlineExceeded
        | ErrorReason::Cancelled
        // Of a whole tenant, for a while.
        | ErrorReason::RateLimited
        | ErrorReason::Internal => Fault::Vendor,
        ErrorReason::InvalidRequest
        | ErrorReason::RequestTooLarge
        | ErrorReason::NotFound
        | ErrorReason::MonthOpen
        | ErrorReason::AlreadyExists
        | ErrorReason::Conflict
        | ErrorReason::ContentPolicy
        | ErrorReason::UnsupportedParameter
        | ErrorReason::Unauthenticated
        | ErrorReason::PermissionDenied
        | ErrorReason::BudgetExhausted => Fault::Request,
    }
}

/// Whether a vendor that refuses a window like this may mean one of its items.
pub(super) fn may_mean_one_item(reason: ErrorReason) -> bool {
    matches!(
        reason,
        ErrorReason::InvalidRequest
            | ErrorReason::RequestTooLarge
            | ErrorReason::ContextLengthExceeded
            | ErrorReason::ContentPolicy
            | ErrorReason::UnsupportedParameter
    )
}

/// Whether a vendor surely did not take what was handed over when it failed like this.
pub(super) fn surely_not_taken(reason: ErrorReason) -> bool {
    matches!(
        reason,
        ErrorReason::VendorAuth
            | ErrorReason::VendorRateLimited
            | ErrorReason::VendorOverloaded
            | ErrorReason::VendorBusy
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_vendor_gets_a_chance_where_it_would_get_one_from_the_router() {
        for reason in ErrorReason::ALL.into_iter().filter(|reason| reason.fail_over()) {
            assert_ne!(fault(reason), Fault::Request, "{}", reason.name());
        }
    }
}
