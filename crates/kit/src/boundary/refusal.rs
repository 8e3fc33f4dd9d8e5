//! tonic's own refusals, in the form that every other error has.
//!
//! Before a handler is called, tonic answers by itself: with a plain text, without details, and an unreadable message
//! counts as `INTERNAL`. These are told from a handler's errors by having no details and one of tonic's fixed texts.

use http::{Response, uri::PathAndQuery};
use signalbox_api::status::to_status;
use signalbox_types::{ErrorReason, Failure, shown};
use tonic::{Code, Status, body::Body};

/// What tonic says of bytes that are no message; the first comes from prost.
const UNREADABLE: [&str; 5] = [
    "failed to decode Protobuf message",
    "protocol error: received message",
    "Error decompressing",
    "Unexpected EOF decoding stream",
    "Missing request message",
];

/// The answer, its status named where tonic refused the call.
pub(super) fn named(response: Response<Body>, path: Option<&PathAndQuery>) -> Response<Body> {
    let headers = response.headers();
    // Read only where it may be a refusal: 11 to 13 are OUT_OF_RANGE, UNIMPLEMENTED and INTERNAL.
    let may_be =
        matches!(headers.get("grpc-status").map(|code| code.as_bytes()), Some(b"11" | b"12" | b"13"));
    if !may_be || headers.contains_key("grpc-status-details-bin") {
        return response;
    }
    let path = path.map_or("/", PathAndQuery::path);
    let Some(refusal) = Status::from_header_map(headers) else { return response };
    let Some(failure) = failure(&refusal, path) else { return response };
    let mut status = to_status(&failure);
    // Says which encodings are taken, where one was not.
    *status.metadata_mut() = refusal.metadata().clone();
    status.into_http()
}

fn failure(status: &Status, path: &str) -> Option<Failure> {
    let said = status.message();
    match status.code() {
        Code::OutOfRange if said.contains("message length too large") => {
            Some(Failure::new(ErrorReason::RequestTooLarge, said.trim_start_matches("Error, ")))
        }
        Code::Internal if UNREADABLE.iter().any(|text| said.starts_with(text)) => {
            let problem = said.trim_start_matches(UNREADABLE[0]).trim_start_matches(": ");
            let message = format!("not a valid protobuf message of {}: {problem}", shown(path));
            Some(Failure::new(ErrorReason::InvalidRequest, message))
        }
        Code::Unimplemented if said.is_empty() => {
            let message = format!("there is no method `{}` here", shown(path));
            Some(Failure::new(ErrorReason::Unimplemented, message))
        }
        Code::Unimplemented if said.starts_with("Content is compressed with") => {
            Some(Failure::new(ErrorReason::Unimplemented, said))
        }
        _ => None,
    }
}
