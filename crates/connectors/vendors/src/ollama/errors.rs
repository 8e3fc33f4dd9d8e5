//! Failures, by status or inside a stream: a text and no code.

use super::NAME;
use crate::codec::ResponseHead;
use crate::failures;
use crate::retry_after;
use serde::Deserialize;
use signalbox_types::{ErrorReason, Failure};

#[derive(Debug, Deserialize)]
struct Envelope {
    error: String,
}

/// Reads a failed response.
pub(super) fn failure(head: ResponseHead<'_>, body: &[u8]) -> Failure {
    let message = match serde_json::from_slice::<Envelope>(body) {
        Ok(envelope) => envelope.error,
        Err(_) => failures::foreign_message(&head, body),
    };
    let reason = of_text(&message).unwrap_or_else(|| failures::reason_of_status(head.status));
    let mut failure = failures::vendor_failure(reason, NAME, &message);
    failure.vendor_status = Some(head.status);
    failure.retry_after = retry_after::retry_after(head.headers, head.now);
    failure
}

/// An error line of a stream.
pub(super) fn in_stream(message: &str) -> Failure {
    failures::vendor_failure(of_text(message).unwrap_or(ErrorReason::VendorError), NAME, message)
}

/// The faults that share a status with others.
fn of_text(message: &str) -> Option<ErrorReason> {
    let says = |text: &str| message.contains(text);
    if says("exceeds the context length") || says("exceeds the available context") {
        Some(ErrorReason::ContextLengthExceeded)
    } else if says("does not support") {
        Some(ErrorReason::UnsupportedParameter)
    } else if says("maximum pending requests exceeded") {
        Some(ErrorReason::VendorOverloaded)
    } else {
        None
    }
}
