//! What every vendor's failures have in common.

use crate::codec::ResponseHead;
use signalbox_types::{ErrorReason, Failure};

/// Longest vendor message passed on, in bytes: enough to act on, too short for an error page or an echoed prompt.
pub(crate) const LONGEST_MESSAGE: usize = 500;

/// A failure in the vendor's words.
pub(crate) fn vendor_failure(reason: ErrorReason, vendor: &str, message: &str) -> Failure {
    Failure::new(reason, format!("{vendor}: {}", clipped(message)))
}

/// The failure of a stream that ended before the vendor said why.
pub(crate) fn truncated(vendor: &str) -> Failure {
    Failure::new(ErrorReason::StreamTruncated, format!("{vendor}: the stream ended without a finish reason"))
}

/// The reason behind a status that the vendor's table does not name.
pub(crate) fn reason_of_status(status: u16) -> ErrorReason {
    match status {
        401 => ErrorReason::VendorAuth,
        402 => ErrorReason::VendorQuotaExhausted,
        403 => ErrorReason::VendorPermission,
        404 => ErrorReason::VendorModelNotFound,
        408 | 504 => ErrorReason::VendorTimeout,
        409 => ErrorReason::VendorError,
        413 => ErrorReason::RequestTooLarge,
        429 => ErrorReason::VendorRateLimited,
        503 | 529 => ErrorReason::VendorOverloaded,
        400..=498 => ErrorReason::InvalidRequest,
        _ => ErrorReason::VendorError,
    }
}

/// The reason behind the gRPC code of an item that failed in a batch.
pub(crate) fn reason_of_grpc(code: i32) -> ErrorReason {
    match code {
        3 | 11 => ErrorReason::InvalidRequest,
        4 => ErrorReason::VendorTimeout,
        5 => ErrorReason::VendorModelNotFound,
        7 | 9 => ErrorReason::VendorPermission,
        8 => ErrorReason::VendorRateLimited,
        14 => ErrorReason::VendorOverloaded,
        16 => ErrorReason::VendorAuth,
        _ => ErrorReason::VendorError,
    }
}

/// The message of a failure whose body is none of the vendor's error objects: a proxy's page, say.
pub(crate) fn foreign_message(head: &ResponseHead<'_>, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match text.trim() {
        "" => format!("status {}", head.status),
        text => format!("status {}: {text}", head.status),
    }
}

fn clipped(message: &str) -> &str {
    let message = message.trim();
    message.get(..message.floor_char_boundary(LONGEST_MESSAGE)).unwrap_or(message)
}
