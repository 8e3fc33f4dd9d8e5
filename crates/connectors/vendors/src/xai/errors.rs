//! What xAI's errors mean. The code is a fixed English sentence, one for each gRPC status; a refused key and a
//! prompt too long share theirs with every other bad argument, and only the message tells them apart.

use crate::failures::reason_of_status;
use crate::openai::errors::VendorError;
use signalbox_types::ErrorReason;

pub(super) fn classify(status: Option<u16>, error: &VendorError) -> ErrorReason {
    by_message(&error.message)
        .or_else(|| by_code(&error.code))
        .or_else(|| status.or_else(|| error.code.parse().ok()).map(reason_of_status))
        .unwrap_or(ErrorReason::VendorError)
}

pub(super) fn by_message(message: &str) -> Option<ErrorReason> {
    const PHRASES: [(&str, ErrorReason); 5] = [
        ("Incorrect API key", ErrorReason::VendorAuth),
        ("maximum prompt length is", ErrorReason::ContextLengthExceeded),
        ("Argument not supported on this model", ErrorReason::UnsupportedParameter),
        ("used all available credits", ErrorReason::VendorQuotaExhausted),
        ("monthly spending limit", ErrorReason::VendorQuotaExhausted),
    ];
    PHRASES.iter().find(|(phrase, _)| message.contains(phrase)).map(|(_, reason)| *reason)
}

fn by_code(code: &str) -> Option<ErrorReason> {
    Some(match code {
        "Client specified an invalid argument" => ErrorReason::InvalidRequest,
        "Unauthenticated" => ErrorReason::VendorAuth,
        "The caller does not have permission to execute the specified operation" => {
            ErrorReason::VendorPermission
        }
        "Some requested entity was not found" => ErrorReason::VendorModelNotFound,
        "Some resource has been exhausted" => ErrorReason::VendorRateLimited,
        "Internal error" => ErrorReason::VendorError,
        "The service is currently unavailable" => ErrorReason::VendorOverloaded,
        _ => return None,
    })
}
