//! Makes a failure fit into a trailer.
//!
//! gRPC sends a status as headers, and many clients and proxies take no more than 8 KiB of these; beyond, the caller
//! is told that the metadata is too large instead of what went wrong.

use super::{any, any_of, bad_request, error_info, quota_failure};
use crate::v1;
use prost::{Message, Name};
use prost_types::Any;
use signalbox_types::{Failure, FieldViolation, Quota, QuotaViolation, cut};
use std::borrow::Cow;
use tonic_types::pb;

/// Most bytes of a status as headers: message and details.
const MOST_TRAILER: usize = 7 << 10;
/// Most bytes of a message, as text and as a header.
const MOST_MESSAGE: (usize, usize) = (1 << 10, 2 << 10);
/// Most bytes of any other text.
const MOST_TEXT: usize = 256;
/// Most bytes of what a vendor said, where attempts are many.
const MOST_OF_AN_ATTEMPT: usize = 200;
/// Most bytes of details that name fields.
const MOST_OF_FIELDS: usize = 2 << 10;
/// Most limits that are told of.
const MOST_QUOTAS: usize = 2;
/// Most facts of what they leave.
const MOST_FACTS: usize = 8;
/// Most bytes of a name or a value of these.
const MOST_OF_A_FACT: usize = 48;
/// Tag and length of a detail in the list.
const FRAME: usize = 8;

/// The failure's message, short enough.
pub(super) fn message(text: &str) -> Cow<'_, str> {
    let (most, most_encoded) = MOST_MESSAGE;
    let text = cut(text, most);
    if encoded_len(&text) <= most_encoded {
        return text;
    }
    // Every byte takes three at worst.
    Cow::Owned(cut(&text, most_encoded / 3).into_owned())
}

/// Length as a header: all but plain characters are written as `%` and two digits.
fn encoded_len(text: &str) -> usize {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"#%<>`?{}".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { 1 } else { 3 }).sum()
}

/// The details that fit beside a message, the most telling first.
pub(super) fn details(failure: &Failure, message: &str, further: Vec<Any>) -> Vec<Any> {
    let mut details = vec![any_of("google.rpc.ErrorInfo", &error_info(failure))];
    if !failure.violations.is_empty() {
        details.push(any_of("google.rpc.BadRequest", &bad_request(first(&failure.violations))));
    }
    if let Some(quota) = told(failure).filter(|quota| !quota.violations.is_empty()) {
        details.push(any_of("google.rpc.QuotaFailure", &quota_failure(violations(quota))));
    }
    if let Some(after) = failure.retry_after {
        let retry = pb::RetryInfo { retry_delay: Some(crate::convert::duration_to_proto(after)) };
        details.push(any_of("google.rpc.RetryInfo", &retry));
    }
    let mut room = room_beside(message).saturating_sub(details.iter().map(size).sum());
    for detail in further {
        if let Some(detail) = shrunk(detail, room) {
            room -= size(&detail);
            details.push(detail);
        }
    }
    details
}

/// Bytes left for details: they repeat the message, and are written in base64.
fn room_beside(message: &str) -> usize {
    let binary = MOST_TRAILER.saturating_sub(encoded_len(message)) / 4 * 3;
    binary.saturating_sub(message.len() + FRAME)
}

fn size(detail: &Any) -> usize {
    detail.encoded_len() + FRAME
}

/// A short text of a detail.
pub(super) fn short(text: &str) -> String {
    cut(text, MOST_TEXT).into_owned()
}

/// The limits to tell of: a failure is told by its fields or by its limits, as there is no room for both.
pub(super) fn told(failure: &Failure) -> Option<&Quota> {
    failure.quota.as_deref().filter(|_| failure.violations.is_empty())
}

/// As many of the limits, shortened, as are told.
fn violations(quota: &Quota) -> impl Iterator<Item = QuotaViolation> {
    quota.violations.iter().take(MOST_QUOTAS).map(|violation| QuotaViolation {
        subject: short(&violation.subject),
        description: short(&violation.description),
    })
}

/// As much of what they leave, shortened, as is told.
pub(super) fn left(quota: &Quota) -> impl Iterator<Item = (String, String)> {
    let short = |text| cut(text, MOST_OF_A_FACT).into_owned();
    quota.left.iter().take(MOST_FACTS).map(move |(key, value)| (short(key), short(value)))
}

/// As many of the violations, shortened, as are allowed.
fn first(violations: &[FieldViolation]) -> impl Iterator<Item = FieldViolation> {
    let mut left = MOST_OF_FIELDS;
    violations
        .iter()
        .map(|violation| FieldViolation {
            field: short(&violation.field),
            description: short(&violation.description),
        })
        .take_while(move |violation| {
            let size = violation.field.len() + violation.description.len() + FRAME;
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
}

/// The detail without what does not fit; none where nothing of it does.
fn shrunk(detail: Any, room: usize) -> Option<Any> {
    if detail.type_url.ends_with(&v1::CallFailure::full_name()) {
        // Says what a failed call cost: it is kept, whatever the vendor sent.
        let mut call = v1::CallFailure::decode(detail.value.as_slice()).ok()?;
        call.vendor_code = short(&call.vendor_code);
        call.vendor_request_id = short(&call.vendor_request_id);
        return fitting(any(&call), room);
    }
    if size(&detail) <= room {
        return Some(detail);
    }
    let is_route = detail.type_url.ends_with(&v1::RouteFailure::full_name());
    let mut route = is_route.then(|| v1::RouteFailure::decode(detail.value.as_slice()).ok()).flatten()?;
    SHORTER.iter().find_map(|shorten| {
        shorten(&mut route);
        fitting(any(&route), room)
    })
}

fn fitting(detail: Any, room: usize) -> Option<Any> {
    (size(&detail) <= room).then_some(detail)
}

/// What a route can do without, the least missed first.
const SHORTER: [fn(&mut v1::RouteFailure); 5] = [
    |route| {
        each_attempt(route, |attempt| {
            attempt.error_message = cut(&attempt.error_message, MOST_OF_AN_ATTEMPT).into_owned();
        });
    },
    |route| each_attempt(route, |attempt| attempt.error_message.clear()),
    |route| each_candidate(route, |candidate| candidate.factors.clear()),
    |route| route.decision = None,
    |route| {
        each_attempt(route, |attempt| attempt.vendor_request_id.clear());
        route.attempts.truncate(8);
    },
];

fn each_attempt(route: &mut v1::RouteFailure, change: impl FnMut(&mut v1::Attempt)) {
    route.attempts.iter_mut().for_each(change);
}

fn each_candidate(route: &mut v1::RouteFailure, change: impl FnMut(&mut v1::Candidate)) {
    route.decision.iter_mut().flat_map(|decision| &mut decision.candidates).for_each(change);
}

#[cfg(test)]
mod tests;
