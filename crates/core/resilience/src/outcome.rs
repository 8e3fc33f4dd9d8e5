//! What the end of a call says of the vendor's health.

use signalbox_types::ErrorReason;

/// How a call ended, as far as the vendor's health goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The vendor served.
    Success,
    /// The vendor failed: a 5xx, an error inside a stream, an answer that cannot be read.
    Failure,
    /// The vendor was silent too long.
    Timeout,
    /// No connection, or it broke before an answer began.
    Transport,
    /// Says nothing of the vendor's health: the caller left, the request was at fault (4xx), or the vendor holds
    /// us back (429), which is answered by a hold and not by a breaker.
    Neutral,
}

impl Outcome {
    /// What a failure says of the vendor's health.
    pub fn of(reason: ErrorReason) -> Self {
        match reason {
            ErrorReason::VendorUnreachable => Self::Transport,
            ErrorReason::VendorTimeout => Self::Timeout,
            ErrorReason::VendorOverloaded
            | ErrorReason::VendorError
            | ErrorReason::VendorBadResponse
            | ErrorReason::StreamTruncated => Self::Failure,
            // The request's fault, ours, or the caller's wish.
            ErrorReason::InvalidRequest
            | ErrorReason::RequestTooLarge
            | ErrorReason::UnknownModel
            | ErrorReason::NoCapableModel
            | ErrorReason::ContextLengthExceeded
            | ErrorReason::ContentPolicy
            | ErrorReason::UnsupportedParameter
            | ErrorReason::Unauthenticated
            | ErrorReason::PermissionDenied
            | ErrorReason::BudgetExhausted
            | ErrorReason::RateLimited
            | ErrorReason::DeadlineExceeded
            | ErrorReason::Cancelled
            | ErrorReason::VendorBusy
            | ErrorReason::Unavailable
            | ErrorReason::Unimplemented
            | ErrorReason::NotFound
            | ErrorReason::MonthOpen
            | ErrorReason::AlreadyExists
            | ErrorReason::Conflict
            | ErrorReason::Internal
            // The vendor is well, but one key, account or model of ours is not, or we are too fast.
            | ErrorReason::VendorAuth
            | ErrorReason::VendorPermission
            | ErrorReason::VendorModelNotFound
            | ErrorReason::VendorRateLimited
            | ErrorReason::VendorQuotaExhausted
            // A verdict on the answer: it lowers the model's quality, not its health.
            | ErrorReason::OutputInvalid => Self::Neutral,
        }
    }

    /// Whether the vendor is at fault.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failure | Self::Timeout | Self::Transport)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_types::Fault;

    #[test]
    fn only_the_vendors_own_faults_count_against_its_health() {
        for reason in ErrorReason::ALL {
            if Outcome::of(reason).is_failure() {
                assert_eq!(reason.fault(), Fault::Vendor, "{reason:?}");
            }
        }
    }

    #[test]
    fn cancelled_calls_rate_limits_and_bad_requests_say_nothing() {
        for reason in [
            ErrorReason::Cancelled,
            ErrorReason::VendorRateLimited,
            ErrorReason::VendorQuotaExhausted,
            ErrorReason::InvalidRequest,
            ErrorReason::VendorAuth,
        ] {
            assert_eq!(Outcome::of(reason), Outcome::Neutral, "{reason:?}");
        }
    }
}
